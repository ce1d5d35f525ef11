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
