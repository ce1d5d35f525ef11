//! Inspection of all nodes, one reference at a time, for walks.

use homenode_base::Access;
use homenode_cache::walk::{BlockSnapshot, WalkBlock};
use homenode_cache::{ClockError, IndexedSets, MissCounts, WIDE_WORDS};
use homenode_clock::{ClockTime, StepDriver, StepOutcome, TimedMemory};

use super::observed::{ObservedListAct, ObservedListController, ObservedListEntry};
use super::posted::{ListCounts, ListPointer, ListPost};
use super::{ListClockSetup, ListMemory};
use crate::cell::ControllerCell;
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageDemands};
use crate::linked::table::ListTable;
use crate::linked::vocabulary::{CopyEvent, ListMessage};
use crate::mesh::references::of_access;
use crate::setup::{DirectorySetup, DirectorySetupError};

/// One kind of cache that serves every block size and number of nodes is fast enough here.
type ObservedMemory = ListMemory<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>;

/// A memory system that can be inspected.
pub(crate) struct ObservedLists(StepDriver<ObservedMemory>);

impl ObservedLists {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: ListTable,
        homes: Box<dyn HomePolicy>,
        timed: &ListClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let setup = DirectorySetup { check: true, ..setup.clone() };
        let mut memory = ObservedMemory::new(&setup, table, homes, timed)?;
        memory.log = Some(Vec::new());
        Ok(Self(StepDriver::new(memory, usize::from(setup.nodes))))
    }

    /// Performs an access to one block with all its effects; or, if the next one overlaps it, up to
    /// the point where its controller has sent the request.
    pub(crate) fn access(
        &mut self,
        node: u16,
        access: &Access,
        overlaps: bool,
    ) -> Result<StepOutcome, ClockError> {
        let reference = of_access(node, access, self.shift());
        self.observe_hit(node, reference.block, reference.kind.writes());
        let at = usize::from(node);
        let sent = |memory: &ObservedMemory| {
            overlaps && memory.pending[at].is_none_or(|pending| pending.tag != 0)
        };
        let course = self.0.begin(&reference, sent)?;
        self.0.memory.take_error().map_or(Ok(course), Err)
    }

    /// Logs the protocol's action for a reference that the copy permits.
    fn observe_hit(&mut self, node: u16, block: u64, store: bool) {
        let memory = &mut self.0.memory;
        let (_, state) = memory.place(node, block);
        let event = if store { CopyEvent::Store } else { CopyEvent::Load };
        let ControllerCell::Does(actions, next) = memory.table.copy_cell(state, event) else {
            return;
        };
        // Other actions are performed, and logged, by the controller.
        if next == state {
            let number = memory.caches.holders.number(block);
            let requester = ListPointer { node, tag: 0 };
            let (message, from, to) = (ListMessage::Read, node, node);
            let (about, more, relayed) = (None, 0, false);
            let post =
                ListPost { message, from, to, block, number, requester, about, more, relayed };
            let seen = ObservedListController::Copy(event, actions);
            memory.observe(node, &post, seen, state, next);
        }
    }

    /// Actions since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<ObservedListAct> {
        self.0.memory.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Logarithm of the block size.
    pub(crate) fn shift(&self) -> u32 {
        self.0.memory.block_shift
    }

    /// The name of a state of a copy.
    pub(crate) fn state_name(&self, state: u8) -> &'static str {
        self.0.memory.table.copy.name(state)
    }

    /// The name of a state at home.
    pub(crate) fn home_name(&self, state: u8) -> &'static str {
        self.0.memory.table.home.name(state)
    }

    /// The state of a node's copy, and whether its miss is still unclassified.
    pub(crate) fn state_of(&self, node: usize, block: u64) -> (u8, bool) {
        self.0.memory.caches.state_of(node, block)
    }

    /// A block in all caches, proxy caches last, and in memory; and its entry at the home.
    pub(crate) fn snapshot(&mut self, block: &WalkBlock) -> (BlockSnapshot, ObservedListEntry) {
        let (shift, memory) = (self.shift(), &mut self.0.memory);
        let (table, caches) = (&memory.table, memory.nodes.len());
        let found = memory.caches.snapshot(block, shift, caches, |state| table.copy.name(state));
        let address = block.address >> shift;
        let number = memory.caches.holders.number(address);
        (found, memory.observed_entry(address, number))
    }

    /// Misses so far, without unclassified ones.
    pub(crate) fn misses(&self) -> MissCounts {
        self.0.memory.caches.counts.misses
    }

    /// Messages so far, and their bytes.
    pub(crate) fn sent(&self) -> (ListCounts, u64) {
        let memory = &self.0.memory;
        (memory.sent, memory.sent.bytes(memory.header_bytes, memory.block_bytes))
    }

    /// Totals, and the demands on pages, if collected.
    pub(crate) fn finish(mut self) -> (DirectoryCounts, ListCounts, Option<PageDemands>) {
        let found = self.0.memory.result(ClockTime::default());
        (found.counts, self.0.memory.sent, found.demands)
    }
}
