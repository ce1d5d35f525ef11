//! What is counted. The names of the fields are a public contract (`docs/bus.md`).

use std::hint::select_unpredictable;

use homenode_machine::BusCycles;
use serde::Serialize;

/// Everything that one configuration counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// References and fetches in the trace.
    pub references: u64,
    /// The same, where one that straddles blocks counts for each.
    pub block_references: u64,
    /// Those that found a valid copy.
    pub hits: u64,
    /// Those that did not, by why.
    pub misses: Misses,
    /// What went over the bus.
    pub transactions: Transactions,
    /// Invalidate and write transactions, by what for.
    pub coherence: Sharing,
    /// The kernel's part of all this.
    pub kernel: KernelPart,
}

/// Misses by why the copy was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Misses {
    /// The processor never had the block.
    pub cold: u64,
    /// The copy had to give way.
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

/// Transactions by kind and source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transactions {
    /// Blocks fetched from memory.
    pub read_block_memory: u64,
    /// Blocks fetched from another cache.
    pub read_block_cache: u64,
    /// Blocks fetched from memory to write them.
    pub read_invalidate_memory: u64,
    /// Blocks fetched from another cache to write them.
    pub read_invalidate_cache: u64,
    /// Invalidations of all other copies.
    pub invalidate: u64,
    /// Updates of a word in all other copies.
    pub write: u64,
    /// Blocks written back.
    pub update_block: u64,
}

/// By kind of sharing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sharing {
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
pub struct KernelPart {
    /// References and fetches.
    pub references: u64,
    /// Misses.
    pub misses: Misses,
    /// Invalidate and write transactions.
    pub coherence: Sharing,
}

impl Misses {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.cold + self.replacement + self.removal + self.invalidations()
    }

    /// Counts a miss on a block that the processor never had, or had and replaced. Which it is, is
    /// hard to foretell.
    #[inline]
    pub(super) fn add_cold_or_replacement(&mut self, had: bool) {
        *select_unpredictable(had, &mut self.replacement, &mut self.cold) += 1;
    }

    /// Those after an invalidation.
    #[must_use]
    pub const fn invalidations(&self) -> u64 {
        self.invalidation_true + self.invalidation_false + self.invalidation_passive
    }
}

impl Transactions {
    /// Cycles that the bus is held, or asked for if it is split, at these prices.
    #[must_use]
    pub const fn cycles(&self, each: &BusCycles) -> u64 {
        self.read_block_memory * each.read_block_memory
            + self.read_block_cache * each.read_block_cache
            + self.read_invalidate_memory * each.read_invalidate_memory
            + self.read_invalidate_cache * each.read_invalidate_cache
            + self.invalidate * each.invalidate
            + self.write * each.write
            + self.update_block * each.update_block
    }
}

impl Sharing {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.true_sharing + self.false_sharing + self.passive
    }
}
