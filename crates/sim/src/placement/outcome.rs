//! Results of placement simulations as they are reported.

use homenode_machine::{EventPrices, PriceList, PricedMachine};
use homenode_placement::{Amount, Cost, NetworkPackets, Tally};
use homenode_transform::realign::Realignment;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::plan::MatrixPlan;
use super::walk::SizeCounts;
use crate::pass::{CacheFilterRecord, TraceSource};
use crate::references::{Inclusion, PrivateReferences};
use crate::results::{notes_on, suggestions_on};

/// The result of one policy on one machine at one block size. The field names are public;
/// `docs/placement.md` defines each.
#[derive(Clone, Debug, Serialize)]
pub struct PlacementOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine: its name in the table or its file, or the inline prices.
    pub machine: String,
    /// The policy as written in the configuration.
    pub policy: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Processors of the machine.
    pub processors: u16,
    /// Data references taken into account.
    pub references: u64,
    /// Accesses to blocks: a reference that straddles blocks is one access to each of them.
    pub accesses: u64,
    /// The counts.
    pub counts: Tally,
    /// The components of the cost, in units of a local reference; `null` is infinite.
    #[serde(serialize_with = "parts")]
    pub cost: Cost,
    /// Sum of the components.
    pub total_cost: Amount,
    /// Cost in nanoseconds, if the machine's prices are in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<f64>,
    /// Mean cost per reference: cost divided by accesses; `null` if infinite or without accesses.
    pub mcpr: Option<f64>,
    /// The columns of Markatos and Chronaki's tables; `null` except on page-coherence machines.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub columns: Option<PageCoherenceColumns>,
    /// The report of re-alignment at this block size, if data are re-aligned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realignment: Option<Realignment>,
    /// How caches in front of memory filtered the trace, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_filter: Option<CacheFilterRecord>,
}

fn parts<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(5))?;
    for (name, amount) in cost.parts() {
        map.serialize_entry(name, &amount)?;
    }
    map.end()
}

/// Prices of a machine at a block size.
#[derive(Clone, Debug, Serialize)]
pub struct PriceListRecord {
    /// The machine: its name in the table or its file, or the inline prices.
    pub machine: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// r, R, g, G, `null` if infinite; or latencies and packets.
    pub prices: PriceList,
}

/// The provenance of all outcomes of a run.
#[derive(Clone, Debug, Serialize)]
pub struct PlacementProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Processors of the machines.
    pub processors: u16,
    /// How private references were treated, machine by machine.
    pub private: Vec<PrivateReferences>,
    /// How synchronisation references were treated.
    pub sync: Inclusion,
    /// Bytes of a word, if references are counted in words; the checksum is that of the recorded
    /// trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_bytes: Option<u64>,
    /// References in a window of re-alignment, if data are re-aligned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realign: Option<u64>,
    /// How caches in front of memory filtered the trace, if any did; the other facts about the
    /// trace are about all its references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_filter: Option<CacheFilterRecord>,
    /// Every policy with the value of every parameter, seeds included, in the syntax of the option.
    pub policies: Vec<String>,
    /// Prices of every machine at every block size.
    pub prices: Vec<PriceListRecord>,
    /// Notes: rules of the cost model that the prices violate, and notes on the trace.
    pub notes: Vec<String>,
    /// Steps to take before a simulation, such as removing a serial start.
    pub suggestions: Vec<String>,
}

/// Outcomes and their provenance.
#[derive(Clone, Debug, Serialize)]
pub struct PlacementSimulation {
    /// One outcome per machine, policy and block size.
    pub outcomes: Vec<PlacementOutcome>,
    /// Their provenance.
    pub provenance: PlacementProvenance,
}

pub(crate) fn assemble(
    plan: &MatrixPlan,
    counts: &[SizeCounts],
    trace: &dyn TraceSource,
) -> PlacementSimulation {
    let mut outcomes = Vec::new();
    for (m, machine) in plan.machines.iter().enumerate() {
        for (p, policy) in plan.policies.iter().enumerate() {
            for (size, counted) in plan.sizes.iter().zip(counts) {
                let mut tally = counted.jobs[size.job[m][p]];
                let mut references = counted.totals.references;
                if plan.private(machine) == PrivateReferences::Exclude {
                    references -= counted.totals.outside_references;
                } else {
                    tally += &counted.totals.outside;
                }
                let list = &size.prices[m];
                let cost = Cost::on(&tally, list);
                outcomes.push(PlacementOutcome {
                    trace: trace.name(),
                    machine: machine.name().to_owned(),
                    policy: policy.text.clone(),
                    block_size: size.block.bytes(),
                    processors: plan.processors,
                    references,
                    accesses: tally.accesses(),
                    counts: tally,
                    total_cost: cost.total(),
                    total_ns: nanoseconds(machine, cost.total()),
                    mcpr: cost.total().per(tally.accesses()),
                    columns: list
                        .events()
                        .map(|events| PageCoherenceColumns::of(&tally, &cost, events)),
                    cache_filter: None,
                    realignment: counted.realignment.clone(),
                    cost,
                });
            }
        }
    }
    PlacementSimulation { outcomes, provenance: provenance(plan, trace) }
}

