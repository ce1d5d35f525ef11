//! The blocks that each cache used most recently, so that most hits need no search.
//!
//! A cache remembers one block for each *class* of its sets: those whose numbers agree in the low
//! bits. That block was used last in its class and so in its set: a hit on it changes no order of
//! use and reads neither tags nor label, which are often not in the host's cache.

use crate::frames::{CacheArrays, PERMISSIONS, label_of};
use crate::system::{CacheSystem, FrameLocation};
use crate::words::WordMask;

/// The maximum number of classes of a cache: the entries of one processor fit the host's
/// first-level cache.
const CLASSES_MAX: usize = 512;

/// The most recently used block of a class.
#[derive(Clone, Copy, Default)]
struct RecentBlock {
    label: u64,
    frame: u32,
    /// The epoch of its entry: see [`RecentBlocks::epochs`].
    epoch: u32,
}

/// The blocks that each cache used most recently. An entry is valid until a reference to a block of
/// its class is done in another way: [`Self::forget`].
pub struct RecentBlocks {
    /// By cache and class.
    blocks: Vec<RecentBlock>,
    /// How often each class was forgotten, plus one. Entries of earlier epochs are invalid.
    epochs: [u32; CLASSES_MAX],
    /// The number of classes of a cache, less one. All caches have as many.
    mask: usize,
    shift: u32,
}

impl RecentBlocks {
    /// For this number of caches, of which the smallest has this number of sets, a power of two.
    #[must_use]
    pub fn new(caches: usize, sets: usize) -> Self {
        let classes = sets.clamp(1, CLASSES_MAX);
        Self {
            blocks: vec![RecentBlock::default(); caches * classes],
            epochs: [1; CLASSES_MAX],
            mask: classes - 1,
            shift: classes.trailing_zeros(),
        }
    }

    #[inline]
    fn class(&self, block: u64) -> usize {
        // The first mask is a constant, which spares a check of bounds in every reference.
        usize::try_from(block & (CLASSES_MAX as u64 - 1)).unwrap_or(0) & self.mask
    }

    /// Must be called when a reference to a block may change copies of it, or of blocks of the same
    /// sets, in any cache.
    #[inline]
    pub fn forget(&mut self, block: u64) {
        let class = self.class(block);
        self.epochs[class] = self.epochs[class].wrapping_add(1);
        if self.epochs[class] == 0 {
            // The epochs have wrapped around.
            self.blocks.fill(RecentBlock::default());
            self.epochs = [1; CLASSES_MAX];
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CacheSystem<F, W, WORDS> {
    /// As [`Self::hit`], at the place where the block is.
    #[inline(always)]
    pub fn hit_recent(
        &mut self,
        recent: &mut RecentBlocks,
        cache: usize,
        block: u64,
        words: W,
        need: u64,
    ) -> bool {
        let class = recent.class(block);
        let epoch = recent.epochs[class];
        let known = &recent.blocks[cache << recent.shift | class];
        let relevant = !PERMISSIONS | need;
        if (known.label ^ (label_of(block) | need)) & relevant == 0 && known.epoch == epoch {
            let frame = usize::try_from(known.frame).unwrap_or(usize::MAX);
            self.frames.all_mut()[frame].add_words(words, need);
            return true;
        }
        self.hit_of_set(recent, cache, block, words, need)
    }

    /// The same for a block that was not used last. Not inlined, so that loops over references have
    /// few live values.
    #[inline(never)]
    fn hit_of_set(
        &mut self,
        recent: &mut RecentBlocks,
        cache: usize,
        block: u64,
        words: W,
        need: u64,
    ) -> bool {
        let set = self.frames.set_of(cache, block);
        // A miss reads no frames.
        if self.frames.lacks(set, block) {
            return false;
        }
        let at = self.frames.guess(set, block);
        let hit = self.hit(FrameLocation { set, frame: at }, block, words, need);
        if hit && let Ok(frame) = u32::try_from(at) {
            let class = recent.class(block);
            let epoch = recent.epochs[class];
            let label = self.frames.all()[at].label();
            recent.blocks[cache << recent.shift | class] = RecentBlock { label, frame, epoch };
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::MissRule;
    use crate::frames::{CacheFrame, CacheGeometry, MAY_READ, MAY_WRITE, READ, UpTo16Ways};
    use crate::system::CacheSystemSetup;

    type CachesOfTwo = CacheSystem<UpTo16Ways<u64>, u64>;

    /// Two caches, the second of which has blocks 0 and 4 in one set and may read them.
    fn caches() -> (CachesOfTwo, [usize; 2]) {
        let geometries = &[CacheGeometry { sets: 4, ways: 2 }; 2];
        let (words, rule, check) = (16, MissRule::Dubois, false);
        let mut caches = CachesOfTwo::new(CacheSystemSetup { geometries, words, rule, check });
        let set = caches.frames.set_of(1, 0);
        let frames = [0, 4].map(|block| {
            let at = caches.frames.victim(set);
            let mut frame = CacheFrame::of(block, 1);
            frame.permit(MAY_READ);
            caches.frames.fill(set, at, block, frame);
            at
        });
        (caches, frames)
    }

    #[test]
    fn hits_are_those_of_the_caches() {
        let (mut caches, frames) = caches();
        let mut recent = RecentBlocks::new(2, 4);
        let mut hit = |caches: &mut CachesOfTwo, cache, block, words, need| {
            caches.hit_recent(&mut recent, cache, block, words, need)
        };
        for (block, words) in [(0, 1), (0, 2), (4, 4), (0, 8), (0, 16)] {
            assert!(hit(&mut caches, 1, block, words, MAY_READ));
        }
        assert_eq!(frames.map(|at| caches.frames.all()[at].touched[READ]), [27, 4]);
        assert_eq!(caches.frames.victim(caches.frames.set_of(1, 0)), frames[1]);
        assert!(!hit(&mut caches, 1, 0, 1, MAY_WRITE), "it may only be read");
        assert!(!hit(&mut caches, 0, 0, 1, MAY_READ), "the other cache does not have it");
        assert!(!hit(&mut caches, 1, 8, 1, MAY_READ));
    }

    #[test]
    fn what_was_forgotten_is_looked_for() {
        let (mut caches, frames) = caches();
        let mut recent = RecentBlocks::new(2, 4);
        for before in [1, u32::MAX] {
            recent.epochs[0] = before;
            caches.frame(frames[0]).permit(MAY_READ);
            assert!(caches.hit_recent(&mut recent, 1, 0, 1, MAY_READ));
            caches.frame(frames[0]).permit(0);
            recent.forget(4);
            assert!(!caches.hit_recent(&mut recent, 1, 0, 1, MAY_READ));
            assert!(recent.epochs[0] != 0, "no block was entered then");
        }
    }
}
