//! The whole curve of optimal cost against one price: exact pieces, not samples.
//!
//! A placement costs a straight line in each price, and the optimum is the least of finitely many
//! lines: piecewise linear, concave and non-decreasing. The counts at one price give the tangent
//! there. Where two tangents meet, the curve either passes through that point, which is then a
//! break, or runs below it, and the tangent there is a third line between the two.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use homenode_machine::Prices;
use homenode_placement::policy::{PlacementSetup, PolicyError};
use homenode_placement::{Block, Tally};

use crate::optimum::Optimum;
use crate::ratio::{Ratio, gcd};

/// The price that varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// r.
    RemoteReference,
    /// R.
    RemoteMove,
    /// g.
    GlobalReference,
    /// G.
    GlobalMove,
}

impl Axis {
    /// All prices, with their letters in the thesis.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::RemoteReference, "r"),
        (Self::RemoteMove, "R"),
        (Self::GlobalReference, "g"),
        (Self::GlobalMove, "G"),
    ];

    fn index(self) -> usize {
        match self {
            Self::RemoteReference => 1,
            Self::RemoteMove => 2,
            Self::GlobalReference => 3,
            Self::GlobalMove => 4,
        }
    }
}

/// How often a placement pays each price: local references, r, R, g, G.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceCounts(pub [i64; 5]);

impl PriceCounts {
    fn of(tally: &Tally) -> Self {
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Self([
            count(tally.local_references()),
            count(tally.remote_references()),
            count(tally.remote_moves),
            count(tally.global_references()),
            count(tally.global_moves),
        ])
    }

    /// Their cost with one price replaced, in units of a local reference; `None` if an infinite
    /// price is paid, or the fraction does not fit.
    #[must_use]
    pub fn cost(self, base: &Prices, axis: Axis, at: Ratio) -> Option<Ratio> {
        let prices = prices_at(base, axis, at)?;
        let mut sum = 0u128;
        for (count, price) in self.0.into_iter().zip(each_price(&prices)) {
            if count != 0 {
                sum += u128::try_from(count).ok()? * u128::from(price?);
            }
        }
        Ratio::new(sum, prices.scale.into())
    }

    /// How often one price is paid.
    #[must_use]
    pub fn slope(self, axis: Axis) -> i64 {
        self.0[axis.index()]
    }

    fn less(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl AddAssign for PriceCounts {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}

/// An interval of one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Which price.
    pub axis: Axis,
    /// Its least value, in units of a local reference.
    pub from: Ratio,
    /// Its greatest.
    pub to: Ratio,
}

/// Optimal cost against one price. Curves of several blocks add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    /// Counts of an optimal placement from the beginning of the interval to the first break.
    pub first: PriceCounts,
    /// Where they change within the interval, and by how much.
    pub breaks: BTreeMap<Ratio, PriceCounts>,
    /// Whether no placement is finite.
    pub infinite: bool,
}

/// A part of the interval in which one line is the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePiece {
    /// Where it begins.
    pub from: Ratio,
    /// Where it ends.
    pub to: Ratio,
    /// Counts of a placement that is optimal from beginning to end.
    pub counts: PriceCounts,
}

impl Curve {
    /// The pieces of the curve, in order.
    #[must_use]
    pub fn pieces(&self, interval: Interval) -> Vec<LinePiece> {
        let mut pieces = Vec::with_capacity(self.breaks.len() + 1);
        let (mut from, mut counts) = (interval.from, self.first);
        for (&at, &change) in &self.breaks {
            pieces.push(LinePiece { from, to: at, counts });
            from = at;
            counts += change;
        }
        pieces.push(LinePiece { from, to: interval.to, counts });
        pieces
    }
}

impl AddAssign for Curve {
    fn add_assign(&mut self, other: Self) {
        self.first += other.first;
        self.infinite |= other.infinite;
        for (at, change) in other.breaks {
            *self.breaks.entry(at).or_default() += change;
        }
    }
}

/// Why there is no curve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// The recurrences do not cover a price of the interval.
    #[error("at {letter} = {at}: {problem}")]
    Policy {
        /// The price that varies.
        letter: &'static str,
        /// Its value.
        at: Ratio,
        /// The problem.
        problem: PolicyError,
    },
    /// The interval is empty.
    #[error("{letter} from {from} to {to}: the interval must not be empty")]
    Empty {
        /// The price that varies.
        letter: &'static str,
        /// Its beginning.
        from: Ratio,
        /// Its end.
        to: Ratio,
    },
    /// Numbers beyond 64 bits.
    #[error("the prices have too many decimals for exact breaks: use fewer")]
    TooFine,
}

/// Computes curves, block after block.
pub struct CurveSolver {
    optimum: Optimum,
    base: Prices,
    interval: Interval,
}

impl CurveSolver {
    /// A curve on the machine of the setup, with one of its prices replaced by the interval.
    ///
    /// # Errors
    /// When the recurrences do not cover the interval. Their conditions hold in it if they hold at
    /// both ends.
    pub fn new(
        setup: &PlacementSetup,
        replicate: bool,
        interval: Interval,
    ) -> Result<Self, CurveError> {
        let Interval { axis, from, to } = interval;
        let letter = Axis::ALL.iter().find(|a| a.0 == axis).map_or("", |a| a.1);
        if from >= to {
            return Err(CurveError::Empty { letter, from, to });
        }
        let base = setup.prices.unwrap_or(Prices::whole(None, None, None, None));
        let fail = |at| move |problem| CurveError::Policy { letter, at, problem };
        let at = |price: Ratio| {
            let prices = prices_at(&base, axis, price).ok_or(CurveError::TooFine)?;
            let setup =
                PlacementSetup { prices: Some(prices), global: prices.has_global(), ..*setup };
            Optimum::new(&setup, replicate).map_err(fail(price))
        };
        at(to)?;
        Ok(Self { optimum: at(from)?, base, interval })
    }

