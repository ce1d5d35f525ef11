//! From counts to cost: equations 4.1 and 4.2 of the thesis.

use homenode_machine::Prices;
use homenode_stats::Tally;
use serde::ser::{Serialize, Serializer};

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

/// The parts of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// References at price 1.
    pub local: Amount,
    /// References at price r.
    pub remote: Amount,
    /// References at price g.
    pub global: Amount,
    /// Moves at price R.
    pub remote_moves: Amount,
    /// Moves at price G.
    pub global_moves: Amount,
}

impl Cost {
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
        Self {
            local: part(tally.local_references(), Some(prices.scale)),
            remote: part(tally.remote_references(), prices.remote_reference),
            global: part(tally.global_references(), prices.global_reference),
            remote_moves: part(tally.remote_moves, prices.remote_move),
            global_moves: part(tally.global_moves, prices.global_move),
        }
    }

    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> Amount {
        let parts = self.parts();
        let steps = parts.iter().try_fold(0u128, |sum, (_, part)| Some(sum + part.steps?));
        Amount { steps, scale: self.local.scale }
    }

    /// The parts with their names in results.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, Amount); 5] {
        [
            ("local", self.local),
            ("remote", self.remote),
            ("global", self.global),
            ("remote_moves", self.remote_moves),
            ("global_moves", self.global_moves),
        ]
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
