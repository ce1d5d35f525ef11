//! Which reads go by a proxy, as users write it: `none`, `basic:clusters=3`, `reactive`.

use std::ops::Range;

use homenode_protocol::{
    ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting, ValueRange,
};

/// Clusters of nodes, each with a proxy for every block, unless the user says otherwise.
///
/// Source: Talbot and Kelly, section 1.3: chosen after experimentation.
const CLUSTERS: u64 = 3;

/// Which reads go by a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyUse {
    /// None.
    #[default]
    None,
    /// Those of marked data.
    Basic,
    /// Those that have come back from a home whose buffer was full.
    Reactive,
}

/// A way of proxies as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct ProxyEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set after the colon.
    pub params: &'static [ProtocolParameter],
    /// What it is.
    pub used: ProxyUse,
}

const PARAMS: &[ProtocolParameter] = &[
    ProtocolParameter {
        name: "clusters",
        doc: "clusters of nodes, each with a proxy for every block. Default: 3",
        values: ValueRange::Number { from: 1, to: 1024 },
    },
    ProtocolParameter {
        name: "fair",
        doc: "whether the first client gets the block first. Default: no, it gets it last",
        values: ValueRange::Switch,
    },
];

/// Every way of proxies, in the order of lists and documentation.
pub const PROXIES: &[ProxyEntry] = &[
    ProxyEntry {
        name: "none",
        summary: "every read goes to its block's home",
        source: "Talbot and Kelly, section 1.5",
        params: &[],
        used: ProxyUse::None,
    },
    ProxyEntry {
        name: "basic",
        summary: "reads of marked data (all, or data=NAME) go to a proxy in the node's cluster",
        source: "Talbot and Kelly, section 1.3",
        params: PARAMS,
        used: ProxyUse::Basic,
    },
    ProxyEntry {
        name: "reactive",
        summary: "reads that a full buffer has sent back go to a proxy in the node's cluster",
        source: "Talbot and Kelly, section 1.3",
        params: PARAMS,
        used: ProxyUse::Reactive,
    },
];

impl ListedProtocol for ProxyEntry {
    const WHAT: &'static str = "proxies";

    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> &'static [ProtocolParameter] {
        self.params
    }
}

/// Which reads go by a proxy, and by which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySetup {
    /// Which reads.
    pub used: ProxyUse,
    /// Clusters of nodes with neighbouring numbers.
    pub clusters: u64,
    /// Whether the first client of a chain gets the block first.
    pub fair: bool,
    /// Addresses of marked data, each range with its first byte and one past the last; all data are
    /// marked if there is none.
    pub marked: Vec<Range<u64>>,
}

impl Default for ProxySetup {
    fn default() -> Self {
        Self { used: ProxyUse::None, clusters: CLUSTERS, fair: false, marked: Vec::new() }
    }
}

impl ProxySetup {
    /// Reads a way of proxies; which data are marked is not in the text.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_directory::{ProxySetup, ProxyUse};
    /// assert_eq!(ProxySetup::parse("reactive:clusters=4")?.clusters, 4);
    /// assert_eq!(ProxySetup::parse("none")?.used, ProxyUse::None);
    /// assert!(ProxySetup::parse("basic:clusters=0").is_err());
    /// # Ok::<(), homenode_directory::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let setting = ProtocolSetting::parse(text, PROXIES)?;
        Ok(Self {
            used: setting.protocol.used,
            clusters: setting.value("clusters").unwrap_or(CLUSTERS),
            fair: setting.is_on("fair"),
            marked: Vec::new(),
        })
    }
}
