//! The owner of a word: the range of the metadata in which it lies, or lay before it moved.

use homenode_base::BlockSize;
use homenode_trace::{Metadata, OwnedInterval, owned_intervals};

#[derive(Clone, Copy, Debug)]
struct OwnedSegment {
    owned: OwnedInterval,
    from: Option<u64>,
}

pub(super) struct Owners(Vec<OwnedSegment>);

impl Owners {
    pub(super) fn new(metadata: &Metadata) -> Self {
        let intervals = owned_intervals(&metadata.ranges).into_iter();
        let mut segments: Vec<OwnedSegment> =
            intervals.map(|owned| OwnedSegment { owned, from: None }).collect();
        let named = Self(segments.clone());
        segments.extend(metadata.moved.iter().filter_map(|moved| {
            let (range, _) = named.of(moved.from / BlockSize::WORD_BYTES)?;
            let (first, start) = (moved.start, moved.start);
            let last = first.saturating_add(moved.size.checked_sub(1)?);
            let owned = OwnedInterval { first, last, range, start };
            Some(OwnedSegment { owned, from: Some(moved.from) })
        }));
        segments.sort_by_key(|segment| segment.owned.first);
        Self(segments)
    }

    /// Index of the range that owns a word, and an address of it that the range owns. A range owns
    /// a word with its first byte in it, or one in which the range begins.
    pub(super) fn of(&self, word: u64) -> Option<(usize, u64)> {
        let first = word * BlockSize::WORD_BYTES;
        let end = first + BlockSize::WORD_BYTES;
        let after = self.0.partition_point(|segment| segment.owned.first < end);
        let before = self.0[..after].iter().rev();
        let within = before.take_while(|segment| segment.owned.last >= first);
        let owner = within.max_by_key(|segment| (segment.owned.start, segment.owned.range))?;
        Some((owner.owned.range, owner.from.unwrap_or_else(|| owner.owned.first.max(first))))
    }
}
