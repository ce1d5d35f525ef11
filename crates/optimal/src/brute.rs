//! The slow oracle: exhaustive search over all location sets, straight from equations 4.1 and 4.2.
//!
//! It uses neither read-runs nor a recurrence over single places: at every reference it tries every
//! change from one non-empty subset of the places to another. Cost: O(4^places) per reference.

use homenode_base::ProcId;
use homenode_machine::Prices;

/// One reference to the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockReference {
    /// The processor that makes it.
    pub processor: ProcId,
    /// Whether it writes.
    pub write: bool,
}

/// A cost and a number of moves; infinite if `None`.
pub type CostAndMoves = Option<(u128, u64)>;

/// Sets of places as bits: bit p is processor p, bit `processors` is global memory.
pub type PlaceBits = u32;

/// A machine small enough to search.
#[derive(Clone, Copy, Debug)]
pub struct SearchableMachine {
    /// Number of processors, at most 8.
    pub processors: u32,
    /// Prices; global memory is a place if they have it.
    pub prices: Prices,
}

impl SearchableMachine {
    fn global(&self) -> PlaceBits {
        if self.prices.has_global() { 1 << self.processors } else { 0 }
    }

    /// Equation 4.1: what one reference costs with the block at `places`.
    #[must_use]
    pub fn reference(&self, places: PlaceBits, processor: ProcId) -> Option<u128> {
        let price = if places >> processor & 1 != 0 {
            Some(self.prices.scale)
        } else if places & self.global() != 0 {
            self.prices.global_reference
        } else {
            self.prices.remote_reference
        };
        price.map(u128::from)
    }

    /// Equation 4.2: what the change from one set to another costs.
    #[must_use]
    pub fn change(&self, before: PlaceBits, after: PlaceBits) -> CostAndMoves {
        let added = u64::from((after & !before).count_ones());
        let price = if (before | after) & self.global() != 0 {
            self.prices.global_move
        } else {
            self.prices.remote_move
        };
        match price {
            _ if added == 0 => Some((0, 0)),
            Some(price) => Some((u128::from(price) * u128::from(added), added)),
            None => None,
        }
    }

    /// Cost of a given placement: one set of places per reference, the first of them preceded by
    /// a free single place. `None` if it is infinite or breaks the coherence rule.
    #[must_use]
    pub fn cost(&self, trace: &[BlockReference], placement: &[PlaceBits]) -> CostAndMoves {
        let mut sum = (0u128, 0u64);
        let mut before = 1 << placement.first()?.trailing_zeros();
        for (reference, &places) in trace.iter().zip(placement) {
            if places == 0 || reference.write && places.count_ones() != 1 {
                return None;
            }
            let (cost, moves) = self.change(before, places)?;
            sum = (sum.0 + cost + self.reference(places, reference.processor)?, sum.1 + moves);
            before = places;
        }
        Some(sum)
    }

    /// The least cost of any placement, and the least moves at that cost, starting from any single
    /// place for free. With `replicate` unset all references count as writes.
    #[must_use]
    pub fn optimum(&self, trace: &[BlockReference], replicate: bool) -> CostAndMoves {
        let sets: PlaceBits = (1 << self.processors) * if self.global() == 0 { 1 } else { 2 };
        let mut best: Vec<CostAndMoves> =
            (0..sets).map(|s| (s.count_ones() == 1).then_some((0, 0))).collect();
        for reference in trace {
            let single = reference.write || !replicate;
            let next = (0..sets).map(|after| {
                if after == 0 || single && after.count_ones() != 1 {
                    return None;
                }
                let price = self.reference(after, reference.processor)?;
                let costs = (1..sets).zip(&best[1..]).filter_map(|(before, value)| {
                    let ((cost, moves), change) = ((*value)?, self.change(before, after)?);
                    Some((cost + change.0 + price, moves + change.1))
                });
                costs.min()
            });
            best = next.collect();
        }
        best.into_iter().flatten().min()
    }
}
