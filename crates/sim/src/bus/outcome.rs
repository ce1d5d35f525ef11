//! Results, as the command line prints them.

use homenode_clock::{ClockTime, ProcessorTime, critical_point};
use homenode_machine::{BusCycles, Dispatch, KernelModel};
use homenode_snoop::{BusCounts, BusTime, MissRule};
use serde::Serialize;

use super::config::{AddressSpace, BusConfig, ReferenceOrder};
use super::plan::BusPlan;
use crate::pass::TraceSource;
use crate::ratio::ratio;
use crate::references::{Inclusion, PrivateReferences};

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
    pub order: ReferenceOrder,
    /// Where references of the kernel come from.
    pub kernel_activity: KernelActivity,
    /// What was counted.
    #[serde(flatten)]
    pub counts: BusCounts,
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
    /// What the processors did and where processes ran; `null` where there is no time.
    #[serde(flatten)]
    pub work: ProcessorWork,
}

/// Where references of the kernel come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelActivity {
    /// They were recorded.
    Captured,
    /// A model makes them.
    Modelled,
    /// There are none.
    None,
}

/// What the processors did; `null` where there is no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProcessorWork {
    /// Mean part of their processes' time that processors did not spend waiting for memory.
    pub processor_utilisation: Option<f64>,
    /// Cycles of operations, of all processors.
    pub busy_cycles: Option<u64>,
    /// Cycles of waiting for memory.
    pub delay_cycles: Option<u64>,
    /// Cycles without a process.
    pub idle_cycles: Option<u64>,
    /// How often a processor took a process.
    pub switches: Option<u64>,
    /// How often the process had run on another one before.
    pub migrations: Option<u64>,
    /// How often processes waited for each other in a ring, and one was let go.
    pub forced: Option<u64>,
}

impl ProcessorWork {
    fn of(time: &ClockTime) -> Self {
        let sum = |part: fn(&ProcessorTime) -> u64| time.processors.iter().map(part).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most 1024 processors")]
        let processors = time.processors.len() as f64;
        Self {
            processor_utilisation: Some(time.gsp() / processors),
            busy_cycles: Some(sum(|p| p.busy)),
            delay_cycles: Some(sum(|p| p.delay)),
            idle_cycles: Some(sum(|p| p.idle)),
            switches: Some(time.switches),
            migrations: Some(time.migrations),
            forced: Some(time.deadlocks_broken),
        }
    }
}

/// Up to how many processors a machine is worth having.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scalability {
    /// The machine.
    pub machine: String,
    /// The protocol.
    pub protocol: String,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// The number beyond which one more processor adds less than 0.5 to the global system power;
    /// `null` if that is not among those simulated.
    pub critical_point: Option<u16>,
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
    /// Processors: one number or several, each simulated.
    pub processors: Vec<u16>,
    /// In which order references took place.
    pub order: ReferenceOrder,
    /// Which ready process a processor takes; `null` if that is the machine's.
    pub scheduler: Option<Dispatch>,
    /// For what the scheduler and the translation of addresses leave to chance.
    pub seed: u64,
    /// What the addresses of the trace are.
    pub addresses: AddressSpace,
    /// The kernel that was made up; `null` if none was.
    pub kernel_model: Option<KernelModel>,
    /// What the trace's private references are.
    pub private: PrivateReferences,
    /// Private areas beside those: first byte, and one past the last.
    pub private_ranges: Vec<(u64, u64)>,
    /// What was done with synchronisation references.
    pub sync: Inclusion,
    /// What was done with instruction fetches.
    pub fetches: Inclusion,
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
    /// One outcome per machine, protocol, cache and number of processors.
    pub outcomes: Vec<BusOutcome>,
    /// One line per machine, protocol and cache, where several numbers of processors are simulated.
    pub scalability: Vec<Scalability>,
    /// What they follow from.
    pub provenance: BusProvenance,
}

/// Puts the counts beside what they were counted for.
pub(super) fn assemble<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    results: Vec<(BusCounts, Option<BusTime>)>,
    (config, trace): (&BusConfig, &T),
) -> BusSimulation {
    let mut outcomes = Vec::new();
    let mut machines: Vec<BusMachineRecord> = Vec::new();
    for (point, (counts, timing)) in plan.points.iter().zip(results) {
        let (machine, cache) = (&plan.machines[point.machine], point.setup.cache);
        let clock = timing.as_ref().map(|timing| &timing.clock);
        outcomes.push(BusOutcome {
            trace: trace.name(),
            machine: machine.name().to_owned(),
            protocol: point.protocol.clone(),
            processors: point.setup.processors,
            cache_size: cache.size_bytes,
            block_size: cache.block_size_bytes,
            associativity: cache.associativity,
            order: config.order,
            kernel_activity: kernel_activity(config, &counts),
            counts,
            miss_rate: ratio(counts.misses.total(), counts.block_references),
            bus_cycles: counts.transactions.cycles(&point.cycles),
            gsp: clock.map(ClockTime::gsp),
            bus_utilisation: timing.as_ref().and_then(BusTime::bus_utilisation),
            cycles: clock.map(|clock| clock.cycles),
            work: clock.map(ProcessorWork::of).unwrap_or_default(),
        });
        let record = BusMachineRecord {
            machine: machine.name().to_owned(),
            source: machine.description.source.clone(),
            block_size: cache.block_size_bytes,
            transactions: point.cycles,
        };
        machines.extend((!machines.contains(&record)).then_some(record));
    }
    let sampling = trace.sampling();
    let samples = format!("the trace holds samples ({sampling}): counts are of the samples");
    let provenance = BusProvenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.name(),
        trace_checksum: trace.checksum(),
        processors: plan.processors.clone(),
        order: config.order,
        scheduler: config.scheduler,
        seed: config.seed,
        addresses: match (config.order, config.translates(trace)) {
            (ReferenceOrder::Clock, true) => AddressSpace::Pages,
            (ReferenceOrder::Clock, false) | (ReferenceOrder::Trace, _) => AddressSpace::Trace,
        },
        kernel_model: plan.kernel_model(config),
        private: config.private,
        private_ranges: config.private_ranges.clone(),
        sync: config.sync,
        fetches: config.fetches,
        miss_rule: config.miss_rule,
        check: config.check,
        machines,
        notes: if sampling.is_empty() { Vec::new() } else { vec![samples] },
    };
    BusSimulation {
        scalability: match &config.points[..] {
            [] => scalability(&outcomes, plan.processors.len()),
            _ => Vec::new(),
        },
        outcomes,
        provenance,
    }
}

/// What references of the kernel are among those counted.
fn kernel_activity(config: &BusConfig, counts: &BusCounts) -> KernelActivity {
    match counts.kernel.references {
        _ if config.kernel_model => KernelActivity::Modelled,
        0 => KernelActivity::None,
        _ => KernelActivity::Captured,
    }
}

/// The critical point of every machine, protocol and cache.
fn scalability(outcomes: &[BusOutcome], counts: usize) -> Vec<Scalability> {
    if counts < 2 {
        return Vec::new();
    }
    let line = |group: &[BusOutcome]| {
        let powers = group.iter().map(|o| Some((o.processors, o.gsp?)));
        let powers: Option<Vec<(u16, f64)>> = powers.collect();
        group.first().zip(powers).map(|(first, powers)| Scalability {
            machine: first.machine.clone(),
            protocol: first.protocol.clone(),
            cache_size: first.cache_size,
            block_size: first.block_size,
            associativity: first.associativity,
            critical_point: critical_point(powers),
        })
    };
    outcomes.chunks(counts).filter_map(line).collect()
}
