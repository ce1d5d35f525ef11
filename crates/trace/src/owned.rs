//! The range of the metadata that owns an address where ranges overlap.

use std::collections::BinaryHeap;

use crate::names::{AddressRange, RangeKind};

/// Consecutive addresses that belong to one range of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedInterval {
    /// The first address.
    pub first: u64,
    /// The last address, so that the end of the address space can be included.
    pub last: u64,
    /// Index of the owner: the range that begins last (a heap block within a mapping); of those
    /// that begin together one that is not a mapping, if any (the first heap block); of those the
    /// one listed last (memory that was freed and allocated again).
    pub range: usize,
    /// Start of the range.
    pub start: u64,
}

/// Cuts ranges, which may overlap, into intervals with one owner each, in order of address.
/// Adjacent intervals may have the same owner. Cost: O(n log n) for n ranges.
#[must_use]
pub fn owned_intervals(ranges: &[AddressRange]) -> Vec<OwnedInterval> {
    let last_of = |range: &AddressRange| range.start.saturating_add(range.size - 1);
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| ranges[i].size > 0).collect();
    order.sort_by_key(|&i| (ranges[i].start, i));
    // The owner can change only where a range begins or ends.
    let mut points: Vec<u64> = order.iter().map(|&i| ranges[i].start).collect();
    points.extend(order.iter().filter_map(|&i| last_of(&ranges[i]).checked_add(1)));
    points.sort_unstable();
    points.dedup();
    let mut waiting = order.into_iter().peekable();
    let mut open: BinaryHeap<(u64, bool, usize)> = BinaryHeap::new();
    let mut intervals = Vec::new();
    for (k, &first) in points.iter().enumerate() {
        while let Some(i) = waiting.next_if(|&i| ranges[i].start <= first) {
            open.push((ranges[i].start, ranges[i].kind != RangeKind::Mapping, i));
        }
        while open.peek().is_some_and(|&(_, _, i)| last_of(&ranges[i]) < first) {
            open.pop();
        }
        let Some(&(start, _, range)) = open.peek() else { continue };
        let last = points.get(k + 1).map_or(u64::MAX, |next| next - 1);
        intervals.push(OwnedInterval { first, last, range, start });
    }
    intervals
}
