//! References of processors, as every memory system with nodes takes and counts them.

use homenode_base::Flags;
use homenode_cache::{BlockAccess, CacheCounts, WordMask};
use homenode_clock::{MemoryReference, ReferenceCounts};

use crate::counts::DirectoryCounts;

/// The words of its block that a reference touches.
#[inline]
pub(super) fn words<W: WordMask>(reference: &MemoryReference) -> W {
    W::range(W::word(reference.first), W::word(reference.last))
}

/// What is kept of a reference while it is under way.
#[inline]
pub(super) fn access<W: WordMask>(reference: &MemoryReference) -> BlockAccess<W> {
    BlockAccess {
        cache: reference.processor,
        block: reference.block,
        words: words(reference),
        write: reference.kind.writes(),
        private: reference.flags.contains(Flags::PRIVATE),
        kernel: reference.flags.contains(Flags::KERNEL),
    }
}

/// References took place.
#[inline]
pub(super) fn count(
    (of_caches, counts): (&mut CacheCounts, &mut DirectoryCounts),
    counted: ReferenceCounts,
) {
    of_caches.references += counted.references;
    of_caches.block_references += counted.block_references;
    of_caches.kernel.references += counted.kernel;
    counts.writes += counted.writes;
}
