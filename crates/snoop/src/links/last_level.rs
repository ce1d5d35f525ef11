//! The last-level caches: which blocks they have.

use homenode_machine::CacheShape;

/// No block.
const EMPTY: u64 = u64::MAX;

/// A last-level cache, which some cores share: sets of blocks, the one used last first.
///
/// It takes what gives way in the caches of its cores, written or not. Nothing in these has to be
/// in it.
pub(super) struct LastLevelCache {
    blocks: Vec<u64>,
    sets: u64,
    ways: usize,
}

impl LastLevelCache {
    /// An empty cache. The number of sets need be no power of two.
    pub(super) fn new(shape: CacheShape) -> Self {
        let ways = shape.associativity.max(1);
        let sets = (shape.size_bytes / (shape.block_size_bytes * ways).max(1)).max(1);
        let ways = usize::try_from(ways).unwrap_or(usize::MAX);
        let frames = usize::try_from(sets).unwrap_or(usize::MAX).saturating_mul(ways);
        Self { blocks: vec![EMPTY; frames], sets, ways }
    }

    fn set(&mut self, block: u64) -> &mut [u64] {
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The high half of the product is below the number of sets.
        let set = (u128::from(hash) * u128::from(self.sets)) >> 64;
        let first = usize::try_from(set).unwrap_or(0) * self.ways;
        &mut self.blocks[first..first + self.ways]
    }

    /// Whether the block is there; it is used now.
    pub(super) fn has(&mut self, block: u64) -> bool {
        let set = self.set(block);
        let found = set.iter().position(|&other| other == block);
        found.inspect(|&at| set[..=at].rotate_right(1)).is_some()
    }

    /// The block is there from now on, instead of the one used longest ago.
    pub(super) fn insert(&mut self, block: u64) {
        if !self.has(block) {
            let set = self.set(block);
            set.rotate_right(1);
            set[0] = block;
        }
    }

    /// The block is there no longer.
    pub(super) fn remove(&mut self, block: u64) {
        let set = self.set(block);
        if let Some(at) = set.iter().position(|&other| other == block) {
            set[at] = EMPTY;
            set[at..].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_used_longest_ago_gives_way() {
        let shape = CacheShape { size_bytes: 192, block_size_bytes: 64, associativity: 3 };
        let mut cache = LastLevelCache::new(shape);
        (1..=3).for_each(|block| cache.insert(block));
        assert!(cache.has(1));
        cache.insert(4);
        assert!(!cache.has(2) && cache.has(1) && cache.has(3) && cache.has(4));
        cache.remove(3);
        cache.insert(5);
        assert!(!cache.has(3) && cache.has(1) && cache.has(4) && cache.has(5));
    }

    #[test]
    fn every_set_is_used() {
        let shape = CacheShape { size_bytes: 64 * 7, block_size_bytes: 64, associativity: 1 };
        let mut cache = LastLevelCache::new(shape);
        (0..1000).for_each(|block| cache.insert(block));
        assert!(cache.blocks.iter().all(|&block| block != EMPTY));
    }
}
