//! Makes the instances of a policy, from an entry of a table with parameters or by code elsewhere.

use std::fmt::Debug;

use super::spec::{ParamValues, PolicyError, PolicyParam};
use super::{Entry, PlacementSetup, Policy, RunsOn};

/// Makes instances of one policy.
///
/// The engine makes one instance per task, on any thread: all must make the same decisions for the
/// same setup.
pub trait PolicyFactory: Debug + Send + Sync {
    /// Name in results and errors.
    fn name(&self) -> &str;

    /// Makes an instance. The factory need not check what the methods below declare.
    ///
    /// # Errors
    /// When policy and machine are incompatible.
    fn build(&self, setup: &PlacementSetup) -> Result<Box<dyn Policy>, PolicyError>;

    /// The machines it makes sense on.
    fn runs_on(&self) -> RunsOn {
        RunsOn::Both
    }

    /// As [`Entry::needs_global`].
    fn needs_global(&self) -> bool {
        false
    }

    /// As [`Entry::needs_prices`]. Without this, setups have no prices.
    fn needs_prices(&self) -> bool {
        false
    }

    /// As [`Entry::assigns_homes`].
    fn assigns_homes(&self) -> bool {
        false
    }

    /// Its parameters, for provenances.
    fn params(&self) -> &'static [PolicyParam] {
        &[]
    }

    /// The value of every parameter in this environment, in the order of
    /// [`params`](Self::params).
    fn values(&self, _setup: &PlacementSetup) -> ParamValues {
        ParamValues::default()
    }
}

/// An entry of a table with the parameters that the user gave.
#[derive(Debug)]
pub(super) struct ListedPolicy {
    pub(super) entry: &'static Entry,
    pub(super) given: Vec<Option<u64>>,
}

impl PolicyFactory for ListedPolicy {
    fn name(&self) -> &str {
        self.entry.name
    }

    fn build(&self, setup: &PlacementSetup) -> Result<Box<dyn Policy>, PolicyError> {
        (self.entry.build)(setup, &self.values(setup))
    }

    fn runs_on(&self) -> RunsOn {
        self.entry.runs_on
    }

    fn needs_global(&self) -> bool {
        self.entry.needs_global
    }

    fn needs_prices(&self) -> bool {
        self.entry.needs_prices
    }

    fn assigns_homes(&self) -> bool {
        self.entry.assigns_homes
    }

    fn params(&self) -> &'static [PolicyParam] {
        self.entry.params
    }

    fn values(&self, setup: &PlacementSetup) -> ParamValues {
        let pairs = self.entry.params.iter().zip(&self.given);
        ParamValues::new(pairs.map(|(p, given)| given.unwrap_or_else(|| p.fallback(setup))))
    }
}
