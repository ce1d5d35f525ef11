//! The blocks of last-level caches.

use homenode_machine::CacheShape;

use crate::holders::NO_BLOCK;
use crate::system::BlockRef;

/// A last-level cache that several processors share: sets of blocks, the most recently used first.
///
/// It records only which blocks it has. An engine inserts blocks and removes invalid ones. It need
/// not include the blocks of the processors' caches.
///
/// ```
/// use homenode_cache::{BlockRef, LastLevelCache};
/// use homenode_machine::CacheShape;
/// let shape = CacheShape { size_bytes: 64, block_size_bytes: 64, associativity: 1 };
/// let mut cache = LastLevelCache::new(shape);
/// let blocks = [BlockRef { block: 7, number: 0 }, BlockRef { block: 8, number: 1 }];
/// blocks.map(|block| cache.insert(block));
/// assert_eq!(blocks.map(|block| cache.has(block)), [false, true]);
/// ```
#[derive(Clone, Debug)]
pub struct LastLevelCache {
    /// Numbers of blocks in the table of holders. They are half as long as addresses, so that a set
    /// fits a line of the host's cache.
    blocks: Vec<u32>,
    sets: u64,
    ways: usize,
    /// The position of the first set and the distance between sets, chosen so that few sets cross
    /// a line of the host's cache.
    first: usize,
    stride: usize,
    /// The positions of sets and the blocks to insert there, in order. Most sets miss in the host's
    /// cache: inserting several blocks at once overlaps these misses.
    coming: Vec<(usize, u32)>,
}

/// The maximum number of blocks to insert at once.
const COMING_MAX: usize = 16;

/// Bytes of a line of the host's cache.
const LINE_BYTES: usize = 64;

impl LastLevelCache {
    /// An empty cache. The number of sets need be no power of two.
    #[must_use]
    pub fn new(shape: CacheShape) -> Self {
        let ways = shape.associativity.max(1);
        let sets = (shape.size_bytes / (shape.block_size_bytes * ways).max(1)).max(1);
        let ways = usize::try_from(ways).unwrap_or(usize::MAX);
        let line = LINE_BYTES / size_of::<u32>();
        // Sets that nearly fill their lines begin with one.
        let whole = ways.checked_next_multiple_of(line).unwrap_or(ways);
        let stride = if whole - ways <= ways / 8 { whole } else { ways };
        let frames = usize::try_from(sets).unwrap_or(usize::MAX).saturating_mul(stride);
        let blocks = vec![NO_BLOCK; frames.saturating_add(line)];
        let first = blocks.as_ptr().align_offset(LINE_BYTES).min(line);
        let coming = Vec::with_capacity(COMING_MAX);
        Self { blocks, sets, ways, first, stride, coming }
    }

    /// The position of the set of a block.
    #[inline]
    fn start(&self, block: u64) -> usize {
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The high half of the product is below the number of sets.
        let set = (u128::from(hash) * u128::from(self.sets)) >> 64;
        self.first + usize::try_from(set).unwrap_or(0) * self.stride
    }

    /// The set of a block, after all blocks have been inserted into it.
    #[inline]
    fn set(&mut self, block: u64) -> &mut [u32] {
        let start = self.start(block);
        if self.coming.iter().any(|&(other, _)| other == start) {
            self.arrive();
        }
        &mut self.blocks[start..start + self.ways]
    }

    #[inline(never)]
    fn arrive(&mut self) {
        // Reads each set first, so that their misses overlap.
        let firsts = self.coming.iter().map(|&(start, _)| self.blocks[start]);
        std::hint::black_box(firsts.fold(0, |sum, first| sum ^ first));
        for (start, number) in self.coming.drain(..) {
            move_back(&mut self.blocks[start..start + self.ways], number);
        }
    }

    /// Whether the cache has the block, which becomes the most recently used one.
    pub fn has(&mut self, BlockRef { block, number }: BlockRef) -> bool {
        let set = self.set(block);
        let found = set.iter().position(|&other| other == number);
        found.inspect(|&at| move_back(&mut set[..=at], number)).is_some()
    }

    /// Inserts a block in place of the least recently used one.
    pub fn insert(&mut self, BlockRef { block, number }: BlockRef) {
        if self.coming.len() == COMING_MAX {
            self.arrive();
        }
        self.coming.push((self.start(block), number));
    }

    /// Removes a block.
    pub fn remove(&mut self, BlockRef { block, number }: BlockRef) {
        let set = self.set(block);
        if let Some(at) = set.iter().position(|&other| other == number) {
            set[at] = NO_BLOCK;
            set[at..].rotate_left(1);
        }
    }
}

/// Moves the block to the front. Those before its old place, or all if it is new, move back by one.
#[inline]
fn move_back(set: &mut [u32], number: u32) {
    let mut moved = number;
    for place in set {
        std::mem::swap(place, &mut moved);
        if moved == number {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    /// A block whose number is its address.
    fn block(number: u32) -> BlockRef {
        BlockRef { block: u64::from(number), number }
    }

    #[test]
    fn the_least_recently_used_block_is_evicted() {
        let shape = CacheShape { size_bytes: 192, block_size_bytes: 64, associativity: 3 };
        let mut cache = LastLevelCache::new(shape);
        (1..=3).for_each(|number| cache.insert(block(number)));
        assert!(cache.has(block(1)));
        cache.insert(block(4));
        let there = |cache: &mut LastLevelCache, all: [u32; 4]| all.map(|n| cache.has(block(n)));
        assert_eq!(there(&mut cache, [2, 1, 3, 4]), [false, true, true, true]);
        cache.remove(block(3));
        cache.insert(block(5));
        assert_eq!(there(&mut cache, [3, 1, 4, 5]), [false, true, true, true]);
    }

    /// Whether a block is found does not depend on when earlier ones are inserted.
    #[test]
    fn waiting_blocks_are_found() {
        let shape = CacheShape { size_bytes: 64 * 90, block_size_bytes: 64, associativity: 15 };
        let (mut late, mut soon) = (LastLevelCache::new(shape), LastLevelCache::new(shape));
        let mut rng = Rng::new(9);
        let mut found = 0;
        for _ in 0..20_000 {
            let block = block(1 + u32::try_from(rng.below(150)).unwrap());
            match rng.below(8) {
                0 => [&mut late, &mut soon].map(|cache| cache.remove(block)),
                1 | 2 => {
                    let [one, other] = [&mut late, &mut soon].map(|cache| cache.has(block));
                    assert_eq!(one, other);
                    found += u32::from(one);
                    continue;
                }
                _ => [&mut late, &mut soon].map(|cache| cache.insert(block)),
            };
            soon.arrive();
        }
        assert!(found > 1000);
    }

    #[test]
    fn every_set_is_used() {
        let shape = CacheShape { size_bytes: 64 * 7, block_size_bytes: 64, associativity: 1 };
        let mut cache = LastLevelCache::new(shape);
        (1..1000).for_each(|number| cache.insert(block(number)));
        cache.arrive();
        let sets = &cache.blocks[cache.first..][..7];
        assert!(sets.iter().all(|&number| number != NO_BLOCK));
    }
}
