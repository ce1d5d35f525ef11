//! Homes as users write them: `first-use`, `first-fill:n=4`.

use homenode_protocol::{ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting};

use super::{Entry, HomePolicy, HomeSetup, PageDemands, TABLE};

/// A policy with its parameters.
#[derive(Clone, Debug)]
pub struct HomeSpec {
    /// As the user wrote it.
    pub text: String,
    setting: ProtocolSetting<Entry>,
}

/// Why a policy cannot be used on a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// A home at a node that does not exist.
    #[error("fixed:node={node}: the machine has {nodes} nodes, numbered from 0")]
    Node {
        /// The node.
        node: u64,
        /// How many there are.
        nodes: u16,
    },
    /// A policy with hindsight without a first run.
    #[error("{name} chooses homes by a first run of the same trace, and was given none")]
    NoFirstRun {
        /// The policy.
        name: &'static str,
    },
    /// A policy that goes by the allocations of a trace, where they are not known.
    #[error(
        "--home {name} chooses homes by the allocations of a simulated trace, which are not known \
         here; say --home first-touch"
    )]
    NoAllocations {
        /// The policy.
        name: &'static str,
    },
}

impl HomeSpec {
    /// Reads a policy.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_directory::HomeSpec;
    /// assert_eq!(HomeSpec::parse("first-fill:n=4")?.entry().name, "first-fill");
    /// let error = HomeSpec::parse("nearest").unwrap_err().to_string();
    /// assert!(error.starts_with("unknown home \"nearest\": expected one of round-robin, "));
    /// # Ok::<(), homenode_directory::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        Ok(Self { text: text.to_owned(), setting: ProtocolSetting::parse(text, TABLE)? })
    }

    /// The policy as it is listed.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.setting.protocol
    }

    /// The policy at work on a machine.
    ///
    /// # Errors
    /// When it names a node that the machine does not have, or needs a first run or
    /// allocations and has none.
    pub fn build(&self, setup: &HomeSetup<'_>) -> Result<Box<dyn HomePolicy>, HomeError> {
        (self.entry().build)(setup, &self.setting)
    }
}

impl ListedProtocol for Entry {
    const WHAT: &'static str = "home";

    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
        (self.name, self.params)
    }
}

/// The demands of a first run, which the policy requires.
pub(super) fn first_run<'a>(
    setup: &HomeSetup<'a>,
    name: &'static str,
) -> Result<&'a PageDemands, HomeError> {
    setup.first_run.ok_or(HomeError::NoFirstRun { name })
}
