//! Results, as the command line prints them.

use homenode_directory::{DirectoryCounts, DirectoryResult, MissRule};
use homenode_machine::DirectoryMachine;
use serde::Serialize;

use super::config::DirectoryConfig;
use super::plan::DirectoryPlan;
use crate::bus::ReferenceOrder;
use crate::notes::{notes_on, suggestions_on};
use crate::pass::TraceSource;
use crate::ratio::ratio;
use crate::references::{Inclusion, PrivateReferences};

/// What one protocol does on one machine with one policy of homes. The names of the fields are a
/// public contract; `docs/directory.md` defines each.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The protocol as the configuration names it.
    pub protocol: String,
    /// The policy of homes as the configuration names it.
    pub home: String,
    /// Nodes, each with a processor and a cache.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// In which order references took place.
    pub order: ReferenceOrder,
    /// Seed of what homes leave to chance.
    pub seed: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Misses divided by references; `null` without any.
    pub miss_rate: Option<f64>,
    /// The part of the fills that come from the node's own memory; `null` without any.
    pub local_fill_share: Option<f64>,
    /// The part of the write-backs that go to the node's own memory; `null` without any.
    pub local_write_back_share: Option<f64>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryMachineRecord {
    /// The machine.
    pub machine: String,
    /// Where its numbers come from.
    pub source: String,
    /// Its numbers.
    pub model: Option<DirectoryMachine>,
    /// Bytes in a page.
    pub page_bytes: u64,
}

/// Everything that the outcomes depend on.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Nodes: one number or several, each simulated.
    pub processors: Vec<u16>,
    /// In which order references took place.
    pub order: ReferenceOrder,
    /// Seed of what homes leave to chance.
    pub seed: u64,
    /// What the trace's private references are.
    pub private: PrivateReferences,
    /// Private areas beside those: first byte, and one past the last.
    pub private_ranges: Vec<(u64, u64)>,
    /// What was done with synchronisation references.
    pub sync: Inclusion,
    /// When an invalidation miss is true sharing.
    pub miss_rule: MissRule,
    /// Whether every read was checked.
    pub check: bool,
    /// Every machine with its numbers.
    pub machines: Vec<DirectoryMachineRecord>,
    /// Notes on the trace and the configuration.
    pub notes: Vec<String>,
    /// What to do with the trace first: to leave out its start, if that is serial.
    pub suggestions: Vec<String>,
}

/// Outcomes and their provenance.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryStudy {
    /// One outcome per machine, protocol, home, cache and number of nodes.
    pub outcomes: Vec<DirectoryOutcome>,
    /// Everything that they depend on.
    pub provenance: DirectoryProvenance,
}

/// Assembles the outcomes of all points.
pub(super) fn assemble<T: TraceSource + ?Sized>(
    plan: &DirectoryPlan,
    results: Vec<DirectoryResult>,
    (config, trace): (&DirectoryConfig, &T),
) -> DirectoryStudy {
    let mut notes = notes_on(trace);
    let mut outcomes = Vec::new();
    for (point, result) in plan.points.iter().zip(results) {
        let (counts, cache) = (result.counts, point.setup.cache);
        for note in result.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        outcomes.push(DirectoryOutcome {
            trace: trace.name(),
            machine: plan.machines[point.machine].name().to_owned(),
            protocol: point.protocol.clone(),
            home: point.home.text.clone(),
            processors: point.setup.nodes,
            cache_size: cache.size_bytes,
            block_size: cache.block_size_bytes,
            associativity: cache.associativity,
            order: config.order,
            seed: config.seed,
            counts,
            miss_rate: ratio(counts.misses.total(), counts.references),
            local_fill_share: ratio(counts.local_fills, counts.fills),
            local_write_back_share: ratio(counts.local_write_backs, counts.write_backs),
        });
    }
    let machines = plan.machines.iter().map(|machine| DirectoryMachineRecord {
        machine: machine.name().to_owned(),
        source: machine.description.source.clone(),
        model: machine.directory().copied(),
        page_bytes: machine.page_bytes,
    });
    DirectoryStudy {
        outcomes,
        provenance: DirectoryProvenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            trace: trace.name(),
            trace_checksum: trace.checksum(),
            processors: plan.nodes.clone(),
            order: config.order,
            seed: config.seed,
            private: config.private,
            private_ranges: config.private_ranges.clone(),
            sync: config.sync,
            miss_rule: config.miss_rule,
            check: config.check,
            machines: machines.collect(),
            notes,
            suggestions: suggestions_on(trace),
        },
    }
}
