//! Keys with infinities counted apart: exact at every price, also where no placement is finite.

use std::ops::{Add, Sub};

/// The number of infinite operations, then cost and moves in one integer (see [`crate::key`]). An
/// ordered group, so that differences compare as the sums would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WideKey {
    pub(crate) infinite: i64,
    pub(crate) key: i128,
}

impl WideKey {
    pub(crate) const ZERO: Self = Self { infinite: 0, key: 0 };
}

pub(crate) trait RecurrenceValue:
    Copy + Default + Ord + Add<Output = Self> + Sub<Output = Self>
{
    fn of(value: WideKey) -> Option<Self>;
    fn wide(self) -> WideKey;
    fn times(self, count: u64) -> Self;
}

impl RecurrenceValue for WideKey {
    fn of(value: WideKey) -> Option<Self> {
        Some(value)
    }

    fn wide(self) -> WideKey {
        self
    }

    fn times(self, count: u64) -> Self {
        let infinite = self.infinite * i64::try_from(count).unwrap_or(i64::MAX);
        Self { infinite, key: self.key * i128::from(count) }
    }
}

impl RecurrenceValue for i64 {
    fn of(value: WideKey) -> Option<Self> {
        Self::try_from(value.key).ok().filter(|v| value.infinite == 0 && v.abs() < 1 << 61)
    }

    fn wide(self) -> WideKey {
        WideKey { infinite: 0, key: i128::from(self) }
    }

    fn times(self, count: u64) -> Self {
        self * Self::try_from(count).unwrap_or(Self::MAX)
    }
}

impl Add for WideKey {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { infinite: self.infinite + other.infinite, key: self.key + other.key }
    }
}

impl Sub for WideKey {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { infinite: self.infinite - other.infinite, key: self.key - other.key }
    }
}
