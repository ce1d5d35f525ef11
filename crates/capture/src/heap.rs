//! The heap blocks of a program, in bounded memory.

use std::collections::BTreeMap;

use homenode_trace::{AddressRange, RangeKind};

use crate::item::Allocation;
use crate::sites::Sites;

/// Limit of the blocks in a trace.
const BLOCKS_MAX: usize = 1 << 16;
/// Number of blocks above which neighbours are joined while the program runs.
const BLOCKS_THIN: usize = 4 * BLOCKS_MAX;
/// Neighbouring blocks of one call site are joined if they are at most this far apart: the
/// allocator's header and rounding.
const GAP_BYTES_MAX: u64 = 64;

/// From this size on the allocator makes a mapping for the block.
const ALONE_BYTES: u64 = 128 << 10;
/// Blocks at most this far apart are in one arena of the allocator.
const ARENA_GAP_BYTES: u64 = 1 << 20;
/// Free memory that the allocator keeps behind the last block.
const ARENA_REST_BYTES: u64 = 132 << 10;
const PAGE_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug)]
struct HeapBlock {
    size: u64,
    site: u64,
    /// Position of its call stack, 0 if unknown.
    stack: u32,
    thread: u16,
    /// Requested size of each joined block; 0 if they differ.
    each: u64,
    /// Distance of the joined blocks; 0 if there is one block.
    stride: u64,
    /// Start of the last joined block.
    last: u64,
}

impl HeapBlock {
    /// Appends the block, or joined blocks, at `start` to those that begin at `first`.
    fn join(&mut self, first: u64, start: u64, block: Self) {
        let distance = start - self.last;
        let even = |stride: u64| stride == 0 || stride == distance;
        if self.each != block.each || !even(self.stride) || !even(block.stride) {
            self.each = 0;
        }
        self.stride = distance;
        self.last = block.last;
        self.size = start + block.size - first;
    }
}

/// Blocks by address. A freed block is kept until its memory is reused, because the trace has
/// references to it.
#[derive(Debug, Default)]
pub struct Heap {
    blocks: BTreeMap<u64, HeapBlock>,
    limit: usize,
}

