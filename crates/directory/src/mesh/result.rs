//! Results of timed memory systems.

use homenode_cache::WordWaits;
use homenode_clock::ClockTime;
use serde::Serialize;

use super::queue::HomeLoad;
use crate::counts::DirectoryCounts;
use crate::home::{PageDemands, PageUsage};

/// The result of one memory system, with the message counts of its family.
pub(crate) struct TimedResult<M> {
    /// Counts of events.
    pub(crate) counts: DirectoryCounts,
    /// The messages of the protocol, if those among the counts are not.
    pub(crate) messages: M,
    /// Times of processors and processes.
    pub(crate) time: ClockTime,
    /// Times outside processors.
    pub(crate) timing: DirectoryTiming,
    /// Load of homes, by node, or by memory where processors share one.
    pub(crate) loads: Vec<HomeLoad>,
    /// References, counted once for each block that they touch.
    pub(crate) block_references: u64,
    /// Misses and waiting by word, in order of the word's address divided by four, if collected.
    pub(crate) waits: Option<WordWaits>,
    /// Demands of nodes on pages, if collected.
    pub(crate) demands: Option<PageDemands>,
    /// Use of pages, if collected.
    pub(crate) uses: Option<Vec<PageUsage>>,
    /// Notes for readers of the results.
    pub(crate) notes: Vec<String>,
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