    /// The curve of one block.
    ///
    /// # Errors
    /// When a break is too fine a fraction.
    pub fn block(&mut self, block: Block<'_>) -> Result<Curve, CurveError> {
        let Interval { from, to, .. } = self.interval;
        let low = (from, self.tangent(block, from)?);
        let high = (to, self.tangent(block, to)?);
        let infinite = self.is_infinite(low.1);
        let mut curve = Curve { first: low.1, infinite, ..Curve::default() };
        let mut now = curve.first;
        // Pairs of tangents between which the curve is still unknown, from high to low. There are
        // none if the cost is infinite, as it then is infinite at every price of the interval.
        let mut open = if infinite { Vec::new() } else { vec![(low, high)] };
        while let Some((low, high)) = open.pop() {
            let Some(meet) = self.meet(low.1, high.1)? else { continue };
            if meet <= from {
                // Both are tangents at the beginning; the flatter one is the curve beyond it.
                (curve.first, now) = (high.1, high.1);
            } else if meet < to {
                let between = (meet, self.tangent(block, meet)?);
                if self.meets_at(between.1, low.1, meet) {
                    curve.breaks.insert(meet, high.1.less(now));
                    now = high.1;
                } else {
                    open.push((between, high));
                    open.push((low, between));
                }
            }
        }
        Ok(curve)
    }

    fn is_infinite(&self, counts: PriceCounts) -> bool {
        let mut each = counts.0.into_iter().zip(each_price(&self.base)).enumerate();
        let axis = self.interval.axis.index();
        each.any(|(i, (count, price))| i != axis && count > 0 && price.is_none())
    }

    /// The tangent at a price: the counts of an optimal placement.
    fn tangent(&mut self, block: Block<'_>, at: Ratio) -> Result<PriceCounts, CurveError> {
        let prices = prices_at(&self.base, self.interval.axis, at).ok_or(CurveError::TooFine)?;
        let references = block.runs.iter().map(|run| run.references()).sum::<u64>();
        let bits = |n: u64| u64::BITS - n.leading_zeros();
        let dearest = each_price(&prices).into_iter().flatten().max().map_or(0, bits);
        // A key is a price times a count, shifted by the bits of a number of moves: twice the bits
        // of the references, which must stay clear of 128.
        if dearest + 2 * bits(references) > 120 {
            return Err(CurveError::TooFine);
        }
        self.optimum.prices = prices;
        Ok(PriceCounts::of(&self.optimum.tally(block)))
    }

    fn meet(&self, low: PriceCounts, high: PriceCounts) -> Result<Option<Ratio>, CurveError> {
        let axis = self.interval.axis;
        let slope = low.slope(axis) - high.slope(axis);
        let rest = fixed_cost(&self.base, axis, high.less(low));
        if slope <= 0 {
            return Ok(None);
        }
        let scale = u128::from(self.base.scale);
        let slope = u128::try_from(slope).unwrap_or(0) * scale;
        let rest = u128::try_from(rest).unwrap_or(0);
        Ratio::new(rest, slope).map(Some).ok_or(CurveError::TooFine)
    }

    fn meets_at(&self, one: PriceCounts, other: PriceCounts, at: Ratio) -> bool {
        let axis = self.interval.axis;
        let difference = one.less(other);
        let slope = i128::from(difference.slope(axis)) * i128::from(self.base.scale);
        let rest = fixed_cost(&self.base, axis, difference);
        slope * i128::from(at.numerator()) + rest * i128::from(at.denominator()) == 0
    }
}

fn each_price(prices: &Prices) -> [Option<u64>; 5] {
    [
        Some(prices.scale),
        prices.remote_reference,
        prices.remote_move,
        prices.global_reference,
        prices.global_move,
    ]
}

/// The cost of counts without the price that varies, in steps of 1/scale. The counts pay no
/// infinite price.
fn fixed_cost(prices: &Prices, axis: Axis, counts: PriceCounts) -> i128 {
    let mut sum = 0;
    for (i, (count, price)) in counts.0.into_iter().zip(each_price(prices)).enumerate() {
        if i != axis.index() {
            sum += i128::from(count) * i128::from(price.unwrap_or(0));
        }
    }
    sum
}

/// The prices with one replaced, in steps fine enough for it; `None` if these are too fine.
fn prices_at(base: &Prices, axis: Axis, at: Ratio) -> Option<Prices> {
    let below = u128::from(at.denominator());
    let mut wide = each_price(base).map(|price| price.map(|p| u128::from(p) * below));
    wide[axis.index()] = Some(u128::from(at.numerator()) * u128::from(base.scale));
    let divisor = wide.iter().flatten().fold(0, |d, &p| gcd(p, d));
    let mut small = [None; 5];
    for (to, from) in small.iter_mut().zip(wide) {
        *to = match from {
            None => None,
            Some(p) => Some(u64::try_from(p / divisor).ok().filter(|&p| p < 1 << 62)?),
        };
    }
    let [scale, remote_reference, remote_move, global_reference, global_move] = small;
    Some(Prices { scale: scale?, remote_reference, remote_move, global_reference, global_move })
}
