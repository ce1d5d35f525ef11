//! Converts counts to cost: equations 4.1 and 4.2 of the thesis, or prices of events.

use homenode_machine::{EventPrices, PriceList, Prices};
use serde::Serialize;
use serde::ser::Serializer;

use crate::tally::Tally;

/// An amount of cost, exact: a count of steps of 1/`scale`; `None` is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Steps, or `None` if an operation of infinite price took place.
    pub steps: Option<u128>,
    /// Steps in the cost of one local reference.
    pub scale: u64,
}

impl Amount {
    /// The amount divided by a count, in units of a local reference; `None` if it is infinite or
    /// the count is 0.
    #[must_use]
    pub fn per(self, count: u64) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean is a rounded figure")]
        let mean = |steps: u128| steps as f64 / (self.scale as f64 * count as f64);
        self.steps.filter(|_| count > 0).map(mean)
    }
}

/// An integer where the amount is whole, else a decimal number; infinite amounts are `null`.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scale = u128::from(self.scale);
        match self.steps {
            None => serializer.serialize_none(),
            Some(steps) if steps % scale == 0 => match u64::try_from(steps / scale) {
                Ok(whole) => serializer.serialize_u64(whole),
                Err(_) => serializer.serialize_u128(steps / scale),
            },
            Some(_) => self.per(1).serialize(serializer),
        }
    }
}

/// The parts of a cost, five in either model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    names: &'static [&'static str; 5],
    amounts: [Amount; 5],
}

/// Parts on a machine with prices r, R, g, G.
const PLACEMENT: [&str; 5] = ["local", "remote", "global", "remote_moves", "global_moves"];

/// Parts on a page-coherence machine: the columns of Markatos and Chronaki's tables.
const PAGE_COHERENCE: [&str; 5] = ["local", "remote", "replication", "multicast", "os"];

impl Cost {
    /// The cost on any machine.
    #[must_use]
    pub fn on(tally: &Tally, list: &PriceList) -> Self {
        match list {
            PriceList::Placement(prices) => Self::of(tally, prices),
            PriceList::PageCoherence(events) => Self::of_events(tally, events),
        }
    }

    /// Source: Bolosky equations 4.1 and 4.2, with the number of each kind of event already summed.
    #[must_use]
    pub fn of(tally: &Tally, prices: &Prices) -> Self {
        let part = |count: u64, price: Option<u64>| Amount {
            steps: match (count, price) {
                (0, _) => Some(0),
                (_, None) => None,
                (_, Some(price)) => Some(u128::from(count) * u128::from(price)),
            },
            scale: prices.scale,
        };
        let at_own_copy = tally.local_references() + tally.replicating_reads;
        Self {
            names: &PLACEMENT,
            amounts: [
                part(at_own_copy, Some(prices.scale)),
                part(tally.remote_references(), prices.remote_reference),
                part(tally.global_references(), prices.global_reference),
                part(tally.remote_moves, prices.remote_move),
                part(tally.global_moves, prices.global_move),
            ],
        }
    }

    /// Source: Markatos and Chronaki, table 1, accounted as in their appendix: a replication counts
    /// without the read that makes it, and a remote write of an update policy as a multicast.
    #[must_use]
    pub fn of_events(tally: &Tally, events: &EventPrices) -> Self {
        let times = |count: u64, price: u64| u128::from(count) * u128::from(price);
        let amount = |steps| Amount { steps: Some(steps), scale: events.local };
        let remote_writes = tally.remote_writes - tally.forwarded_writes;
        Self {
            names: &PAGE_COHERENCE,
            amounts: [
                amount(times(tally.local_references(), events.local)),
                amount(
                    times(tally.remote_reads, events.remote_read)
                        + times(remote_writes, events.remote_write),
                ),
                amount(times(tally.replications, events.replication)),
                amount(
                    times(tally.update_packets, events.update_packet)
                        + times(tally.forwarded_writes, events.remote_write),
                ),
                amount(times(tally.faults, events.os_entry)),
            ],
        }
    }

    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> Amount {
        let steps = self.amounts.iter().try_fold(0u128, |sum, part| Some(sum + part.steps?));
        Amount { steps, scale: self.amounts[0].scale }
    }

    /// The parts with their names in results.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, Amount); 5] {
        std::array::from_fn(|i| (self.names[i], self.amounts[i]))
    }
}

/// Network packets, each an address and a word.
///
/// Source: Markatos and Chronaki, the traffic columns of their appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkPackets {
    /// Of replications.
    pub replication: u128,
    /// Of remote references.
    pub remote: u128,
    /// Of updates.
    pub multicast: u128,
}

impl NetworkPackets {
    /// The packets that these events send.
    #[must_use]
    pub fn of(tally: &Tally, events: &EventPrices) -> Self {
        let times = |count: u64, packets: u64| u128::from(count) * u128::from(packets);
        Self {
            replication: times(tally.replications, events.replication_packets),
            remote: times(tally.remote_reads, events.remote_read_packets)
                + times(tally.remote_writes, events.remote_write_packets),
            multicast: u128::from(tally.update_packets),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_prices_cost_nothing_until_they_are_used() {
        let prices = Prices::whole(None, Some(184), None, None);
        let tally = Tally { local_reads: 10, remote_moves: 2, ..Tally::default() };
        assert_eq!(Cost::of(&tally, &prices).total().steps, Some(10 + 2 * 184));
        let remote = Tally { remote_reads: 1, ..tally };
        assert_eq!(Cost::of(&remote, &prices).total().steps, None);
        assert_eq!(Cost::of(&remote, &prices).total().per(11), None);
    }
}
