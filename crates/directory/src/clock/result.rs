//! What a simulation with a clock finds.

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

/// What was counted and what took how long.
#[derive(Clone, Debug, Default)]
pub struct ClockedDirectoryResult {
    /// What was counted.
    pub counts: DirectoryCounts,
    /// Messages of a protocol that keeps pages coherent, instead of those among the counts.
    pub page_messages: Option<PageMessageCounts>,
    /// Messages of a protocol of lists, likewise.
    pub list_messages: Option<ListCounts>,
    /// Processors and processes.
    pub time: ClockTime,
    /// What nodes other than processors did.
    pub timing: DirectoryTiming,
    /// What homes did, by node, or by memory where processors share them.
    pub loads: Vec<HomeLoad>,
    /// References, one for each block that they touch.
    pub block_references: u64,
    /// Misses and waiting by word, in order of its address divided by four, if it was to be
    /// collected.
    pub waits: Option<WordWaits>,
    /// What nodes did with pages, if it was to be collected.
    pub demands: Option<PageDemands>,
    /// What became of pages, if it was to be collected.
    pub uses: Option<Vec<PageUsage>>,
    /// What whoever reads the results has to know.
    pub notes: Vec<String>,
}

/// What took how long outside processors, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryTiming {
    /// Blocks that came, and the cycles from asking for each until it was there.
    pub filled: u64,
    /// See [`Self::filled`].
    pub fill_cycles: u64,
    /// Those that were read, and their cycles.
    pub read: u64,
    /// See [`Self::read`].
    pub read_cycles: u64,
    /// Traps into the operating system because of a page that was not mapped.
    pub page_faults: u64,
    /// Fills of entries of lookaside buffers.
    pub tlb_misses: u64,
    /// Pages that were copied to a node that reads them, and copies that are no more.
    pub pages_replicated: u64,
    /// See [`Self::pages_replicated`].
    pub replicas_dropped: u64,
    /// Cycles of acquires that unmap pages and flush their lines; processors wait for them as they
    /// wait for other processors.
    pub unmapping: u64,
    /// Links that messages went along, in all.
    pub hops: u64,
    /// Cycles for which nodes sent, of all nodes together.
    pub sending: u64,
    /// Cycles for which controllers looked up.
    pub looking_up: u64,
    /// Cycles for which memories were accessed.
    pub accessing: u64,
}

impl DirectoryTiming {
    /// What was asked for is there.
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
    /// Counts one.
    pub(super) fn add(&mut self, message: PageMessage) {
        self.0[usize::from(message.index())] += 1;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that say this.
    #[must_use]
    pub fn get(&self, message: PageMessage) -> u64 {
        self.0[usize::from(message.index())]
    }
}

/// By name, with an underscore for each blank.
impl Serialize for PageMessageCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &message in PageMessage::ALL {
            map.serialize_entry(message.counted_as(), &self.get(message))?;
        }
        map.end()
    }
}
