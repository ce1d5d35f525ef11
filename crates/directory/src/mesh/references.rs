//! References of processors, as all memory systems of this crate handle and count them.

use std::ops::Range;

use homenode_base::{Access, AccessKind, Flags};
use homenode_cache::{BlockAccess, CacheCounts, WordMask};
use homenode_clock::streams::OpKind;
use homenode_clock::{MemoryReference, ReferenceCounts};

use crate::counts::DirectoryCounts;

/// The state of a reference while it is outstanding.
pub(crate) fn access<W: WordMask>(reference: &MemoryReference) -> BlockAccess<W> {
    BlockAccess {
        cache: reference.processor,
        block: reference.block,
        words: W::of_bytes(reference.first, reference.last),
        write: reference.kind.writes(),
        private: reference.flags.contains(Flags::PRIVATE),
        flags: reference.flags,
    }
}

/// Counts references that took place.
pub(crate) fn count(
    of_caches: &mut CacheCounts,
    counts: &mut DirectoryCounts,
    counted: ReferenceCounts,
) {
    of_caches.references += counted.references;
    of_caches.block_references += counted.block_references;
    of_caches.kernel.references += counted.kernel;
    counts.writes += counted.writes;
}

/// Whether an access of a walk is to a private area.
pub(crate) fn is_private(access: &Access, areas: &[Range<u64>]) -> bool {
    access.flags.contains(Flags::PRIVATE) || areas.iter().any(|area| area.contains(&access.addr))
}

/// The reference for an access of a walk to one block of `1 << shift` bytes.
pub(crate) fn of_access(node: u16, access: &Access, private: bool, shift: u32) -> MemoryReference {
    let first = access.addr & ((1 << shift) - 1);
    let kind = match access.kind {
        AccessKind::Read | AccessKind::Fetch => OpKind::Read,
        AccessKind::Write => OpKind::Write,
        AccessKind::Atomic => OpKind::Atomic,
    };
    MemoryReference {
        processor: usize::from(node),
        kind,
        block: access.addr >> shift,
        first,
        last: first + u64::from(access.size.max(1)) - 1,
        flags: if private { access.flags.union(Flags::PRIVATE) } else { access.flags },
    }
}
