//! Who owns a word: the range of the metadata in which it lies, or lay before it moved.

use std::collections::BinaryHeap;

use homenode_base::BlockSize;

use crate::model::{AddressRange, Metadata};

/// A stretch of addresses with one owner.
#[derive(Clone, Copy, Debug)]
struct Segment {
    first: u64,
    last: u64,
    /// Index and start of the range: the one that begins last, of those that begin together the
    /// one listed last.
    range: usize,
    start: u64,
    /// Where the words were before an earlier re-alignment moved them, if one did.
    from: Option<u64>,
}

/// The owners of all addresses that have one.
pub(super) struct Owners(Vec<Segment>);

impl Owners {
    pub(super) fn new(metadata: &Metadata) -> Self {
        let mut segments = flatten(&metadata.ranges);
        let named = Self(segments.clone());
        segments.extend(metadata.moved.iter().filter_map(|stretch| {
            let (range, _) = named.of(stretch.from / BlockSize::WORD_BYTES)?;
            let last = stretch.start.saturating_add(stretch.size.checked_sub(1)?);
            let (first, from) = (stretch.start, Some(stretch.from));
            Some(Segment { first, last, range, start: first, from })
        }));
        segments.sort_by_key(|segment| segment.first);
        Self(segments)
    }

    /// Index of the range that owns a word, and an address of it that the range owns. A range owns
    /// a word with its first byte in it, or one in which the range begins.
    pub(super) fn of(&self, word: u64) -> Option<(usize, u64)> {
        let first = word * BlockSize::WORD_BYTES;
        let after = self.0.partition_point(|segment| segment.first < first + BlockSize::WORD_BYTES);
        let within = self.0[..after].iter().rev().take_while(|segment| segment.last >= first);
        let owner = within.max_by_key(|segment| (segment.start, segment.range))?;
        Some((owner.range, owner.from.unwrap_or_else(|| owner.first.max(first))))
    }
}

/// Cuts ranges, which may overlap, into stretches with one owner each, in order.
fn flatten(ranges: &[AddressRange]) -> Vec<Segment> {
    let last_of = |range: &AddressRange| range.start.saturating_add(range.size - 1);
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| ranges[i].size > 0).collect();
    order.sort_by_key(|&i| (ranges[i].start, i));
    // The owner can change only where a range begins or just behind the end of one.
    let mut points: Vec<u64> = order.iter().map(|&i| ranges[i].start).collect();
    points.extend(order.iter().filter_map(|&i| last_of(&ranges[i]).checked_add(1)));
    points.sort_unstable();
    points.dedup();
    let mut waiting = order.into_iter().peekable();
    let mut open: BinaryHeap<(u64, usize)> = BinaryHeap::new();
    let mut segments = Vec::new();
    for (k, &first) in points.iter().enumerate() {
        while let Some(i) = waiting.next_if(|&i| ranges[i].start <= first) {
            open.push((ranges[i].start, i));
        }
        while open.peek().is_some_and(|&(_, i)| last_of(&ranges[i]) < first) {
            open.pop();
        }
        let Some(&(start, range)) = open.peek() else { continue };
        let last = points.get(k + 1).map_or(u64::MAX, |next| next - 1);
        segments.push(Segment { first, last, range, start, from: None });
    }
    segments
}
