//! What to simulate on machines with a bus.

use homenode_machine::Dispatch;
use homenode_placement::Synchronisation;
use homenode_snoop::MissRule;
use serde::{Deserialize, Serialize};

use crate::pass::TraceSource;

/// Machines, protocols and caches to simulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// Machines: names or TOML files.
    pub machines: Vec<String>,
    /// Protocols: `name` or `name:parameter=yes`.
    pub protocols: Vec<String>,
    /// Only these combinations, in this order; all if empty.
    #[serde(default)]
    pub points: Vec<BusPoint>,
    /// Sizes of each processor's cache in bytes; the machine's if empty.
    #[serde(default)]
    pub cache_sizes: Vec<u64>,
    /// Blocks in a set, `null` for all in one; the machine's if empty.
    #[serde(default)]
    pub associativities: Vec<Option<u64>>,
    /// Block sizes in bytes; the machine's if empty.
    #[serde(default)]
    pub block_sizes: Vec<u64>,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Several numbers of processors, each simulated; [`Self::processors`] if empty.
    #[serde(default)]
    pub scaling: Vec<u16>,
    /// In which order references take place.
    #[serde(default)]
    pub order: ReferenceOrder,
    /// Which ready process a processor takes; the machine's policy if absent.
    #[serde(default)]
    pub scheduler: Option<Dispatch>,
    /// For what the scheduler and the translation of addresses leave to chance.
    #[serde(default = "one")]
    pub seed: u64,
    /// What the addresses of the trace are.
    #[serde(default)]
    pub addresses: AddressSpace,
    /// Whether what a kernel refers to is made up, by the machine's model, for a trace without one.
    #[serde(default)]
    pub kernel_model: bool,
    /// Private areas beside those of the trace: first byte, and one past the last.
    #[serde(default)]
    pub private_ranges: Vec<(u64, u64)>,
    /// What the trace's private references are.
    #[serde(default)]
    pub private: PrivateReferences,
    /// What to do with synchronisation references.
    #[serde(default = "counted")]
    pub sync: Synchronisation,
    /// What to do with instruction fetches.
    #[serde(default)]
    pub fetches: Included,
    /// When an invalidation miss is true sharing.
    #[serde(default)]
    pub miss_rule: MissRule,
    /// Whether every read is checked to return what was written last.
    #[serde(default)]
    pub check: bool,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
}

fn one() -> u64 {
    1
}

fn counted() -> Synchronisation {
    Synchronisation::Include
}

/// One combination by name. What is absent is the machine's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusPoint {
    /// The machine: a name or TOML file.
    pub machine: String,
    /// The protocol: `name` or `name:parameter=yes`.
    pub protocol: String,
    /// Bytes in each processor's cache.
    #[serde(default)]
    pub cache_size: Option<u64>,
    /// Blocks in a set.
    #[serde(default)]
    pub associativity: Option<u64>,
    /// Bytes in a block.
    #[serde(default)]
    pub block_size: Option<u64>,
    /// Processors; the trace's thread count if absent.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Which ready process a processor takes.
    #[serde(default)]
    pub scheduler: Option<Dispatch>,
}

/// In which order references take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceOrder {
    /// That which comes about in cycles, on processors that a scheduler gives to processes.
    #[default]
    Clock,
    /// That of the trace: each completes before the next begins, and there is no time.
    Trace,
}

/// What the addresses of a trace are. In the order of the trace they are those of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressSpace {
    /// Those of memory if the trace is of a whole system, else in pages.
    #[default]
    Auto,
    /// Those of processes, whose pages are put into frames.
    Pages,
    /// Those of memory.
    Trace,
}

/// What the references that the trace calls private are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateReferences {
    /// References to private areas.
    #[default]
    Local,
    /// References like all others.
    Shared,
    /// Left out.
    Exclude,
}

/// Whether something is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Included {
    /// It is.
    #[default]
    Include,
    /// It is left out.
    Exclude,
}

impl BusConfig {
    /// Whether pages are put into frames: those of a whole system are in memory already.
    pub(super) fn translates<T: TraceSource + ?Sized>(&self, trace: &T) -> bool {
        match self.addresses {
            AddressSpace::Auto => trace.metadata().processes.is_empty(),
            AddressSpace::Pages => true,
            AddressSpace::Trace => false,
        }
    }
}
