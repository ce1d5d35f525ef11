//! What to simulate on machines with a bus.

use homenode_machine::Dispatch;
use homenode_snoop::MissRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};

/// Choices of a simulation on a bus: machines, protocols and caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// Machines: names (`homenode list machines`) or TOML files.
    #[serde(default = "machines")]
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines"))]
    pub machines: Vec<String>,
    /// Coherence protocols (`homenode list protocols`), with parameters as in
    /// `pscr:private_kernel=yes`.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--protocol", "x-value" = "protocols", "x-default" = "all",
        "x-argument" = true))]
    pub protocols: Vec<String>,
    /// Only these combinations, in this order, instead of all: dictionaries with `protocol`, and,
    /// where it is not the default, `machine`, `cache_size`, `associativity`, `block_size`,
    /// `processors` and `scheduler`. Then no lists of these are given.
    #[serde(default)]
    #[schemars(extend("x-value" = "points", "x-default" = "all combinations", "x-flag" = null))]
    pub points: Vec<BusPoint>,
    /// Bytes in each processor's cache, as 32K or 64K-2M.
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
    /// Processors; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Several numbers of processors, as 4,8,12 or 1-20, each simulated, instead of one.
    #[serde(default)]
    #[schemars(extend("x-value" = "counts", "x-default" = "none"))]
    pub scaling: Vec<u16>,
    /// In which order references take place.
    #[serde(default)]
    pub order: ReferenceOrder,
    /// Which ready process a processor takes.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's", "x-only-order" = "clock"))]
    pub scheduler: Option<Dispatch>,
    /// Start processes again when they end, until as many references are done as the trace has:
    /// then all processors have work to the end.
    #[serde(default)]
    #[schemars(extend("x-only-order" = "clock"))]
    pub restart: bool,
    /// For what scheduler and frames leave to chance.
    #[serde(default = "one")]
    #[schemars(extend("x-only-order" = "clock"))]
    pub seed: u64,
    /// What the addresses of the trace are.
    #[serde(default)]
    #[schemars(extend("x-only-order" = "clock"))]
    pub addresses: AddressSpace,
    /// Make up what a kernel refers to at system calls, switches and ticks, by the machine's model,
    /// for a trace without a kernel.
    #[serde(default)]
    #[schemars(extend("x-only-order" = "clock"))]
    pub kernel_model: bool,
    /// Whether messages wait for each other at memories and between sockets, on machines with
    /// links.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's", "x-only-order" = "clock"))]
    pub contention: Option<Contention>,
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
    /// What to do with instruction fetches, which are reads.
    #[serde(default = "Inclusion::include")]
    pub fetches: Inclusion,
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
}

/// What is simulated where nothing is said: no protocol.
impl Default for BusConfig {
    fn default() -> Self {
        Self {
            machines: machines(),
            protocols: Vec::new(),
            points: Vec::new(),
            cache_sizes: Vec::new(),
            associativities: Vec::new(),
            block_sizes: Vec::new(),
            processors: None,
            scaling: Vec::new(),
            order: ReferenceOrder::default(),
            scheduler: None,
            restart: false,
            seed: one(),
            addresses: AddressSpace::default(),
            kernel_model: false,
            contention: None,
            private_ranges: Vec::new(),
            private: PrivateReferences::default(),
            sync: Inclusion::Include,
            fetches: Inclusion::Include,
            miss_rule: MissRule::default(),
            check: false,
            threads: None,
        }
    }
}

fn machines() -> Vec<String> {
    vec![machine()]
}

fn machine() -> String {
    "bus-smp".to_owned()
}

fn one() -> u64 {
    1
}

/// One combination of a machine, a protocol, a cache and a number of processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusPoint {
    /// The machine: a name or TOML file.
    #[serde(default = "machine")]
    pub machine: String,
    /// The protocol, with parameters as in `pscr:private_kernel=yes`.
    pub protocol: String,
    /// Bytes in each processor's cache.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the machine's"))]
    pub cache_size: Option<u64>,
    /// Blocks in a set.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the machine's"))]
    pub associativity: Option<u64>,
    /// Bytes in a block.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the machine's"))]
    pub block_size: Option<u64>,
    /// Processors.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Which ready process a processor takes.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub scheduler: Option<Dispatch>,
}

/// Whether messages wait for each other at memories and between sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// There is room for all; only transactions on one block wait for each other.
    None,
    /// Memories and links take one block after the other.
    Modelled,
}

/// In which order references take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceOrder {
    /// In cycles, on processors that a scheduler gives to processes.
    #[default]
    Clock,
    /// As in the trace, without time: each completes before the next one begins, thread i on
    /// processor i mod their number.
    Trace,
}

/// What the addresses of a trace are. In the order of the trace they are those of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressSpace {
    /// Those of memory if the trace is of a whole system or the machine has links, else of
    /// processes.
    #[default]
    Auto,
    /// Those of processes, whose pages are put into frames.
    Pages,
    /// Those of memory.
    Trace,
}
