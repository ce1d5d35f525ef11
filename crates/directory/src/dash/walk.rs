//! Walks under a block protocol: the trace-order engine performs one reference at a time.
//!
//! Values are checked, so every reference goes through the tables.

use homenode_base::Access;
use homenode_cache::walk::{StepOf, WalkBlock, WalkedEngine, WrittenStep, batch_of, record};
use homenode_cache::{CheckError, IndexedSets, MissCounts, WIDE_WORDS};

use crate::acts::ControllerAct;
use crate::acts::{
    DirectoryScene, DirectoryWalk, DirectoryWalkTotals, count_references, number_messages,
};
use crate::counts::{DirectoryCounts, MessageCounts};
use crate::dash::table::DirectoryTable;
use crate::dash::trace_order::{DirectoryEngine, DirectoryResult, DirectoryRows};
use crate::home::{HomePolicy, PageDemands};
use crate::setup::{DirectorySetup, DirectorySetupError};

/// Why a walk failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryWalkError {
    /// The configuration is invalid.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks an invariant.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in order. Values are always checked, regardless of the setup.
/// Instruction fetches are not references here. Returns the demands on pages as well, for the
/// choice of homes.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk(
    setup: &DirectorySetup,
    table: &DirectoryTable,
    homes: Box<dyn HomePolicy>,
    references: &[Access],
) -> Result<(DirectoryWalk, PageDemands), DirectoryWalkError> {
    let mut rows = DirectoryRows::new(&setup.walked(), table.clone(), homes)?;
    rows.engine.driver.log = Some(Vec::new());
    let engine = WalkedBlocks { rows: Box::new(rows), table, nodes: setup.nodes, crossed: 0 };
    let steps: Vec<WrittenStep> = references.iter().copied().map(WrittenStep::Access).collect();
    Ok(record(engine, &steps)?)
}

struct WalkedBlocks<'a> {
    /// One kind of cache that serves every block size and number of nodes is fast enough here.
    rows: Box<DirectoryRows<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>>,
    table: &'a DirectoryTable,
    nodes: u16,
    /// Messages so far that are counted.
    crossed: u64,
}

impl WalkedBlocks<'_> {
    fn counts(&self) -> DirectoryCounts {
        self.rows.engine.driver.counts(self.rows.writes)
    }

    fn state_of(&self, node: u16, block: u64) -> u8 {
        self.rows.engine.driver.caches.state_of(usize::from(node), block).0
    }
}

impl WalkedEngine for WalkedBlocks<'_> {
    type Act = ControllerAct;
    type Scene = Vec<DirectoryScene>;
    type Messages = MessageCounts;
    type Totals = DirectoryWalkTotals;
    type Findings = PageDemands;
    type Error = CheckError;

    fn shift(&self) -> u32 {
        self.rows.engine.shift()
    }

    fn processor(&self, thread: u16) -> u16 {
        thread % self.nodes
    }

    fn is_private(&self, access: &Access) -> bool {
        self.rows.engine.is_private(access.addr, access.flags.0)
    }

    fn perform(
        &mut self,
        written: &WrittenStep,
        blocks: &[WalkBlock],
        step: &mut StepOf<Self>,
    ) -> Result<bool, CheckError> {
        let Some(access) = written.access() else { return Ok(false) };
        let shift = self.shift();
        let had_copy = self.state_of(step.processor, access.addr >> shift) != 0;
        self.rows.push(&batch_of(&[*access]))?;
        for (block, act) in self.rows.engine.driver.log.iter_mut().flat_map(std::mem::take) {
            let block = Some(WalkBlock::position(blocks, block, shift).unwrap_or(0));
            step.acts.push(ControllerAct { block, ..act });
        }
        let messages = step.acts.iter_mut().filter_map(|act| act.message.as_mut());
        number_messages(messages, &mut self.crossed);
        let counts = self.counts();
        (step.messages, step.message_bytes) = (Some(counts.messages), Some(counts.message_bytes));
        Ok(!had_copy)
    }

    fn is_open(&self, node: usize, block: u64) -> bool {
        self.rows.engine.driver.caches.state_of(node, block).1
    }

    fn misses(&self) -> MissCounts {
        self.counts().misses
    }

    fn states(&mut self, step: &StepOf<Self>, blocks: &[WalkBlock]) -> Vec<&'static str> {
        let number = step.block.map_or(0, |block| blocks[block].address >> self.shift());
        (0..self.nodes).map(|node| self.table.cache.name(self.state_of(node, number))).collect()
    }

    fn scene(&mut self, blocks: &[WalkBlock]) -> Vec<DirectoryScene> {
        let (shift, table, nodes) = (self.shift(), self.table, usize::from(self.nodes));
        let driver = &mut self.rows.engine.driver;
        let one = |block: &WalkBlock| {
            let data = driver.caches.snapshot(block, shift, nodes, |state| table.cache.name(state));
            let number = driver.caches.holders.number(block.address >> shift);
            let (entry, proxy_copies) = (driver.observed_entry(number), Vec::new());
            DirectoryScene { entry, data, proxy_copies }
        };
        blocks.iter().map(one).collect()
    }

    fn finish(self, steps: &[WrittenStep]) -> (DirectoryWalkTotals, PageDemands) {
        let DirectoryResult { mut counts, demands, .. } = self.rows.finish();
        count_references(&mut counts, steps);
        let totals = DirectoryWalkTotals { counts, messages: counts.messages };
        (totals, demands.unwrap_or_default())
    }
}
