//! Which range of the metadata each address belongs to.

use homenode_trace::{AddressRange, OwnedInterval, owned_intervals};

/// Consecutive addresses that belong to one range of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSegment {
    /// The first address.
    pub first: u64,
    /// The last address, so that the end of the address space can be included.
    pub last: u64,
    /// Number of the object, see [`crate::Names::object_of`].
    pub group: usize,
    /// Start of the range.
    pub start: u64,
    /// Number of the type of its elements, from 1, and their distance, as in the metadata.
    pub(crate) layout: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentCursor<'a> {
    segments: &'a [ObjectSegment],
    after: usize,
}

impl<'a> SegmentCursor<'a> {
    /// A cursor over segments in order of address.
    pub(crate) fn new(segments: &'a [ObjectSegment]) -> Self {
        Self { segments, after: 0 }
    }

    pub(crate) fn at(&mut self, addr: u64) -> Option<&'a ObjectSegment> {
        let begins_after = |at: usize| self.segments.get(at).is_none_or(|s| addr < s.first);
        let before = |after: usize| after.checked_sub(1).and_then(|at| self.segments.get(at));
        let begun = |after: usize| before(after).is_none_or(|s| s.first <= addr);
        let found = |after| after <= self.segments.len() && begun(after) && begins_after(after);
        if !found(self.after) {
            let next = self.after + 1;
            let search = || self.segments.partition_point(|segment| segment.first <= addr);
            self.after = if found(next) { next } else { search() };
        }
        before(self.after).filter(|segment| addr <= segment.last)
    }
}

/// The segments of all objects, in order of address; adjacent ones of one range are joined.
pub(crate) fn segments(ranges: &[AddressRange], groups: &[usize]) -> Vec<ObjectSegment> {
    let mut found: Vec<ObjectSegment> = Vec::new();
    for OwnedInterval { first, last, range, start } in owned_intervals(ranges) {
        let group = groups[range];
        match found.last_mut() {
            Some(s) if s.start == start && s.group == group && s.last.wrapping_add(1) == first => {
                s.last = last;
            }
            Some(_) | None => {
                let layout = (ranges[range].layout, ranges[range].stride);
                found.push(ObjectSegment { first, last, group, start, layout });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_finds_what_a_search_finds() {
        let segment =
            |(first, last)| ObjectSegment { first, last, group: 1, start: 0, layout: (0, 0) };
        let segments = [(4, 7), (8, 8), (20, 29), (22, 24), (u64::MAX, u64::MAX)].map(segment);
        let mut cursor = SegmentCursor::new(&segments);
        let ascending = (0..40).chain([u64::MAX, 0, 23, 5, 29, u64::MAX]);
        for addr in ascending {
            let after = segments.partition_point(|segment| segment.first <= addr);
            let expected = segments[..after].last().filter(|segment| addr <= segment.last);
            assert_eq!(cursor.at(addr), expected, "{addr}");
        }
        assert_eq!(SegmentCursor::new(&[]).at(3), None);
    }
}
