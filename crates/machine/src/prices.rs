//! The price list of one machine at one block size, in exact integers.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::decimal::{Decimal, ONE};

/// Largest scaled price. With at most 2^40 references in a block every cost, shifted to make room
/// for a count of moves, stays within 127 bits.
pub(crate) const SCALED_MAX: u64 = 1 << 40;

/// The prices of a machine, in units of a local reference, times [`Prices::scale`].
///
/// Source: Bolosky §4.1.1. `None` is an infinite price: the operation does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prices {
    /// Power of ten, at most 10^6, that makes all prices integers. It is also the price of a local
    /// reference.
    pub scale: u64,
    /// r: a reference to a block in another processor's memory.
    pub remote_reference: Option<u64>,
    /// R: copying a block from another processor's memory.
    pub remote_move: Option<u64>,
    /// g: a reference to a block in global memory.
    pub global_reference: Option<u64>,
    /// G: copying a block when global memory holds it before or afterwards.
    pub global_move: Option<u64>,
}

/// A rule of thesis §4.1.1 that a price list breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, for instance `R > 2r`.
    pub rule: &'static str,
    prices: Prices,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not hold ({})", self.rule, self.prices)
    }
}

impl Prices {
    /// Prices that are integers without scaling; `None` is infinite.
    ///
    /// # Panics
    /// When a price is above 2^40.
    #[must_use]
    pub fn whole(r: Option<u64>, big_r: Option<u64>, g: Option<u64>, big_g: Option<u64>) -> Self {
        let all = [r, big_r, g, big_g];
        assert!(all.iter().flatten().all(|&p| p <= SCALED_MAX), "price above 2^40");
        Self {
            scale: 1,
            remote_reference: r,
            remote_move: big_r,
            global_reference: g,
            global_move: big_g,
        }
    }

    /// Scales decimal prices (r, R, g, G) by the smallest power of ten that makes all of them
    /// integers.
    pub(crate) fn from_decimals(prices: [Option<Decimal>; 4]) -> Result<Self, String> {
        let mut divisor = ONE;
        let divides = |d: u64| prices.iter().flatten().all(|p| p.millionths() % d == 0);
        while divisor > 1 && !divides(divisor) {
            divisor /= 10;
        }
        let scaled = prices.map(|p| p.map(|p| p.millionths() / divisor));
        if scaled.iter().flatten().any(|&p| p > SCALED_MAX) {
            return Err(format!(
                "a price with its decimals exceeds {SCALED_MAX} steps of 1/{}",
                ONE / divisor
            ));
        }
        let [remote_reference, remote_move, global_reference, global_move] = scaled;
        Ok(Self {
            scale: ONE / divisor,
            remote_reference,
            remote_move,
            global_reference,
            global_move,
        })
    }

    /// Whether the machine has a memory that belongs to no processor.
    #[must_use]
    pub fn has_global(&self) -> bool {
        self.global_reference.is_some() || self.global_move.is_some()
    }

    /// The rules of thesis §4.1.1 these prices break, in a fixed order.
    ///
    /// Rules about an infinite price are skipped where the thesis has machines that need it:
    /// `R > 2r` when r is infinite (CC, DSM), `r >= g` when g is, `R <= 2G` when R or G is
    /// ("if blocks can only be loaded from main memory, then R is also infinite").
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let one = Some(self.scale);
        let above = |p: Option<u64>, floor: Option<u64>, times: u64| match (p, floor) {
            (Some(p), Some(floor)) => p > times * floor,
            (None | Some(_), None) | (None, Some(_)) => true,
        };
        let [r, big_r] = [self.remote_reference, self.remote_move];
        let [g, big_g] = [self.global_reference, self.global_move];
        let not_cheaper = match (r, g) {
            (Some(r), Some(g)) => r >= g,
            (None, Some(_)) | (None | Some(_), None) => true,
        };
        let not_dearer = match (big_r, big_g) {
            (Some(big_r), Some(big_g)) => big_r <= 2 * big_g,
            (None, Some(_)) | (None | Some(_), None) => true,
        };
        let rules = [
            ("r > 1", above(r, one, 1)),
            ("R > 2r", above(big_r, r, 2)),
            ("g > 1", above(g, one, 1)),
            ("G > 2g", above(big_g, g, 2)),
            ("r >= g", not_cheaper),
            ("R <= 2G", not_dearer),
        ];
        let broken = rules.iter().filter(|(_, holds)| !holds);
        broken.map(|&(rule, _)| Violation { rule, prices: *self }).collect()
    }

    /// Whether a cost-minimising policy makes the same decisions at both price lists: their prices
    /// above that of a local reference are proportional.
    ///
    /// Source: Bolosky §4.1.5, the s-theorem. The cost of a placement is one for each reference,
    /// which no decision changes, plus a remainder that is proportional to the factor; so the order
    /// of two placements by cost does not change, and ties stay ties. For example, a machine
    /// without remote references has the same optimum for any cost of moves.
    #[must_use]
    pub fn decide_like(&self, other: &Self) -> bool {
        let beyond = |p: &Self| {
            let scale = i128::from(p.scale);
            let more = |price: Option<u64>| price.map(|steps| i128::from(steps) - scale);
            let whole = |price: Option<u64>| price.map(i128::from);
            [
                more(p.remote_reference),
                whole(p.remote_move),
                more(p.global_reference),
                whole(p.global_move),
            ]
        };
        let pairs = beyond(self).into_iter().zip(beyond(other));
        let finite: Option<Vec<(i128, i128)>> = pairs
            .filter(|pair| *pair != (None, None))
            .map(|(a, b)| a.zip(b).filter(|(a, b)| a.signum() == b.signum()))
            .collect();
        let in_proportion = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            a.checked_mul(d).zip(b.checked_mul(c)).is_some_and(|(left, right)| left == right)
        };
        finite.is_some_and(|pairs| {
            pairs.iter().all(|&one| pairs.iter().all(|&other| in_proportion(one, other)))
        })
    }

    fn each(&self) -> [(&'static str, Option<u64>); 4] {
        [
            ("r", self.remote_reference),
            ("R", self.remote_move),
            ("g", self.global_reference),
            ("G", self.global_move),
        ]
    }
}

impl fmt::Display for Prices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.has_global() { 4 } else { 2 };
        for (i, (name, price)) in self.each().into_iter().take(shown).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={}", Scaled { price, scale: self.scale })?;
        }
        Ok(())
    }
}

/// A scaled price, shown in units of a local reference.
pub(crate) struct Scaled {
    pub(crate) price: Option<u64>,
    pub(crate) scale: u64,
}

impl fmt::Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(price) = self.price else { return f.write_str("inf") };
        let (whole, rest) = (price / self.scale, price % self.scale);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let width = usize::try_from(self.scale.ilog10()).unwrap_or(0);
        let fraction = format!("{rest:0width$}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

/// As `{"r":..,"R":..,"g":..,"G":..}` in units of a local reference; infinite prices are `null`.
impl Serialize for Prices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        for (name, price) in self.each() {
            match price {
                None => map.serialize_entry(name, &None::<u64>)?,
                Some(p) if p % self.scale == 0 => map.serialize_entry(name, &(p / self.scale))?,
                Some(p) => map.serialize_entry(name, &decimal_value(p, self.scale))?,
            }
        }
        map.end()
    }
}

/// The nearest double of a scaled price; exact to six decimals for all prices accepted.
pub(crate) fn decimal_value(price: u64, scale: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "prices stay below 2^41")]
    let value = price as f64 / scale as f64;
    value
}
