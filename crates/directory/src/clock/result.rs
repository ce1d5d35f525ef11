//! Results of a timed simulation.

use homenode_cache::WordWaits;
use homenode_clock::ClockTime;
use homenode_protocol::Labelled;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::lists::ListCounts;
use super::queue::HomeLoad;
use crate::counts::DirectoryCounts;
use crate::home::{PageDemands, PageUsage};
use crate::page_vocabulary::PageMessage;

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
    pub(super) fn add_answer(&mut self, cycles: u64, reads: bool, misses: bool) {
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

/// Messages of a protocol that keeps pages coherent, between different nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMessageCounts([u64; PageMessage::ALL.len()]);

impl PageMessageCounts {
    /// Counts a message.
    pub(super) fn add(&mut self, message: PageMessage) {
        self.0[usize::from(message.index())] += 1;
    }

    /// Messages of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Messages of one kind.
    #[must_use]
    pub fn get(&self, message: PageMessage) -> u64 {
        self.0[usize::from(message.index())]
    }
}

/// A field for each kind, named with underscores.
impl Serialize for PageMessageCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &message in PageMessage::ALL {
            map.serialize_entry(message.counted_as(), &self.get(message))?;
        }
        map.end()
    }
}
