//! What to simulate on machines with a directory.

use homenode_directory::MissRule;
use homenode_machine::NetworkContention;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::ReferenceOrder;
use crate::references::{Inclusion, PrivateReferences};

/// What `--buffers` says where any number of messages may wait.
pub(super) const INFINITE: &str = "infinite";

/// Choices of a simulation on machines with a directory: protocols, homes of pages, and caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectoryConfig {
    /// Machines: names (`homenode list machines`) or TOML files.
    #[serde(default = "machines")]
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines"))]
    pub machines: Vec<String>,
    /// Coherence protocols (`homenode list protocols`), with parameters as in `dash:pointers=4`.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--protocol", "x-value" = "protocols", "x-argument" = true,
        "x-default" = "dash, or sdd where nodes have controllers"))]
    pub protocols: Vec<String>,
    /// Which node is the home of a page (`homenode list homes`), with parameters as in
    /// `first-fill:n=4`.
    #[serde(default = "homes")]
    #[schemars(extend("x-flag" = "--home", "x-value" = "homes"))]
    pub homes: Vec<String>,
    /// When pages are copied to nodes that read them (`homenode list replications`), with
    /// parameters as in `counter:n=8`; under protocols that keep pages coherent, with `--order
    /// clock`.
    #[serde(default = "replications")]
    #[schemars(extend("x-flag" = "--replication", "x-value" = "replications"))]
    pub replications: Vec<String>,
    /// Which reads go by proxies (`homenode list proxies`), with parameters as in
    /// `basic:data=matrix` or `reactive:allocate=no`, where nodes have controllers. Marked data are
    /// parts of names or places of allocation, or addresses, joined by `+`; `allocate` says whether
    /// proxies keep copies: `yes`, `no` or `separate:bytes=65536`.
    #[serde(default = "proxies")]
    #[schemars(extend("x-flag" = "--proxies", "x-value" = "proxies"))]
    pub proxies: Vec<String>,
    /// How many messages may wait at a node's controller before it sends reads back, or `infinite`,
    /// where nodes have controllers.
    #[serde(default = "buffers")]
    #[schemars(extend("x-flag" = "--buffers", "x-value" = "buffers"))]
    pub buffers: Vec<String>,
    /// Bytes in each node's cache, as 32K or 64K-2M.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--cache-size", "x-value" = "cache-sizes",
        "x-default" = "the machine's"))]
    pub cache_sizes: Vec<u64>,
    /// Blocks in a set of the cache, or `full` for all in one.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--associativity", "x-value" = "associativities",
        "x-default" = "the machine's"))]
    pub associativities: Vec<Option<u64>>,
    /// Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--block-size", "x-value" = "block-sizes",
        "x-default" = "the machine's"))]
    pub block_sizes: Vec<u64>,
    /// Nodes, each with a processor; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Several numbers of nodes, as 4,8,16 or 1-64, each simulated, instead of one.
    #[serde(default)]
    #[schemars(extend("x-value" = "counts", "x-default" = "none"))]
    pub scaling: Vec<u16>,
    /// In which order references take place: at simulated speed, or as in the trace.
    #[serde(default)]
    pub order: ReferenceOrder,
    /// What a processor waits for when it writes, with `--order clock`.
    #[serde(default)]
    pub consistency: Consistency,
    /// Where messages wait for each other, with `--order clock`.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub network_contention: Option<NetworkContention>,
    /// What the operating system takes to map a page, with `--order clock`, where hardware keeps
    /// blocks coherent: what the machine says, or nothing.
    #[serde(default)]
    pub page_mapping: PageMapping,
    /// Let pages move again at each mark of a phase, with `--order clock`.
    #[serde(default)]
    pub phase_change: bool,
    /// Instructions before each reference, where the trace does not count them, with `--order
    /// clock`. A trace recorded by the compiler does not.
    #[serde(default)]
    pub gap: u32,
    /// Where times and counts begin, with `--order clock`.
    #[serde(default)]
    pub measure_from: MeasuredFrom,
    /// For what homes leave to chance.
    #[serde(default = "one")]
    pub seed: u64,
    /// Private areas beside those of the trace, each with its first byte and one past the last, as
    /// in 0x1000-0x2000.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--private-range", "x-value" = "address-ranges",
        "x-default" = "none"))]
    pub private_ranges: Vec<(u64, u64)>,
    /// What to do with references that the trace calls private: `local` ones are to private areas.
    #[serde(default)]
    pub private: PrivateReferences,
    /// What to do with references to synchronisation variables: to a cache a lock is a word like
    /// any other.
    #[serde(default = "Inclusion::include")]
    pub sync: Inclusion,
    /// When an invalidation miss is true sharing.
    #[serde(default)]
    pub miss_rule: MissRule,
    /// Check that every read returns the last write.
    #[serde(default)]
    pub check: bool,
    /// Cores to use; the result does not depend on it.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
    /// Whether it is collected who uses which page, as [`DirectoryStudy::uses`]; not for users to
    /// choose, but for those who show that.
    ///
    /// [`DirectoryStudy::uses`]: super::DirectoryStudy::uses
    #[serde(skip)]
    pub collect_uses: bool,
}

impl Default for DirectoryConfig {
    fn default() -> Self {
        Self {
            machines: machines(),
            protocols: Vec::new(),
            homes: homes(),
            replications: replications(),
            proxies: proxies(),
            buffers: buffers(),
            cache_sizes: Vec::new(),
            associativities: Vec::new(),
            block_sizes: Vec::new(),
            processors: None,
            scaling: Vec::new(),
            order: ReferenceOrder::default(),
            consistency: Consistency::default(),
            network_contention: None,
            page_mapping: PageMapping::default(),
            phase_change: false,
            gap: 0,
            measure_from: MeasuredFrom::default(),
            seed: one(),
            private_ranges: Vec::new(),
            private: PrivateReferences::default(),
            sync: Inclusion::Include,
            miss_rule: MissRule::default(),
            check: false,
            threads: None,
            collect_uses: false,
        }
    }
}

fn machines() -> Vec<String> {
    vec!["dash-mesh".to_owned()]
}

fn homes() -> Vec<String> {
    ["round-robin", "first-touch"].map(str::to_owned).to_vec()
}

fn replications() -> Vec<String> {
    vec!["none".to_owned()]
}

fn proxies() -> Vec<String> {
    vec!["none".to_owned()]
}

fn buffers() -> Vec<String> {
    vec![INFINITE.to_owned()]
}

fn one() -> u64 {
    1
}

/// What a processor waits for when it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Release consistency: it writes into a buffer, and waits for acknowledgements at a release.
    #[default]
    Rc,
    /// Sequential consistency: it waits until everybody has seen what it wrote.
    Sc,
}

/// What the operating system takes to map a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageMapping {
    /// What the machine says.
    #[default]
    Priced,
    /// Nothing, as if pages were mapped before: what is left depends on where they are. Pages that
    /// move take their time.
    Free,
}

/// Where times and counts begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredFrom {
    /// When the program begins.
    #[default]
    Start,
    /// At the program's mark that initialisation is over; what comes before is simulated as well.
    InitDone,
}
