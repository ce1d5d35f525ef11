//! Which reads use a proxy, as users write it: `none`, `basic:clusters=3`,
//! `reactive:allocate=no`.

use std::ops::Range;

use homenode_cache::CacheGeometry;
use homenode_machine::CacheShape;
use homenode_protocol::{
    ListedProtocol, ProtocolError, ProtocolParameter, ProtocolSetting, ValueRange,
};
use serde::Serialize;

use crate::setup::DirectorySetupError;

/// Clusters of nodes, each with a proxy for every block, unless the user says otherwise.
///
/// Source: Talbot and Kelly, section 1.3: chosen after experimentation.
const CLUSTERS: u64 = 3;

/// Which reads use a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyUse {
    /// None.
    #[default]
    None,
    /// Reads of marked data.
    Basic,
    /// Reads bounced by a home whose buffer was full.
    Reactive,
}

/// Where proxies store blocks for their clients.
///
/// Source: Talbot and Kelly, section 1.3: in the cache of the proxy's node; section 1.7, which
/// names the other two and says no more of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyAllocation {
    /// In the second level of the proxy's node.
    #[default]
    SecondLevel,
    /// Nowhere: the block is relayed.
    Nowhere,
    /// In a separate direct-mapped cache.
    Separate {
        /// Its size.
        bytes: u64,
    },
}

impl ProxyAllocation {
    /// Where the value of a parameter says.
    fn of(value: Option<u64>) -> Self {
        match value {
            None | Some(1) => Self::SecondLevel,
            Some(0) => Self::Nowhere,
            Some(bytes) => Self::Separate { bytes },
        }
    }
}

/// Smallest and largest proxy cache.
const SEPARATE: ValueRange =
    ValueRange::SwitchOrSize { name: "separate", unit: "bytes", from: 16, to: 1 << 30 };

/// A way of proxies as it is listed. The names of the fields are public.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProxyEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set after the colon.
    #[serde(rename = "parameters")]
    pub params: &'static [ProtocolParameter],
    /// What it is.
    #[serde(skip)]
    pub used: ProxyUse,
}

const PARAMS: &[ProtocolParameter] = &[
    ProtocolParameter {
        name: "clusters",
        doc: "clusters of nodes, each with a proxy for every block. Default: 3",
        values: ValueRange::Number { from: 1, to: 1024 },
    },
    ProtocolParameter {
        name: "allocate",
        doc: "whether a proxy keeps what it gets for clients, in the node's second level or in a \
              separate direct-mapped cache of N bytes. Default: yes",
        values: SEPARATE,
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

    fn listing(&self) -> (&'static str, &'static [ProtocolParameter]) {
        (self.name, self.params)
    }
}

/// Which reads use a proxy, and which proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySetup {
    /// Which reads.
    pub used: ProxyUse,
    /// Clusters of nodes with neighbouring numbers.
    pub clusters: u64,
    /// Where proxies keep copies for their clients.
    pub allocation: ProxyAllocation,
    /// Whether the first client of a chain gets the block first.
    pub fair: bool,
    /// Addresses of marked data, each range with its first byte and one past the last; all data are
    /// marked if there is none.
    pub marked: Vec<Range<u64>>,
}

impl Default for ProxySetup {
    fn default() -> Self {
        Self {
            used: ProxyUse::None,
            clusters: CLUSTERS,
            allocation: ProxyAllocation::default(),
            fair: false,
            marked: Vec::new(),
        }
    }
}

impl ProxySetup {
    /// Reads a way of proxies; which data are marked is not in the text.
    ///
    /// # Errors
    /// When a name, a parameter or its value is unknown.
    ///
    /// ```
    /// use homenode_directory::{ProxyAllocation, ProxySetup, ProxyUse};
    /// assert_eq!(ProxySetup::parse("reactive:clusters=4")?.clusters, 4);
    /// let separate = ProxySetup::parse("basic:allocate=separate:bytes=4096,fair=yes")?;
    /// assert_eq!(separate.allocation, ProxyAllocation::Separate { bytes: 4096 });
    /// assert_eq!(ProxySetup::parse("none")?.used, ProxyUse::None);
    /// assert!(ProxySetup::parse("basic:clusters=0").is_err());
    /// # Ok::<(), homenode_directory::ProtocolError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ProtocolError> {
        let setting = ProtocolSetting::parse(text, PROXIES)?;
        Ok(Self {
            used: setting.protocol.used,
            clusters: setting.value("clusters").unwrap_or(CLUSTERS),
            allocation: ProxyAllocation::of(setting.value("allocate")),
            fair: setting.is_on("fair"),
            marked: Vec::new(),
        })
    }

    /// The separate cache of each node for copies for clients, if it has one.
    ///
    /// # Errors
    /// When the size of the cache is invalid for this block size.
    pub fn cache(&self, block_bytes: u64) -> Result<Option<CacheGeometry>, DirectorySetupError> {
        let ProxyAllocation::Separate { bytes } = self.allocation else { return Ok(None) };
        let (size_bytes, block_size_bytes, associativity) = (bytes, block_bytes, 1);
        let geometry =
            CacheGeometry::of(CacheShape { size_bytes, block_size_bytes, associativity });
        let wrong = DirectorySetupError::ProxyCache { bytes, block: block_bytes };
        geometry.map(Some).ok_or(wrong)
    }
}
