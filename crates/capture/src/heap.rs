//! The heap blocks of a program, in bounded memory.

use std::collections::BTreeMap;

use homenode_trace::{AddressRange, RangeKind};

/// Blocks kept at the end.
const BLOCKS_MAX: usize = 1 << 16;
/// Blocks above which the table is reduced while the program runs.
const BLOCKS_THIN: usize = 4 * BLOCKS_MAX;
/// Neighbouring blocks of one call site are joined if they are at most this far apart: the size of
/// the allocator's own header and rounding.
const GAP_BYTES_MAX: u64 = 64;

#[derive(Clone, Copy, Debug)]
struct HeapBlock {
    size: u64,
    site: u64,
    thread: u16,
}

/// Blocks by address. A freed block is kept until its memory is used again, as references to it are
/// in the trace.
#[derive(Debug, Default)]
pub struct Heap {
    blocks: BTreeMap<u64, HeapBlock>,
    limit: usize,
}

impl Heap {
    /// Notes an allocation.
    pub fn allocate(&mut self, addr: u64, size: u64, site: u64, thread: u16) {
        if size == 0 {
            return;
        }
        let end = addr.saturating_add(size);
        if let Some((&start, before)) = self.blocks.range_mut(..addr).next_back() {
            before.size = before.size.min(addr - start);
        }
        while let Some((&start, _)) = self.blocks.range(addr..end).next() {
            self.blocks.remove(&start);
        }
        self.blocks.insert(addr, HeapBlock { size, site, thread });
        if self.blocks.len() > self.limit.max(BLOCKS_THIN) {
            self.thin(BLOCKS_MAX);
            self.limit = 2 * self.blocks.len();
        }
    }

    /// Joins neighbours of one call site; if more than `most` blocks are left, keeps the largest.
    fn thin(&mut self, most: usize) {
        let mut joined: Vec<(u64, HeapBlock)> = Vec::new();
        for (start, block) in std::mem::take(&mut self.blocks) {
            match joined.last_mut() {
                Some((first, last))
                    if last.site == block.site
                        && last.thread == block.thread
                        && start - (*first + last.size) <= GAP_BYTES_MAX =>
                {
                    last.size = start + block.size - *first;
                }
                _ => joined.push((start, block)),
            }
        }
        if joined.len() > most {
            joined.sort_by_key(|(start, block)| (std::cmp::Reverse(block.size), *start));
            joined.truncate(most);
        }
        self.blocks = joined.into_iter().collect();
    }

    /// The blocks as ranges, by address.
    #[must_use]
    pub fn into_ranges(mut self) -> Vec<AddressRange> {
        if self.blocks.len() > BLOCKS_MAX {
            self.thin(BLOCKS_MAX);
        }
        let range = |(start, block): (u64, HeapBlock)| AddressRange {
            start,
            size: block.size,
            kind: RangeKind::Heap,
            name: String::new(),
            site: block.site,
            thread: block.thread,
        };
        self.blocks.into_iter().map(range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(heap: Heap) -> Vec<(u64, u64, u64)> {
        heap.into_ranges().iter().map(|r| (r.start, r.size, r.site)).collect()
    }

    #[test]
    fn memory_that_is_used_again_has_its_last_name() {
        let mut heap = Heap::default();
        heap.allocate(0x100, 0x40, 1, 0);
        heap.allocate(0x140, 0x20, 2, 0);
        heap.allocate(0x120, 0x30, 3, 1);
        heap.allocate(0x200, 0, 4, 1);
        assert_eq!(starts(heap), [(0x100, 0x20, 1), (0x120, 0x30, 3)]);
    }

    #[test]
    fn many_small_blocks_from_one_place_become_few_ranges() {
        let mut heap = Heap::default();
        for i in 0..300_000_u64 {
            heap.allocate(0x10_0000 + i * 32, 24, 7, 0);
        }
        let ranges = heap.into_ranges();
        assert!(ranges.len() <= BLOCKS_MAX, "{}", ranges.len());
        assert_eq!(ranges[0].start, 0x10_0000);
        let last = ranges.last().unwrap();
        assert_eq!(last.start + last.size, 0x10_0000 + 299_999 * 32 + 24);
    }

    #[test]
    fn scattered_blocks_are_bounded_too() {
        let mut heap = Heap::default();
        for i in 0..600_000_u64 {
            heap.allocate(0x10_0000 + i * 1024, 24, i, 0);
        }
        assert!(heap.blocks.len() <= 2 * BLOCKS_THIN);
        assert!(heap.into_ranges().len() <= BLOCKS_MAX);
    }
}
