//! Results, as the command line prints them.

use homenode_machine::BusCycles;
use homenode_placement::Synchronisation;
use homenode_snoop::{Counts, MissRule};
use serde::Serialize;

use super::plan::{Areas, BusConfig, Included, Order, Plan};
use crate::source::TraceSource;

/// What one protocol does on one machine with one cache. The names of the fields are a public
/// contract; `docs/bus.md` defines each.
#[derive(Clone, Debug, Serialize)]
pub struct BusOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The protocol as the configuration names it.
    pub protocol: String,
    /// Processors, each with a cache.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// In which order references took place.
    pub order: Order,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Misses by references to one block; `null` without references.
    pub miss_rate: Option<f64>,
    /// Cycles that all transactions take on the bus at the machine's prices.
    pub bus_cycles: u64,
    /// Global system power; `null` where there is no time.
    pub gsp: Option<f64>,
    /// Part of the time during which the bus is busy; `null` where there is no time.
    pub bus_utilisation: Option<f64>,
    /// Cycles that the trace takes; `null` where there is no time.
    pub cycles: Option<u64>,
}

/// A machine at a block size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusMachineRecord {
    /// The machine.
    pub machine: String,
    /// Where its numbers come from.
    pub source: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Cycles of each transaction.
    pub transactions: BusCycles,
}

/// What the outcomes follow from.
#[derive(Clone, Debug, Serialize)]
pub struct BusProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Processors.
    pub processors: u16,
    /// In which order references took place.
    pub order: Order,
    /// What the trace's private references are.
    pub private: Areas,
    /// Private areas beside those: first byte, and one past the last.
    pub private_ranges: Vec<(u64, u64)>,
    /// What was done with synchronisation references.
    pub sync: Synchronisation,
    /// What was done with instruction fetches.
    pub fetches: Included,
    /// When an invalidation miss is true sharing.
    pub miss_rule: MissRule,
    /// Whether every read was checked.
    pub check: bool,
    /// What transactions take on every machine at every block size.
    pub machines: Vec<BusMachineRecord>,
    /// What to bear in mind.
    pub notes: Vec<String>,
}

/// Outcomes and what they follow from.
#[derive(Clone, Debug, Serialize)]
pub struct BusSimulation {
    /// One outcome per machine, protocol and cache.
    pub outcomes: Vec<BusOutcome>,
    /// What they follow from.
    pub provenance: BusProvenance,
}

/// Puts the counts beside what they were counted for.
pub(super) fn assemble<T: TraceSource + ?Sized>(
    plan: &Plan,
    counts: impl Iterator<Item = Counts>,
    (config, trace): (&BusConfig, &T),
) -> BusSimulation {
    let mut outcomes = Vec::new();
    let mut machines: Vec<BusMachineRecord> = Vec::new();
    for (point, counts) in plan.points.iter().zip(counts) {
        let (machine, cache) = (&plan.machines[point.machine], point.setup.cache);
        outcomes.push(BusOutcome {
            trace: trace.name(),
            machine: machine.name.clone(),
            protocol: point.protocol.clone(),
            processors: plan.processors,
            cache_size: cache.size_bytes,
            block_size: cache.block_size_bytes,
            associativity: cache.associativity,
            order: config.order,
            counts,
            miss_rate: rate(counts.misses.total(), counts.block_references),
            bus_cycles: counts.transactions.cycles(&point.cycles),
            gsp: None,
            bus_utilisation: None,
            cycles: None,
        });
        let record = BusMachineRecord {
            machine: machine.name.clone(),
            source: machine.source.clone(),
            block_size: cache.block_size_bytes,
            transactions: point.cycles,
        };
        if !machines.contains(&record) {
            machines.push(record);
        }
    }
    let sampling = trace.sampling();
    let samples = format!("the trace holds samples ({sampling}): counts are of the samples");
    let provenance = BusProvenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.name(),
        trace_checksum: trace.checksum(),
        processors: plan.processors,
        order: config.order,
        private: config.private,
        private_ranges: config.private_ranges.clone(),
        sync: config.sync,
        fetches: config.fetches,
        miss_rule: config.miss_rule,
        check: config.check,
        machines,
        notes: if sampling.is_empty() { Vec::new() } else { vec![samples] },
    };
    BusSimulation { outcomes, provenance }
}

fn rate(misses: u64, references: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    (references > 0).then(|| misses as f64 / references as f64)
}
