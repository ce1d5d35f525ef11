//! The engine with everything on view, one reference at a time.
//!
//! Values are carried along, so every reference goes through the tables.

use homenode_base::Access;
use homenode_cache::walk::{BlockSnapshot, WalkBlock};
use homenode_cache::{CheckError, IndexedSets, WIDE_WORDS};
use homenode_trace::Batch;

use crate::counts::DirectoryCounts;
use crate::driver::{ObservedCell, ObservedEntry};
use crate::home::HomePolicy;
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::table::DirectoryTable;
use crate::trace_order::{DirectoryEngine, DirectoryRows};

/// The caches that serve every block and number of nodes are fast enough here.
type ObservedRows = DirectoryRows<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>;

/// An engine to look into.
pub(super) struct ObservedDirectory(Box<ObservedRows>);

impl ObservedDirectory {
    pub(super) fn new(
        setup: &DirectorySetup,
        table: &DirectoryTable,
        homes: Box<dyn HomePolicy>,
    ) -> Result<Self, DirectorySetupError> {
        let setup = DirectorySetup { check: true, ..setup.clone() };
        let mut rows = DirectoryRows::new(&setup, table.clone(), homes)?;
        rows.engine.driver.log = Some(Vec::new());
        Ok(Self(Box::new(rows)))
    }

    /// Bytes in a block, as a shift.
    pub(super) fn shift(&self) -> u32 {
        self.0.engine.shift()
    }

    /// Whether the engine takes the reference for one to a private area.
    pub(super) fn is_private(&self, access: &Access) -> bool {
        self.0.engine.is_private(access.addr, access.flags.0)
    }

    /// Does one reference. Returns what the tables were asked, in order.
    pub(super) fn push(&mut self, access: &Access) -> Result<Vec<ObservedCell>, CheckError> {
        self.0.push(&Batch {
            thread: vec![access.thread],
            kind: vec![access.kind.code()],
            size: vec![access.size],
            addr: vec![access.addr],
            flags: vec![access.flags.0],
            ..Batch::default()
        })?;
        Ok(self.0.engine.driver.log.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// What was counted so far; misses that are still undecided are not in it.
    pub(super) fn counts(&self) -> DirectoryCounts {
        self.0.engine.driver.counts(self.0.writes)
    }

    /// What was counted in all.
    pub(super) fn finish(self) -> DirectoryCounts {
        self.0.finish().counts
    }

    /// The state of a node's copy, and whether its miss is still to be judged.
    pub(super) fn state_of(&self, node: usize, block: u64) -> (u8, bool) {
        self.0.engine.driver.caches.state_of(node, block)
    }

    /// A block in the caches of so many nodes and in memory, and what the directory has of it.
    pub(super) fn snapshot(
        &mut self,
        block: &WalkBlock,
        nodes: usize,
        name: &dyn Fn(u8) -> &'static str,
    ) -> (BlockSnapshot, ObservedEntry) {
        let shift = self.shift();
        let driver = &mut self.0.engine.driver;
        let found = driver.caches.snapshot((block, shift), nodes, name);
        let number = driver.caches.holders.number(block.address >> shift);
        (found, driver.observed_entry(number))
    }
}
