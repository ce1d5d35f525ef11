//! The addresses of a process in the mix.

use std::collections::BTreeMap;
use std::ops::Range;

use homenode_trace::EventKind;
use homenode_trace::events::{FIELDS, SHAPES, build, flatten};

pub(super) const PAGE_BYTES: u64 = 4096;
/// First address of the operating system, which is the same for all processes: the upper half of
/// the 48 bits that x86-64 and arm64 translate, sign-extended.
pub(super) const KERNEL_SPACE: u64 = 0xffff_8000_0000_0000;

pub(super) struct Relocation {
    pub(super) offset: u64,
    /// All addresses that are relocated are below.
    stride: u64,
    shared: Vec<Range<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelocatedPart {
    pub(super) start: u64,
    pub(super) size: u64,
    /// Whether it is not relocated, as it is shared by all processes.
    pub(super) stays: bool,
}

impl Relocation {
    pub(super) fn new(offset: u64, stride: u64, shared: &[Range<u64>]) -> Self {
        Self { offset, stride, shared: shared.to_vec() }
    }

    #[inline]
    pub(super) fn stays(&self, addr: u64) -> bool {
        addr >= KERNEL_SPACE || self.shared.iter().any(|range| range.contains(&addr))
    }

    #[inline]
    pub(super) fn address(&self, addr: u64) -> u64 {
        // The survey has checked that all addresses fit.
        if self.stays(addr) { addr } else { addr.wrapping_add(self.offset) }
    }

    /// A program counter in the mix. 0, which means none, and addresses beyond all memory stay.
    #[inline]
    pub(super) fn code(&self, pc: u64) -> u64 {
        if pc == 0 || pc >= self.stride { pc } else { self.address(pc) }
    }

    /// A range of addresses in the mix, cut where memory that stays begins and ends.
    pub(super) fn parts(&self, start: u64, size: u64) -> impl Iterator<Item = RelocatedPart> + '_ {
        let end = start.saturating_add(size);
        let (mut parts, mut at) = (Vec::new(), start);
        let mut push = |from: u64, to: u64, stays: bool| {
            let start = if stays { from } else { from.wrapping_add(self.offset) };
            parts.push(RelocatedPart { start, size: to - from, stays });
        };
        let overlaps = |range: &&Range<u64>| range.end > start && range.start < end && size > 0;
        for range in self.shared.iter().filter(overlaps) {
            if range.start > at {
                push(at, range.start, false);
                at = range.start;
            }
            let stop = range.end.min(end);
            push(at, stop, true);
            at = stop;
        }
        if at < end || size == 0 {
            push(at, end, self.stays(at));
        }
        parts.into_iter()
    }

    pub(super) fn event(&self, what: &EventKind) -> EventKind {
        if let EventKind::ThreadStart { stack_low, stack_high } = *what {
            // The end of a stack is one past its last byte.
            let low = self.address(stack_low);
            let bytes = stack_high.wrapping_sub(stack_low);
            return EventKind::ThreadStart { stack_low: low, stack_high: low.wrapping_add(bytes) };
        }
        let (tag, mut fields, text) = flatten(what);
        let shape = &SHAPES[usize::from(tag)];
        for (i, field) in fields.iter_mut().enumerate() {
            if shape.is_address(i) {
                *field = if shape.numbers[i] == "site" {
                    self.code(*field)
                } else {
                    self.address(*field)
                };
            }
        }
        build(tag, fields, text.to_owned()).unwrap_or_else(|| what.clone())
    }
}

/// First and last bytes of the addresses in an event.
pub(super) fn named(what: &EventKind) -> impl Iterator<Item = (u64, u64)> {
    let interval = |start: u64, size: u64| (start, start.saturating_add(size.saturating_sub(1)));
    let (tag, fields, _) = flatten(what);
    let shape = &SHAPES[usize::from(tag)];
    let has_size = shape.numbers.get(1) == Some(&"size");
    let size = move |i: usize| if has_size && i == 0 { fields[1] } else { 1 };
    (0..FIELDS).filter(|&i| shape.is_address(i)).map(move |i| interval(fields[i], size(i)))
}

/// Ranges that a process has mapped as shared memory, by their first bytes.
#[derive(Default)]
pub(super) struct SharedMappings {
    ends: BTreeMap<u64, u64>,
}

impl SharedMappings {
    pub(super) fn insert(&mut self, start: u64, size: u64) {
        self.remove(start, size);
        if size > 0 {
            self.ends.insert(start, start.saturating_add(size));
        }
    }

    /// Removes a range; the remainder of mappings that it overlaps in part stays.
    pub(super) fn remove(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        let overlaps = |(&from, &to): (&u64, &u64)| (to > start).then_some((from, to));
        let below = self.ends.range(..end).rev().map_while(overlaps);
        for (from, to) in below.collect::<Vec<_>>() {
            self.ends.remove(&from);
            if from < start {
                self.ends.insert(from, start);
            }
            if to > end {
                self.ends.insert(end, to);
            }
        }
    }

    #[inline]
    pub(super) fn contains(&self, addr: u64) -> bool {
        !self.ends.is_empty()
            && self.ends.range(..=addr).next_back().is_some_and(|(_, &end)| addr < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_where_shared_memory_begins_and_ends() {
        let relocation = Relocation::new(1 << 20, 1 << 20, &[0x2000..0x4000, 0x6000..0x7000]);
        let parts = |start, size| {
            let parts = relocation.parts(start, size);
            parts.map(|part| (part.start, part.size, part.stays)).collect::<Vec<_>>()
        };
        assert_eq!(parts(0x1000, 0x1000), [(0x10_1000, 0x1000, false)]);
        assert_eq!(parts(0x2800, 0x800), [(0x2800, 0x800, true)]);
        let all = [
            (0x10_1000, 0x1000, false),
            (0x2000, 0x2000, true),
            (0x10_4000, 0x2000, false),
            (0x6000, 0x1000, true),
            (0x10_7000, 0x1000, false),
        ];
        assert_eq!(parts(0x1000, 0x7000), all);
        assert_eq!(parts(0x3fff, 0), [(0x3fff, 0, true)]);
        assert_eq!(parts(KERNEL_SPACE, 64), [(KERNEL_SPACE, 64, true)]);
    }

    #[test]
    fn mappings_agree_with_a_set_of_bytes() {
        let mut mapped = SharedMappings::default();
        let mut naive = [false; 64];
        let mut rng = homenode_base::Rng::new(5);
        for _ in 0..400 {
            let (start, size) = (rng.below(56), rng.below(9));
            let inserts = rng.below(2) == 0;
            if inserts {
                mapped.insert(start, size);
            } else {
                mapped.remove(start, size);
            }
            for (at, byte) in (0..).zip(&mut naive) {
                if (start..start + size).contains(&at) {
                    *byte = inserts;
                }
            }
            let found: Vec<bool> = (0..64).map(|at| mapped.contains(at)).collect();
            assert_eq!(found, naive);
        }
    }
}