impl Heap {
    /// Adds a block, which replaces earlier ones at its addresses.
    pub fn allocate(&mut self, made: Allocation) {
        let Allocation { addr, size, site, stack, thread } = made;
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
        let block = HeapBlock { size, site, stack, thread, each: size, stride: 0, last: addr };
        self.blocks.insert(addr, block);
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
                    if (last.site, last.stack, last.thread)
                        == (block.site, block.stack, block.thread)
                        && start - (*first + last.size) <= GAP_BYTES_MAX =>
                {
                    last.join(*first, start, block);
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

    /// Reduces the blocks to the limit of a trace.
    pub fn close(&mut self) {
        if self.blocks.len() > BLOCKS_MAX {
            self.thin(BLOCKS_MAX);
        }
    }

    /// Sizes of the blocks of each call stack, by its position.
    #[must_use]
    pub fn stacks(&self) -> BTreeMap<u32, Vec<u64>> {
        let mut sizes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for block in self.blocks.values().filter(|block| block.stack != 0) {
            let of_stack = sizes.entry(block.stack).or_default();
            if !of_stack.contains(&block.each) && block.each != 0 {
                of_stack.push(block.each);
            }
        }
        sizes
    }

    /// The allocator's arenas, named `[heap]`: they name references to its own data and to blocks
    /// that were not recorded.
    #[must_use]
    pub fn arenas(&self) -> Vec<AddressRange> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (&start, block) in self.blocks.iter().filter(|(_, block)| block.each < ALONE_BYTES) {
            let end = start.saturating_add(block.size);
            match found.last_mut() {
                Some((_, last)) if start.saturating_sub(*last) <= ARENA_GAP_BYTES => *last = end,
                Some(_) | None => found.push((start / PAGE_BYTES * PAGE_BYTES, end)),
            }
        }
        let arena = |(start, end): (u64, u64)| AddressRange {
            start,
            size: end.saturating_add(ARENA_REST_BYTES) - start,
            kind: RangeKind::Mapping,
            name: "[heap]".to_owned(),
            ..AddressRange::default()
        };
        found.into_iter().map(arena).collect()
    }

    /// The blocks as ranges, by address.
    #[must_use]
    pub fn into_ranges(self, sites: &Sites) -> Vec<AddressRange> {
        let range = |(start, block): (u64, HeapBlock)| {
            let stack = sites.number(block.stack);
            // Joined blocks have gaps between them, so elements are evenly spaced only if each
            // block is one element.
            let known = sites
                .element(stack, block.each)
                .filter(|&(_, size)| block.stride == 0 || size == block.each);
            let stride = known.and_then(|_| u32::try_from(block.stride).ok());
            AddressRange {
                start,
                size: block.size,
                kind: RangeKind::Heap,
                name: String::new(),
                site: block.site,
                thread: block.thread,
                stack,
                layout: known.map_or(0, |(layout, _)| layout),
                stride: stride.unwrap_or(0),
            }
        };
        self.blocks.into_iter().map(range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(heap: Heap) -> Vec<(u64, u64, u64)> {
        let ranges = heap.into_ranges(&Sites::default());
        ranges.iter().map(|r| (r.start, r.size, r.site)).collect()
    }

    #[test]
    fn reused_memory_has_its_last_name() {
        let mut heap = Heap::default();
        heap.allocate(Allocation { addr: 0x100, size: 0x40, site: 1, thread: 0, stack: 0 });
        heap.allocate(Allocation { addr: 0x140, size: 0x20, site: 2, thread: 0, stack: 0 });
        heap.allocate(Allocation { addr: 0x120, size: 0x30, site: 3, thread: 1, stack: 0 });
        heap.allocate(Allocation { addr: 0x200, size: 0, site: 4, thread: 1, stack: 0 });
        assert_eq!(starts(heap), [(0x100, 0x20, 1), (0x120, 0x30, 3)]);
    }

    #[test]
    fn many_small_blocks_of_one_site_become_few_ranges() {
        let mut heap = Heap::default();
        for i in 0..300_000_u64 {
            heap.allocate(Allocation {
                addr: 0x10_0000 + i * 32,
                size: 24,
                site: 7,
                thread: 0,
                stack: 0,
            });
        }
        heap.close();
        let ranges = heap.into_ranges(&Sites::default());
        assert!(ranges.len() <= BLOCKS_MAX, "{}", ranges.len());
        assert_eq!(ranges[0].start, 0x10_0000);
        let last = ranges.last().unwrap();
        assert_eq!(last.start + last.size, 0x10_0000 + 299_999 * 32 + 24);
    }

    #[test]
    fn memory_between_blocks_is_named_heap() {
        let mut heap = Heap::default();
        let blocks =
            [(0x5000_0010, 0x20), (0x5000_0100, 0x10), (0x6000_0000, 0x10), (0x7000_0000, 1 << 20)];
        for (addr, size) in blocks {
            heap.allocate(Allocation { addr, size, ..Allocation::default() });
        }
        let arenas: Vec<(u64, u64)> = heap.arenas().iter().map(|r| (r.start, r.size)).collect();
        assert_eq!(arenas, [(0x5000_0000, 0x21110), (0x6000_0000, 0x21010)]);
    }

    #[test]
    fn scattered_blocks_are_bounded_too() {
        let mut heap = Heap::default();
        for i in 0..600_000_u64 {
            heap.allocate(Allocation {
                addr: 0x10_0000 + i * 1024,
                size: 24,
                site: i,
                thread: 0,
                stack: 0,
            });
        }
        assert!(heap.blocks.len() <= 2 * BLOCKS_THIN);
        heap.close();
        assert!(heap.into_ranges(&Sites::default()).len() <= BLOCKS_MAX);
    }
}
