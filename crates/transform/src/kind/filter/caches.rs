//! The caches of all processors, kept coherent by invalidation.

use homenode_base::{Access, AccessKind};

use super::shape::CacheFilterShape;

/// Set in the entry of a block that its processor wrote and no other processor has read since.
const OWNED: u64 = 1;

/// How a reference passes the caches, in order of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Passage {
    /// Nothing reaches memory.
    Hit,
    /// The block is in the cache, but memory is informed only now that it is written.
    FirstWrite,
    /// The block comes from memory or another cache.
    Miss,
}

/// A set-associative cache for each processor: write-allocate, least recently used; a write removes
/// the block from all other caches. A read by another processor ends the ownership of the writer,
/// so its next write reaches memory again.
pub(super) struct FilterCaches {
    shape: CacheFilterShape,
    /// The sets of each processor, each from the most to the least recently used block; empty until
    /// the processor's first reference. An entry is 0 (free), or the block's number plus one,
    /// shifted left by one, with [`OWNED`].
    entries: Vec<Vec<u64>>,
    replacements: u64,
}

impl FilterCaches {
    pub(super) fn new(shape: CacheFilterShape, processors: u16) -> Self {
        Self { shape, entries: vec![Vec::new(); usize::from(processors.max(1))], replacements: 0 }
    }

    pub(super) const fn replacements(&self) -> u64 {
        self.replacements
    }

    /// Processes a reference. A reference to several blocks has the passage of the costliest one.
    pub(super) fn reference(&mut self, access: &Access) -> Passage {
        let processor = usize::from(access.thread) % self.entries.len();
        if self.entries[processor].is_empty() {
            self.entries[processor] = vec![0; self.shape.blocks()];
        }
        let write = access.kind != AccessKind::Read;
        let blocks = self.shape.block().blocks_touched(access.addr, access.size);
        blocks.map(|block| self.block(processor, block, write)).max().unwrap_or(Passage::Hit)
    }

    fn block(&mut self, processor: usize, block: u64, write: bool) -> Passage {
        let ways = self.shape.ways();
        let set = usize::try_from(block & (self.shape.sets() - 1)).unwrap_or(0) * ways;
        let tag = (block + 1) << 1;
        let mine = &mut self.entries[processor][set..set + ways];
        let found = mine.iter().position(|&entry| entry & !OWNED == tag);
        mine[..=found.unwrap_or(ways - 1)].rotate_right(1);
        let passage = match found {
            Some(_) if !write || mine[0] & OWNED != 0 => return Passage::Hit,
            Some(_) => Passage::FirstWrite,
            None => {
                // The rotation moved the least recently used entry to the front, where it is
                // overwritten.
                self.replacements += u64::from(mine[0] != 0);
                Passage::Miss
            }
        };
        mine[0] = tag | u64::from(write);
        for (other, entries) in self.entries.iter_mut().enumerate() {
            if other == processor || entries.is_empty() {
                continue;
            }
            let theirs = &mut entries[set..set + ways];
            let Some(at) = theirs.iter().position(|&entry| entry & !OWNED == tag) else { continue };
            if write {
                theirs[at..].rotate_left(1);
                theirs[ways - 1] = 0;
            } else {
                theirs[at] = tag;
            }
        }
        passage
    }
}
