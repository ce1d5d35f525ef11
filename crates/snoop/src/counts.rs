//! Counts of machines on a bus. The names of the fields are a public contract (`docs/bus.md`).

use homenode_base::Flags;
use homenode_cache::{BlockAccess, CacheCounts, CoherenceCounts, KernelCounts, MissCounts};
use homenode_clock::streams::PROCESSOR_RELATIVE;
use homenode_machine::BusCycles;
use serde::Serialize;

/// All counts of one configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusCounts {
    /// References and fetches in the trace.
    pub references: u64,
    /// The same, counting one that straddles blocks once for each block.
    pub block_references: u64,
    /// References to blocks that found a valid copy.
    pub hits: u64,
    /// References to blocks that did not, by class.
    pub misses: MissCounts,
    /// Those of `misses` that switches of processes cause; `null` unless processes are scheduled on
    /// a bus.
    pub context_switch_misses: Option<ContextSwitchMisses>,
    /// Bus transactions.
    pub transactions: Transactions,
    /// Invalidate and write transactions, by kind of sharing.
    pub coherence: CoherenceCounts,
    /// The same, by kind of page.
    pub coherence_origin: OriginCounts,
    /// The part of these counts that is the kernel's.
    pub kernel: KernelCounts,
}

/// Misses on blocks that the process had fetched and had not replaced itself since: another process
/// replaced them, or the process has left them in another processor's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextSwitchMisses {
    /// Those of the class `cold`.
    pub cold: u64,
    /// Those of the class `replacement`.
    pub replacement: u64,
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

/// Coherence transactions by kind of the page that was referenced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OriginCounts {
    /// A private area of a process in user mode, referenced in either mode.
    pub user_page: u64,
    /// A page that only the kernel references, for one process: a kernel stack above all.
    pub kernel_page: u64,
    /// The kernel's area of a processor.
    pub processor_area: u64,
    /// Any other, shared page.
    pub other: u64,
}

impl OriginCounts {
    /// The count for the page of a reference.
    pub(crate) fn of<W>(&mut self, access: &BlockAccess<W>) -> &mut u64 {
        let flags = access.flags;
        if flags.0 & PROCESSOR_RELATIVE != 0 {
            &mut self.processor_area
        } else if flags.contains(Flags::PRIVATE) && !flags.is_private(false) {
            // Counted here even under the option that treats these as private areas.
            &mut self.kernel_page
        } else if access.private {
            &mut self.user_page
        } else {
            &mut self.other
        }
    }
}

impl BusCounts {
    /// Combines counts; hits and misses of switches are known only at the end.
    pub(crate) fn new(
        caches: &CacheCounts,
        transactions: Transactions,
        coherence_origin: OriginCounts,
    ) -> Self {
        let &CacheCounts { references, block_references, misses, coherence, kernel } = caches;
        Self {
            references,
            block_references,
            hits: 0,
            misses,
            context_switch_misses: None,
            transactions,
            coherence,
            coherence_origin,
            kernel,
        }
    }
}

impl Transactions {
    /// The transactions since earlier counts.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            read_block_memory: self.read_block_memory - before.read_block_memory,
            read_block_cache: self.read_block_cache - before.read_block_cache,
            read_invalidate_memory: self.read_invalidate_memory - before.read_invalidate_memory,
            read_invalidate_cache: self.read_invalidate_cache - before.read_invalidate_cache,
            invalidate: self.invalidate - before.invalidate,
            write: self.write - before.write,
            update_block: self.update_block - before.update_block,
        }
    }

    /// Cycles for which the bus is held, or requested if it is split, at these cycles for each.
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
