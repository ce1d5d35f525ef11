//! Options of simulations with caches on a bus or with links.

use homenode_machine::Dispatch;
use homenode_snoop::MissRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};
use crate::timed::{ReferenceOrder, TimedConfig, TimedOptions};

/// Options of a simulation of caches on a bus or with links: machines, protocols and caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BusConfig {
    /// Machines: names (`homenode list machines`) or TOML files.
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines"))]
    pub machines: Vec<String>,
    /// Coherence protocols (`homenode list protocols`), with parameters as in
    /// `pscr:private_kernel=yes`.
    #[schemars(extend("x-flag" = "--protocol", "x-value" = "protocols", "x-argument" = true,
        "x-default" = "all on a bus, mesi with links"))]
    pub protocols: Vec<String>,
    /// Simulate only these combinations, in this order: dictionaries with `protocol` and, if not
    /// the default, `machine`, `cache_size`, `associativity`, `block_size`, `processors` and
    /// `scheduler`. The lists of these must be empty then.
    #[schemars(extend("x-value" = "points", "x-default" = "all combinations", "x-flag" = null))]
    pub points: Vec<BusPoint>,
    /// Bytes in each processor's cache, as 32K or 64K-2M.
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
    /// Processors; thread i runs on processor i modulo this number.
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Several numbers of processors to simulate, as 4,8,12 or 1-20, instead of one.
    #[schemars(extend("x-value" = "counts", "x-default" = "none"))]
    pub scaling: Vec<u16>,
    /// The order in which references take place.
    pub order: ReferenceOrder,
    /// Which ready process a processor runs next.
    #[schemars(extend("x-default" = "the machine's", "x-only-order" = "clock"))]
    pub scheduler: Option<Dispatch>,
    /// Restart processes when they end, until each has made all of its references or as many as
    /// processes have on average, so that all processors stay busy to the end.
    #[schemars(extend("x-only-order" = "clock"))]
    pub restart: bool,
    /// Seed of the scheduler's random choices and of page frames.
    #[schemars(extend("x-only-order" = "clock"))]
    pub seed: u64,
    /// What the addresses of the trace are.
    #[schemars(extend("x-only-order" = "clock"))]
    pub addresses: AddressSpace,
    /// Generate the kernel's references at system calls, switches and ticks from the machine's
    /// kernel model, for a trace without a kernel.
    #[schemars(extend("x-only-order" = "clock"))]
    pub kernel_model: bool,
    /// Contention at memories and between sockets, on machines with links.
    #[schemars(extend("x-default" = "the machine's", "x-only-order" = "clock"))]
    pub contention: Option<Contention>,
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
    /// How to treat instruction fetches, which are reads.
    pub fetches: Inclusion,
    /// When an invalidation miss counts as true sharing.
    pub miss_rule: MissRule,
    /// Check that every read returns the last write.
    pub check: bool,
    /// Cores to use; the result does not depend on it.
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
}

impl Default for BusConfig {
    fn default() -> Self {
        Self {
            machines: vec![machine()],
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
            seed: 1,
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

impl TimedConfig for BusConfig {
    fn timed(&self) -> TimedOptions {
        TimedOptions {
            order: self.order,
            threads: self.threads,
            processors: self.processors,
            scales: !self.scaling.is_empty(),
            restarts: self.restart,
        }
    }

    fn prepare_run(&mut self, processors: u16) {
        self.processors = Some(processors);
        if self.protocols.is_empty() && self.points.is_empty() {
            self.protocols.push(USUAL_PROTOCOL.to_owned());
        }
    }
}

/// The protocol of machines with links, and of a live program, unless another one is given.
pub(super) const USUAL_PROTOCOL: &str = "mesi";

fn machine() -> String {
    "bus-smp".to_owned()
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
    /// Which ready process a processor runs next.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub scheduler: Option<Dispatch>,
}

/// Contention at memories and between sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// Unlimited bandwidth; only transactions on the same block wait for each other.
    None,
    /// Memories and links serve one block at a time.
    Modelled,
}

/// What the addresses of a trace are. With the order of the trace they are physical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressSpace {
    /// Physical if the trace is of a whole system or the machine has links, else virtual.
    #[default]
    Auto,
    /// Virtual addresses of processes, whose pages are mapped to frames.
    Pages,
    /// Physical addresses.
    Trace,
}
