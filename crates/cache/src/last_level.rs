//! The last-level caches: which blocks they have.

use homenode_machine::CacheShape;

use crate::holders::NO_BLOCK;

/// A last-level cache, which several processors share: sets of blocks, the one used last first.
///
/// It only knows which blocks it has: an engine says when one comes, and when one is no longer
/// valid. Nothing in the caches of processors has to be in it.
///
/// ```
/// use homenode_cache::LastLevelCache;
/// use homenode_machine::CacheShape;
/// let shape = CacheShape { size_bytes: 64, block_size_bytes: 64, associativity: 1 };
/// let mut cache = LastLevelCache::new(shape);
/// cache.insert((7, 0));
/// cache.insert((8, 1));
/// assert_eq!([cache.has((7, 0)), cache.has((8, 1))], [false, true]);
/// ```
#[derive(Clone, Debug)]
pub struct LastLevelCache {
    /// Numbers of blocks in the table of holders, half as long as their addresses: what is looked
    /// through for a block lies in one line of the cache of the machine that simulates this.
    blocks: Vec<u32>,
    sets: u64,
    ways: usize,
}

impl LastLevelCache {
    /// An empty cache. The number of sets need be no power of two.
    #[must_use]
    pub fn new(shape: CacheShape) -> Self {
        let ways = shape.associativity.max(1);
        let sets = (shape.size_bytes / (shape.block_size_bytes * ways).max(1)).max(1);
        let ways = usize::try_from(ways).unwrap_or(usize::MAX);
        let frames = usize::try_from(sets).unwrap_or(usize::MAX).saturating_mul(ways);
        Self { blocks: vec![NO_BLOCK; frames], sets, ways }
    }

    fn set(&mut self, block: u64) -> &mut [u32] {
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The high half of the product is below the number of sets.
        let set = (u128::from(hash) * u128::from(self.sets)) >> 64;
        let first = usize::try_from(set).unwrap_or(0) * self.ways;
        &mut self.blocks[first..first + self.ways]
    }

    /// Whether the block, of this address and number in the table of holders, is there; it is used
    /// now.
    pub fn has(&mut self, (block, number): (u64, u32)) -> bool {
        let set = self.set(block);
        let found = set.iter().position(|&other| other == number);
        found.inspect(|&at| set[..=at].rotate_right(1)).is_some()
    }

    /// The block is there from now on, instead of the one used longest ago.
    pub fn insert(&mut self, (block, number): (u64, u32)) {
        if !self.has((block, number)) {
            let set = self.set(block);
            set.rotate_right(1);
            set[0] = number;
        }
    }

    /// The block is there no longer.
    pub fn remove(&mut self, (block, number): (u64, u32)) {
        let set = self.set(block);
        if let Some(at) = set.iter().position(|&other| other == number) {
            set[at] = NO_BLOCK;
            set[at..].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block whose number is its address.
    fn block(number: u32) -> (u64, u32) {
        (u64::from(number), number)
    }

    #[test]
    fn the_block_used_longest_ago_gives_way() {
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

    #[test]
    fn every_set_is_used() {
        let shape = CacheShape { size_bytes: 64 * 7, block_size_bytes: 64, associativity: 1 };
        let mut cache = LastLevelCache::new(shape);
        (1..1000).for_each(|number| cache.insert(block(number)));
        assert!(cache.blocks.iter().all(|&number| number != NO_BLOCK));
    }
}
