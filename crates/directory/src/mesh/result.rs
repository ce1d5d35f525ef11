//! Results of timed memory systems.

use homenode_cache::{CacheCounts, WordWaits};
use homenode_clock::ClockTime;
use serde::Serialize;

use super::queue::HomeLoad;
use crate::counts::DirectoryCounts;
use crate::home::{NO_INIT_DONE, PageDemands, PageHomes, PageUsage};
use crate::linked::ListCounts;
use crate::lrc::PageMessageCounts;

/// Counts and times.
#[derive(Clone, Debug, Default)]
pub struct ClockedDirectoryResult {
    /// Counts of events.
    pub counts: DirectoryCounts,
    /// Messages of a protocol that keeps pages coherent, instead of those among the counts.
    pub page_messages: Option<PageMessageCounts>,
    /// Messages of a linked-list protocol, likewise.
    pub list_messages: Option<ListCounts>,
    /// Times of processors and processes.
    pub time: ClockTime,
    /// Times outside processors.
    pub timing: DirectoryTiming,
    /// Load of homes, by node, or by memory where processors share one.
    pub loads: Vec<HomeLoad>,
    /// References, counted once for each block that they touch.
    pub block_references: u64,
    /// Misses and waiting by word, in order of the word's address divided by four, if collected.
    pub waits: Option<WordWaits>,
    /// Demands of nodes on pages, if collected.
    pub demands: Option<PageDemands>,
    /// Use of pages, if collected.
    pub uses: Option<Vec<PageUsage>>,
    /// Notes for readers of the results.
    pub notes: Vec<String>,
}

impl ClockedDirectoryResult {
    /// The counts of caches and homes, with `counts` of the other events, and what was collected
    /// about pages. Messages and loads are for the memory system to add.
    pub(crate) fn new(
        counts: DirectoryCounts,
        caches: &CacheCounts,
        homes: &mut PageHomes,
        timing: DirectoryTiming,
        time: ClockTime,
    ) -> Self {
        let &CacheCounts { references, block_references, misses, .. } = caches;
        let reads = references - counts.writes;
        let pages_moved = homes.moved();
        Self {
            counts: DirectoryCounts { references, reads, misses, pages_moved, ..counts },
            time,
            timing,
            block_references,
            notes: homes.lacks_init_done().then(|| NO_INIT_DONE.to_owned()).into_iter().collect(),
            demands: homes.take_demands(),
            uses: homes.take_uses(),
            ..Self::default()
        }
    }
}

/// Times outside processors, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryTiming {
    /// Blocks that were fetched; `fill_cycles` sums the cycles from request to arrival.
    pub filled: u64,
    /// See [`Self::filled`].
    pub fill_cycles: u64,
    /// Blocks fetched for a read; `read_cycles` sums their cycles.
    pub read: u64,
    /// See [`Self::read`].
    pub read_cycles: u64,
    /// Traps into the operating system because of a page that was not mapped.
    pub page_faults: u64,
    /// Fills of TLB entries.
    pub tlb_misses: u64,
    /// Pages copied to a node that reads them.
    pub pages_replicated: u64,
    /// Copies of pages that were dropped.
    pub replicas_dropped: u64,
    /// Cycles of acquires that unmap pages and flush their lines; counted in the synchronisation
    /// time of processors.
    pub unmapping: u64,
    /// Links crossed by messages, in total.
    pub hops: u64,
    /// Cycles spent sending, by all nodes together.
    pub sending: u64,
    /// Cycles that controllers spent on look-ups.
    pub looking_up: u64,
    /// Cycles of memory accesses.
    pub accessing: u64,
}

impl DirectoryTiming {
    /// Counts a request that has been answered.
    pub(crate) fn add_answer(&mut self, cycles: u64, reads: bool, misses: bool) {
        if misses {
            self.filled += 1;
            self.fill_cycles += cycles;
        }
        if reads {
            self.read += 1;
            self.read_cycles += cycles;
        }
    }
}
