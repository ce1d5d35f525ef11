//! What is counted on every machine with caches. The names of the fields are a public contract
//! (`docs/bus.md`).

use std::hint::select_unpredictable;

use serde::Serialize;

use crate::classify::{MissClass, SharingClass};

/// What is counted whatever keeps the caches coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// References and fetches in the trace.
    pub references: u64,
    /// The same, where one that straddles blocks counts for each.
    pub block_references: u64,
    /// Those that found no valid copy, by why.
    pub misses: MissCounts,
    /// Invalidations and updates of other copies, by what for.
    pub coherence: CoherenceCounts,
    /// The kernel's part of all this.
    pub kernel: KernelCounts,
}

/// Misses by why the copy was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissCounts {
    /// The processor never had the block.
    pub cold: u64,
    /// The copy was replaced.
    pub replacement: u64,
    /// The copy was invalidated, and what others wrote since is used before this one is lost.
    pub invalidation_true: u64,
    /// The copy was invalidated, and nothing that others wrote is used.
    pub invalidation_false: u64,
    /// The copy was invalidated, although its area is private.
    pub invalidation_passive: u64,
    /// The copy went with its process to another processor (PSCR).
    pub removal: u64,
}

/// Coherence transactions by kind of sharing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoherenceCounts {
    /// Another holder touched the written word.
    #[serde(rename = "true")]
    pub true_sharing: u64,
    /// None did.
    #[serde(rename = "false")]
    pub false_sharing: u64,
    /// The block is of a private area.
    pub passive: u64,
}

/// What the kernel's references did.
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
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.cold + self.replacement + self.removal + self.invalidations()
    }

    /// Those after an invalidation.
    #[must_use]
    pub const fn invalidations(&self) -> u64 {
        self.invalidation_true + self.invalidation_false + self.invalidation_passive
    }

    /// Those of a class.
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

    /// Which of the two it is depends on the program and changes often: a branch would be
    /// mispredicted.
    #[inline]
    fn add_cold_or_replacement(&mut self, had: bool) {
        *select_unpredictable(had, &mut self.replacement, &mut self.cold) += 1;
    }
}

impl CoherenceCounts {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.true_sharing + self.false_sharing + self.passive
    }

    /// Those of a class.
    #[inline]
    fn of(&mut self, class: SharingClass) -> &mut u64 {
        match class {
            SharingClass::True => &mut self.true_sharing,
            SharingClass::False => &mut self.false_sharing,
            SharingClass::Passive => &mut self.passive,
        }
    }
}