/// An amount in units of a local reference, in nanoseconds of the machine.
pub(crate) fn nanoseconds(machine: &PricedMachine, amount: Amount) -> Option<f64> {
    let millionths = machine.local_ns_millionths()?;
    // The sum is divided by the number of references to give the mean: here by a million.
    let scaled = Amount { steps: amount.steps?.checked_mul(millionths.into()), ..amount };
    scaled.per(1_000_000)
}

pub(crate) fn provenance(plan: &MatrixPlan, trace: &dyn TraceSource) -> PlacementProvenance {
    let mut prices = Vec::new();
    for (m, machine) in plan.machines.iter().enumerate() {
        prices.extend(plan.sizes.iter().map(|size| PriceListRecord {
            machine: machine.name().to_owned(),
            block_size: size.block.bytes(),
            prices: size.prices[m],
        }));
    }
    let resolved = |(p, spec): (usize, &homenode_placement::PolicySpec)| {
        let job = plan.sizes[0].jobs.iter().find(|j| j.policy == p)?;
        let values = spec.resolved(&job.setup).into_iter().map(|(n, v)| format!("{n}={v}"));
        let values: Vec<String> = values.collect();
        let colon = if values.is_empty() { "" } else { ":" };
        Some(format!("{}{colon}{}", spec.name(), values.join(",")))
    };
    PlacementProvenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.name(),
        trace_checksum: trace.checksum(),
        processors: plan.processors,
        private: plan.machines.iter().map(|machine| plan.private(machine)).collect(),
        sync: plan.sync,
        word_bytes: None,
        realign: plan.realign,
        cache_filter: None,
        policies: plan.policies.iter().enumerate().filter_map(resolved).collect(),
        prices,
        notes: plan.notes.iter().cloned().chain(notes_on(trace)).collect(),
        suggestions: suggestions_on(trace),
    }
}

/// One row of their appendix: a policy at a page size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageCoherenceColumns {
    /// Cycles per reference, by component.
    pub latency: LatencyColumns,
    /// Network packets.
    pub packets: NetworkPackets,
    /// Network packets for each reference.
    pub traffic: PacketColumns,
    /// Copies updated by a multicast: update packets divided by multicast writes; `null` without
    /// multicast writes.
    pub mls: Option<f64>,
}

/// Cycles per reference; all `null` without references.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyColumns {
    /// References to the processor's own copies.
    pub local: Option<f64>,
    /// Remote references, except writes of an update policy.
    pub remote: Option<f64>,
    /// Replications.
    pub replication: Option<f64>,
    /// Update packets, and remote writes of an update policy.
    pub multicast: Option<f64>,
    /// Entries into the operating system.
    pub os: Option<f64>,
    /// The sum. Divided by the latency of a local reference it is the normalised latency, `mcpr`.
    pub total: Option<f64>,
}

/// Packets per reference; all `null` without references.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PacketColumns {
    /// Of replications.
    pub replication: Option<f64>,
    /// Of remote references.
    pub remote: Option<f64>,
    /// Of updates.
    pub multicast: Option<f64>,
}

impl PageCoherenceColumns {
    pub(crate) fn of(tally: &Tally, cost: &Cost, events: &EventPrices) -> Self {
        let accesses = tally.accesses();
        let cycles = |a: Amount| Amount { scale: events.scale, ..a }.per(accesses);
        let [local, remote, replication, multicast, os] =
            cost.parts().map(|(_, amount)| cycles(amount));
        let total = cycles(cost.total());
        let packets = NetworkPackets::of(tally, events);
        let each = |n: u128| Amount { steps: Some(n), scale: 1 }.per(accesses);
        let multicasts = tally.multicast_writes;
        Self {
            latency: LatencyColumns { local, remote, replication, multicast, os, total },
            traffic: PacketColumns {
                replication: each(packets.replication),
                remote: each(packets.remote),
                multicast: each(packets.multicast),
            },
            mls: Amount { steps: Some(packets.multicast), scale: 1 }.per(multicasts),
            packets,
        }
    }
}
