//! The columns of Markatos and Chronaki's tables.

use homenode_machine::EventPrices;
use homenode_placement::{Amount, Cost, NetworkPackets, Tally};
use serde::Serialize;

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
