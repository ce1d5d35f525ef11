//! Cost and number of moves in one integer, so that one comparison decides by cost and then by
//! moves.

use std::ops::{Add, Sub};

use homenode_machine::Prices;

/// Prices of one block's recurrence, as keys: cost times 2^`shift`, plus moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPrices {
    /// Bits for the number of moves; 2^`shift` exceeds the number of references, and no placement
    /// considered moves more often than that.
    pub(crate) shift: u32,
    pub(crate) one: i128,
    /// A remote reference. An infinite price is replaced by one that is never worth paying.
    pub(crate) remote: i128,
    /// A move, which counts as one. An infinite price is replaced likewise.
    pub(crate) moved: i128,
    /// The number of remote references that cost more than a copy.
    pub(crate) copy_from: u64,
}

impl KeyPrices {
    /// Keys for a block with this many references; `None` if neither remote reference nor move is
    /// possible, or a remote reference is cheaper than a local one.
    ///
    /// Finite replacements: with r infinite, 2R + 2 is never paid, because moving there and back
    /// costs 2R + 1 at most. With R infinite, a price above the cost of all references together is
    /// never paid.
    pub(crate) fn new(prices: &Prices, references: u64) -> Option<Self> {
        let one = i128::from(prices.scale);
        let (remote, moved) = match (prices.remote_reference, prices.remote_move) {
            (None, None) => return None,
            (Some(r), Some(moved)) => (i128::from(r), i128::from(moved)),
            (None, Some(moved)) => (2 * i128::from(moved) + 2 * one, i128::from(moved)),
            (Some(r), None) => {
                let r = i128::from(r);
                (r, i128::from(references) * r + one)
            }
        };
        if remote < one {
            return None;
        }
        let shift = u64::BITS - references.leading_zeros() + 1;
        let more = remote - one;
        let copy_from = if more == 0 { u64::MAX } else { copies_from(moved, more) };
        Some(Self {
            copy_from,
            shift,
            one: one << shift,
            remote: remote << shift,
            moved: (moved << shift) + 1,
        })
    }

    /// Key of the cost of `count` remote references beyond local ones, at most one move: a
    /// processor either refers remotely or makes a copy.
    pub(crate) fn extra(&self, count: u64) -> i128 {
        if count >= self.copy_from {
            self.moved
        } else {
            i128::from(count) * (self.remote - self.one)
        }
    }

    /// Whether `count` references justify a copy of their own.
    pub(crate) fn copies(&self, count: u64) -> bool {
        count >= self.copy_from
    }
}

/// The least count of references whose extra cost exceeds that of a move.
fn copies_from(moved: i128, more: i128) -> u64 {
    u64::try_from(moved / more).map_or(u64::MAX, |count| count.saturating_add(1))
}

/// An integer wide enough for the keys of one block.
pub(crate) trait CostKey: Copy + Ord + Add<Output = Self> + Sub<Output = Self> {
    /// Larger than any key of an optimum, with room to add a few.
    const FAR: Self;
    /// The key; values that do not fit become [`CostKey::FAR`].
    fn of(value: i128) -> Self;
    fn wide(self) -> i128;
    /// The key of `count` times the cost; the product must not exceed [`CostKey::FAR`].
    fn times(self, count: u64) -> Self;
    fn step(yes: bool) -> Self;
}

impl CostKey for i64 {
    const FAR: Self = 1 << 61;

    fn of(value: i128) -> Self {
        Self::try_from(value).map_or(Self::FAR, |v| v.min(Self::FAR))
    }

    fn wide(self) -> i128 {
        i128::from(self)
    }

    fn times(self, count: u64) -> Self {
        self * i64::try_from(count).unwrap_or(i64::MAX)
    }

    fn step(yes: bool) -> Self {
        Self::from(yes)
    }
}

impl CostKey for i128 {
    const FAR: Self = 1 << 125;

    fn of(value: i128) -> Self {
        value.min(Self::FAR)
    }

    fn wide(self) -> i128 {
        self
    }

    fn times(self, count: u64) -> Self {
        self * i128::from(count)
    }

    fn step(yes: bool) -> Self {
        Self::from(yes)
    }
}
