//! Inspection of all nodes, one access or synchronisation at a time, for walks.

use homenode_base::Access;
use homenode_cache::walk::{BlockSnapshot, WalkBlock};
use homenode_cache::{ClockError, IndexedSets, MissCounts, WIDE_WORDS, WordMask};
use homenode_clock::streams::{OpKind, Operation};
use homenode_clock::{ClockTime, StepDriver, SyncRequest, TimedMemory};

use super::references::VALID;
use super::{LrcMemory, PageMessageCounts};
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageDemands};
use crate::lrc::driver::ObservedPageAct;
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::PagePermission;
use crate::mesh::DirectoryClockSetup;
use crate::mesh::DirectoryTiming;
use crate::mesh::references::of_access;
use crate::setup::{DirectorySetup, DirectorySetupError};

/// A line in a node's cache, by the state of its frame.
const LINE_STATES: [&str; 3] = ["no line", "line", "fetching"];

/// The state of a page.
#[derive(Clone, Debug)]
pub(crate) struct ObservedPage {
    /// The home; none before the first access.
    pub(crate) home: Option<u16>,
    /// Its state at the home, and the listed nodes.
    pub(crate) entry: (u8, Vec<u16>),
    /// By node the states of mapping and release.
    pub(crate) nodes: Vec<(u8, u8)>,
}

/// One kind of cache that serves every line size and number of nodes is fast enough here.
type Words = [u64; 4];
type ObservedLrc = LrcMemory<IndexedSets<Words>, Words, WIDE_WORDS>;

/// A memory system that can be inspected.
pub(crate) struct ObservedPages(StepDriver<ObservedLrc>);

impl ObservedPages {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: &PagedTable,
        homes: Box<dyn HomePolicy>,
        timed: &DirectoryClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let setup = DirectorySetup { check: true, ..setup.clone() };
        let mut memory = ObservedLrc::new(&setup, table.clone(), homes, timed)?;
        memory.driver.keep_log();
        Ok(Self(StepDriver::new(memory, usize::from(setup.nodes))))
    }

    /// Performs an access to one line. Returns the cycles for which the processor waited, or
    /// nothing if the access cannot take place.
    pub(crate) fn access(&mut self, node: u16, access: &Access) -> Result<Option<u64>, ClockError> {
        let reference = of_access(node, access, self.shift());
        self.observe_reference(node, reference.block, reference.kind.writes());
        self.0.run_reference(&reference)
    }

    /// A node acquires or releases, without a message to a lock or a barrier.
    pub(crate) fn synchronise(
        &mut self,
        node: u16,
        releases: bool,
    ) -> Result<Option<u64>, ClockError> {
        // A creation releases and a join acquires; neither sends a message to a home.
        let kind = if releases { OpKind::Create } else { OpKind::Join };
        let (processor, operation) = (usize::from(node), Operation::new(kind, 0));
        self.0.synchronise(&SyncRequest { processor, process: processor, operation })
    }

    /// Actions since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<ObservedPageAct> {
        self.0.memory.driver.take_acts()
    }

    /// Logs the protocol's action for a reference that the page table permits.
    fn observe_reference(&mut self, node: u16, block: u64, store: bool) {
        let memory = &mut self.0.memory;
        let page = memory.page(block, node);
        let needed = if store { PagePermission::Write } else { PagePermission::Read };
        if memory.driver.permission(node, page) >= needed {
            memory.driver.observe_access(node, page, store);
        }
    }

    /// Logarithm of the block size.
    pub(crate) fn shift(&self) -> u32 {
        self.0.memory.block_shift
    }

    /// The number of a block's page, after its first reference.
    pub(crate) fn page_of(&self, block: u64) -> Option<u32> {
        self.0.memory.homes.find(block)
    }

    /// The home of a page.
    pub(crate) fn home_of(&self, page: u32) -> u16 {
        self.0.memory.homes.home(page)
    }

    /// Whether a cache has a line, and whether its miss is still unclassified.
    pub(crate) fn line_of(&self, node: usize, block: u64) -> (bool, bool) {
        let (state, open) = self.0.memory.caches.state_of(node, block);
        (state == VALID, open)
    }

    /// The page of a block, at its home and at `nodes` nodes.
    pub(crate) fn page_snapshot(&self, block: u64, nodes: u16) -> ObservedPage {
        let Some(page) = self.0.memory.homes.find(block) else {
            let nodes = vec![(0, 0); usize::from(nodes)];
            return ObservedPage { home: None, entry: (0, Vec::new()), nodes };
        };
        ObservedPage {
            home: Some(self.0.memory.homes.home(page)),
            entry: self.0.memory.driver.entry(page),
            nodes: (0..nodes).map(|node| self.0.memory.driver.states(node, page)).collect(),
        }
    }

    /// A line in the caches of `nodes` nodes and in memory, and by node its dirty words.
    pub(crate) fn line_snapshot(
        &mut self,
        line: &WalkBlock,
        nodes: usize,
    ) -> (BlockSnapshot, Vec<Vec<u32>>) {
        let name = |state: u8| LINE_STATES[usize::from(state)];
        let found = self.0.memory.caches.snapshot(line, self.0.memory.block_shift, nodes, name);
        let block = line.address >> self.0.memory.block_shift;
        let dirty = (0..nodes).map(|cache| match self.0.memory.valid_frame(cache, block) {
            Some(at) => {
                let words = self.0.memory.dirty_words(at);
                let is_dirty = |word: &u32| words.meets(Words::range(*word, *word));
                line.words.iter().copied().filter(is_dirty).collect()
            }
            None => Vec::new(),
        });
        let dirty = dirty.collect();
        (found, dirty)
    }

    /// Misses so far, without unclassified ones.
    pub(crate) fn misses(&self) -> MissCounts {
        self.0.memory.caches.counts.misses
    }

    /// Lines fetched so far.
    pub(crate) fn fills(&self) -> u64 {
        self.0.memory.counts.fills
    }

    /// Messages so far and their bytes; traps, and TLB fills.
    pub(crate) fn counted(&self) -> (PageMessageCounts, u64, (u64, u64)) {
        let system = (self.0.memory.timing.page_faults, self.0.memory.buffers.misses);
        (self.0.memory.sent, self.0.memory.counts.message_bytes, system)
    }

    /// Totals, and the demands on pages, if collected.
    pub(crate) fn totals(
        &mut self,
    ) -> (DirectoryCounts, PageMessageCounts, DirectoryTiming, Option<PageDemands>) {
        let found = self.0.memory.result(ClockTime::default());
        (found.counts, self.0.memory.sent, found.timing, found.demands)
    }
}
