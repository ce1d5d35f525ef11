//! A walk under a linked-list protocol: the timed memory system performs one reference at a time,
//! with all its effects.

use std::ops::Range;

use homenode_base::Access;
use homenode_cache::walk::{StepOf, WalkBlock, WalkedEngine, WrittenStep, record};
use homenode_cache::{BlockRef, IndexedSets, MissCounts, WIDE_WORDS};
use homenode_clock::{ClockTime, StepDriver, StepOutcome, TimedMemory};

use super::posted::{ListCounts, ListPointer, ListPost};
use super::{ListClockSetup, ListMemory};
use crate::acts::{
    ControllerAct, DirectoryScene, DirectoryWalk, DirectoryWalkTotals, PagedWalkError,
    count_references, number_messages,
};
use crate::cell::ControllerCell;
use crate::home::{HomePolicy, PageDemands};
use crate::linked::table::ListTable;
use crate::linked::vocabulary::CopyEvent;
use crate::mesh::references;
use crate::setup::DirectorySetup;

/// Walks through references in order. One that begins ([`WrittenStep::Begins`]) is in flight when
/// the next one begins: as soon as its request has been sent. Values are always checked, regardless
/// of the setup. Returns the demands on pages as well, for the choice of homes.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk_linked(
    setup: &DirectorySetup,
    table: &ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
    references: &[WrittenStep],
) -> Result<(DirectoryWalk<ListCounts>, PageDemands), PagedWalkError> {
    let mut memory = ListMemory::new(&setup.walked(), table.clone(), homes, timed)?;
    memory.log = Some(Vec::new());
    let driver = StepDriver::new(memory, usize::from(setup.nodes));
    record(WalkedLists { driver, private: &setup.private, crossed: 0 }, references)
}

struct WalkedLists<'a> {
    /// One kind of cache that serves every block size and number of nodes is fast enough here.
    driver: StepDriver<ListMemory<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>>,
    private: &'a [Range<u64>],
    /// Messages so far that are counted.
    crossed: u64,
}

impl WalkedLists<'_> {
    /// Logs the protocol's action for a reference that the copy permits.
    fn observe_hit(&mut self, node: u16, block: u64, store: bool) {
        let memory = &mut self.driver.memory;
        let (_, state) = memory.place(node, block);
        let event = if store { CopyEvent::Store } else { CopyEvent::Load };
        let ControllerCell::Does(actions, next) = memory.table.copy.cell(state, event) else {
            return;
        };
        // Other actions are performed, and logged, by the controller.
        if next == state {
            let number = memory.caches.holders.number(block);
            let post = ListPost::within(ListPointer { node, tag: 0 }, BlockRef { block, number });
            memory.observe_copy(node, &post, event, actions, [state, next]);
        }
    }
}

impl WalkedEngine for WalkedLists<'_> {
    type Act = ControllerAct;
    type Scene = Vec<DirectoryScene>;
    type Messages = ListCounts;
    type Totals = DirectoryWalkTotals<ListCounts>;
    type Findings = PageDemands;
    type Error = PagedWalkError;

    fn shift(&self) -> u32 {
        self.driver.memory.block_shift
    }

    fn processor(&self, thread: u16) -> u16 {
        thread % self.driver.memory.node_count
    }

    fn is_private(&self, access: &Access) -> bool {
        references::is_private(access, self.private)
    }

    fn perform(
        &mut self,
        written: &WrittenStep,
        blocks: &[WalkBlock],
        step: &mut StepOf<Self>,
    ) -> Result<bool, PagedWalkError> {
        let (Some(access), node) = (written.access(), step.processor) else { return Ok(false) };
        let shift = self.shift();
        let reference = references::of_access(node, access, step.private, shift);
        let at = usize::from(node);
        let had_copy = self.driver.memory.caches.state_of(at, reference.block).0 != 0;
        self.observe_hit(node, reference.block, reference.kind.writes());
        let overlaps = matches!(written, WrittenStep::Begins(_));
        let outcome = self.driver.begin(&reference, |memory| {
            overlaps && memory.pending[at].is_none_or(|pending| pending.tag != 0)
        })?;
        self.driver.memory.take_error().map_or(Ok(()), Err)?;
        step.cycles = match outcome {
            StepOutcome::Done(cycles) => Some(cycles),
            StepOutcome::InFlight => None,
            StepOutcome::Stuck => {
                return Err(PagedWalkError::Stuck { number: step.reference + 1, node });
            }
        };
        let memory = &mut self.driver.memory;
        for (block, act) in memory.log.iter_mut().flat_map(std::mem::take) {
            let block = Some(WalkBlock::position(blocks, block, shift).unwrap_or(0));
            step.acts.push(ControllerAct { block, ..act });
        }
        let messages = step.acts.iter_mut().filter_map(|act| act.message.as_mut());
        number_messages(messages, &mut self.crossed);
        step.messages = Some(memory.sent);
        step.message_bytes = Some(memory.message_bytes());
        Ok(!had_copy)
    }

    fn is_open(&self, node: usize, block: u64) -> bool {
        self.driver.memory.caches.state_of(node, block).1
    }

    fn misses(&self) -> MissCounts {
        self.driver.memory.caches.counts.misses
    }

    fn states(&mut self, step: &StepOf<Self>, blocks: &[WalkBlock]) -> Vec<&'static str> {
        let memory = &self.driver.memory;
        let number = step.block.map_or(0, |block| blocks[block].address >> memory.block_shift);
        let state = |node| memory.caches.state_of(usize::from(node), number).0;
        (0..memory.node_count).map(|node| memory.table.copy.name(state(node))).collect()
    }

    fn scene(&mut self, blocks: &[WalkBlock]) -> Vec<DirectoryScene> {
        let memory = &mut self.driver.memory;
        let (shift, all) = (memory.block_shift, memory.nodes.len());
        let one = |block: &WalkBlock| {
            let table = &memory.table;
            let found = &mut memory.caches;
            let mut data = found.snapshot(block, shift, all, |state| table.copy.name(state));
            let proxy_copies = data.copies.split_off(usize::from(memory.node_count));
            let address = block.address >> shift;
            let number = found.holders.number(address);
            DirectoryScene { entry: memory.observed_entry(address, number), data, proxy_copies }
        };
        blocks.iter().map(one).collect()
    }

    fn finish(mut self, steps: &[WrittenStep]) -> (Self::Totals, PageDemands) {
        let messages = self.driver.memory.sent;
        let mut found = self.driver.memory.result(ClockTime::default());
        count_references(&mut found.counts, steps);
        (DirectoryWalkTotals { counts: found.counts, messages }, found.demands.unwrap_or_default())
    }
}
