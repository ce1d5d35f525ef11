//! Counts of every machine with caches. The names of the fields are a public contract
//! (`docs/bus.md`).

use std::hint::select_unpredictable;

use serde::Serialize;

use crate::classify::{MissClass, SharingClass};

/// Counts that do not depend on the coherence protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// References and fetches in the trace.
    pub references: u64,
    /// The same, counting one that straddles blocks once for each block.
    pub block_references: u64,
    /// References to blocks that found no valid copy, by class.
    pub misses: MissCounts,
    /// Invalidations and updates of other copies, by kind of sharing.
    pub coherence: CoherenceCounts,
    /// The part of these counts that is the kernel's.
    pub kernel: KernelCounts,
}

/// Misses by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissCounts {
    /// The processor never had the block.
    pub cold: u64,
    /// The copy was replaced.
    pub replacement: u64,
    /// The copy was invalidated, and words written since by others are used before the new copy is
    /// lost.
    pub invalidation_true: u64,
    /// The copy was invalidated, and no word written by others is used.
    pub invalidation_false: u64,
    /// The copy was invalidated, although its area is private.
    pub invalidation_passive: u64,
    /// The copy went with its process to another processor (PSCR).
    pub removal: u64,
}

/// Coherence transactions by kind of sharing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoherenceCounts {
    /// Another holder touched the written word during the lifetime of its copy.
    #[serde(rename = "true")]
    pub true_sharing: u64,
    /// No other holder did.
    #[serde(rename = "false")]
    pub false_sharing: u64,
    /// The block is of a private area.
    pub passive: u64,
}

/// Counts of the kernel's references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelCounts {
    /// References and fetches.
    pub references: u64,
    /// Misses.
    pub misses: MissCounts,
    /// Invalidations and updates of other copies.
    pub coherence: CoherenceCounts,
}

impl CacheCounts {
    /// References to blocks that found a valid copy.
    #[must_use]
    pub const fn hits(&self) -> u64 {
        self.block_references - self.misses.total()
    }

    /// Counts a miss, and once more if it is the kernel's.
    #[inline]
    pub(crate) fn add_miss(&mut self, class: MissClass, kernel: bool) {
        *self.misses.of(class) += 1;
        if kernel {
            *self.kernel.misses.of(class) += 1;
        }
    }

    /// Counts a miss on a block that the processor never had, or had and replaced.
    #[inline]
    pub(crate) fn add_cold_or_replacement(&mut self, had: bool, kernel: bool) {
        self.misses.add_cold_or_replacement(had);
        if kernel {
            self.kernel.misses.add_cold_or_replacement(had);
        }
    }

    /// Counts a coherence transaction, and once more if it is the kernel's.
    #[inline]
    pub(crate) fn add_coherence(&mut self, class: SharingClass, kernel: bool) {
        *self.coherence.of(class) += 1;
        if kernel {
            *self.kernel.coherence.of(class) += 1;
        }
    }
}

impl MissCounts {
    /// The sum.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.cold + self.replacement + self.removal + self.invalidations()
    }

    /// Those after an invalidation.
    #[must_use]
    pub const fn invalidations(&self) -> u64 {
        self.invalidation_true + self.invalidation_false + self.invalidation_passive
    }

    #[inline]
    fn of(&mut self, class: MissClass) -> &mut u64 {
        match class {
            MissClass::Cold => &mut self.cold,
            MissClass::Replacement => &mut self.replacement,
            MissClass::InvalidationTrue => &mut self.invalidation_true,
            MissClass::InvalidationFalse => &mut self.invalidation_false,
            MissClass::InvalidationPassive => &mut self.invalidation_passive,
            MissClass::Removal => &mut self.removal,
        }
    }

    // Without a branch, which would often be mispredicted: the class depends on the program.
    #[inline]
    fn add_cold_or_replacement(&mut self, had: bool) {
        *select_unpredictable(had, &mut self.replacement, &mut self.cold) += 1;
    }
}

impl CoherenceCounts {
    /// The sum.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.true_sharing + self.false_sharing + self.passive
    }

    #[inline]
    fn of(&mut self, class: SharingClass) -> &mut u64 {
        match class {
            SharingClass::True => &mut self.true_sharing,
            SharingClass::False => &mut self.false_sharing,
            SharingClass::Passive => &mut self.passive,
        }
    }
}
