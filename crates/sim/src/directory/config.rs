//! Options of simulations with a directory.

use homenode_directory::MissRule;
use homenode_machine::NetworkContention;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};
use crate::timed::{ReferenceOrder, TimedConfig, TimedOptions};

/// The value of `--buffers` for unlimited buffers.
pub(super) const INFINITE: &str = "infinite";

/// Options of a simulation of machines with a directory: protocols, homes of pages, and caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DirectoryConfig {
    /// Machines: names (`homenode list machines`) or TOML files.
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines"))]
    pub machines: Vec<String>,
    /// Coherence protocols (`homenode list protocols`), with parameters as in `dash:pointers=4`.
    #[schemars(extend("x-flag" = "--protocol", "x-value" = "protocols", "x-argument" = true,
        "x-default" = "dash, or sdd where nodes have controllers"))]
    pub protocols: Vec<String>,
    /// Which node is the home of a page (`homenode list homes`), with parameters as in
    /// `first-fill:n=4`.
    #[schemars(extend("x-flag" = "--home", "x-value" = "homes"))]
    pub homes: Vec<String>,
    /// When pages are replicated to nodes that read them (`homenode list replications`), with
    /// parameters as in `counter:n=8`; for protocols that keep pages coherent, with `--order
    /// clock`.
    #[schemars(extend("x-flag" = "--replication", "x-value" = "replications"))]
    pub replications: Vec<String>,
    /// Which reads go through proxies (`homenode list proxies`), with parameters as in
    /// `basic:data=matrix` or `reactive:allocate=no`, on nodes with controllers. `data` is a list,
    /// joined by `+`, of parts of object names, parts of allocation sites, or addresses; `allocate`
    /// says whether proxies keep copies: `yes`, `no` or `separate:bytes=65536`.
    #[schemars(extend("x-flag" = "--proxies", "x-value" = "proxies"))]
    pub proxies: Vec<String>,
    /// Messages that a node's controller can queue before it sends reads back, or `infinite`, on
    /// nodes with controllers.
    #[schemars(extend("x-flag" = "--buffers", "x-value" = "buffers"))]
    pub buffers: Vec<String>,
    /// Bytes in each node's cache, as 32K or 64K-2M.
    #[schemars(extend("x-flag" = "--cache-size", "x-value" = "cache-sizes",
        "x-default" = "the machine's"))]
    pub cache_sizes: Vec<u64>,
    /// Blocks in a set of the cache; `full` makes it fully associative.
    #[schemars(extend("x-flag" = "--associativity", "x-value" = "associativities",
        "x-default" = "the machine's"))]
    pub associativities: Vec<Option<u64>>,
    /// Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192.
    #[schemars(extend("x-flag" = "--block-size", "x-value" = "block-sizes",
        "x-default" = "the machine's"))]
    pub block_sizes: Vec<u64>,
    /// Nodes, each with a processor; thread i runs on node i modulo this number.
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Several numbers of nodes to simulate, as 4,8,16 or 1-64, instead of one.
    #[schemars(extend("x-value" = "counts", "x-default" = "none"))]
    pub scaling: Vec<u16>,
    /// The order in which references take place: in simulated time, or as in the trace.
    pub order: ReferenceOrder,
    /// What a processor waits for when it writes, with `--order clock`.
    #[schemars(extend("x-only-order" = "clock"))]
    pub consistency: Consistency,
    /// Where messages contend, with `--order clock`.
    #[schemars(extend("x-default" = "the machine's", "x-only-order" = "clock"))]
    pub network_contention: Option<NetworkContention>,
    /// Cost of mapping a page in the operating system, with `--order clock`, if hardware keeps
    /// blocks coherent: the machine's, or none.
    #[schemars(extend("x-only-order" = "clock"))]
    pub page_mapping: PageMapping,
    /// Let pages migrate again at each phase mark, with `--order clock`.
    #[schemars(extend("x-only-order" = "clock"))]
    pub phase_change: bool,
    /// Instructions before each reference, if the trace does not count them, with `--order clock`.
    /// Traces recorded with the compiler wrappers do not.
    #[schemars(extend("x-only-order" = "clock"))]
    pub gap: u32,
    /// Where measurement of times and counts begins, with `--order clock`.
    #[schemars(extend("x-only-order" = "clock"))]
    pub measure_from: MeasuredFrom,
    /// The text of a mark, as in `check`: references that were recorded after the first such mark
    /// are not simulated.
    #[schemars(extend("x-metavar" = "MARK", "x-default" = "the end"))]
    pub measure_until: Option<String>,
    /// Seed of the random choices of homes.
    pub seed: u64,
    /// Private areas in addition to those of the trace, each as its first byte and the byte after
    /// its last one, as in 0x1000-0x2000.
    #[schemars(extend("x-flag" = "--private-range", "x-value" = "address-ranges",
        "x-default" = "none"))]
    pub private_ranges: Vec<(u64, u64)>,
    /// How to treat references that the trace flags as private; with `local` they are to private
    /// areas.
    pub private: PrivateReferences,
    /// How to treat references to synchronisation variables; a cache treats a lock like any other
    /// word.
    pub sync: Inclusion,
    /// When an invalidation miss counts as true sharing.
    pub miss_rule: MissRule,
    /// Check that every read returns the last write.
    pub check: bool,
    /// Cores to use; the result does not depend on it.
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
    /// Whether page use by node is collected, as [`DirectoryStudy::uses`]. Set by callers that
    /// report it, not an option of users.
    ///
    /// [`DirectoryStudy::uses`]: super::DirectoryStudy::uses
    #[serde(skip)]
    pub collect_uses: bool,
}

impl Default for DirectoryConfig {
    fn default() -> Self {
        Self {
            machines: vec!["dash-mesh".to_owned()],
            protocols: Vec::new(),
            homes: vec!["first-touch".to_owned()],
            replications: vec!["none".to_owned()],
            proxies: vec!["none".to_owned()],
            buffers: vec![INFINITE.to_owned()],
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
            measure_until: None,
            seed: 1,
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

impl TimedConfig for DirectoryConfig {
    fn timed(&self) -> TimedOptions {
        TimedOptions {
            order: self.order,
            threads: self.threads,
            processors: self.processors,
            scales: !self.scaling.is_empty(),
            restarts: false,
        }
    }

    fn prepare_run(&mut self, processors: u16) {
        self.processors = Some(processors);
    }
}

/// What a processor waits for when it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Release consistency: writes go to a buffer, and a release waits for their acknowledgements.
    #[default]
    Rc,
    /// Sequential consistency: a write waits until all nodes have observed it.
    Sc,
}

/// Cost of mapping a page in the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageMapping {
    /// The machine's cost.
    #[default]
    Priced,
    /// No cost, as if pages were mapped before, which isolates the effect of their location.
    /// Migrations of pages still take time.
    Free,
}

/// Where measurement of times and counts begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredFrom {
    /// At the start of the program.
    #[default]
    Start,
    /// At the program's mark that initialisation is over; references before it are simulated but
    /// not counted.
    InitDone,
}
