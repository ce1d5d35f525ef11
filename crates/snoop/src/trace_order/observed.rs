//! The engine with its state open to inspection, one reference at a time.
//!
//! Reads are checked, so every reference goes by the table.

use homenode_base::Access;
use homenode_cache::walk::{BlockSnapshot, WalkBlock};
use homenode_cache::{IndexedSets, WIDE_WORDS};
use homenode_trace::Batch;

use super::{BusRows, CountingEngine};
use crate::counts::BusCounts;
use crate::driver::{CheckError, Transition};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// An inspectable engine, with the arrays that suit every cache and block.
pub(crate) struct ObservedEngine(Box<BusRows<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>>);

impl ObservedEngine {
    pub(crate) fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let mut engine = BusRows::new(&BusSetup { check: true, ..setup.clone() }, table)?;
        engine.0.driver.log = Some(Vec::new());
        Ok(Self(Box::new(engine)))
    }

    /// Bytes in a block, as a shift.
    pub(crate) fn shift(&self) -> u32 {
        self.0.0.shift()
    }

    /// Whether the reference is to a private area.
    pub(crate) fn is_private(&self, access: &Access) -> bool {
        self.0.0.is_private(access.addr, access.flags.0)
    }

    /// Performs one reference. Returns the cells that it used, in order.
    pub(crate) fn push(&mut self, access: &Access) -> Result<Vec<Transition>, CheckError> {
        self.0.push(&Batch {
            thread: vec![access.thread],
            kind: vec![access.kind.code()],
            size: vec![access.size],
            addr: vec![access.addr],
            flags: vec![access.flags.0],
            ..Batch::default()
        })?;
        Ok(self.0.0.driver.log.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// The counts so far, without undecided misses.
    pub(crate) fn counts(&self) -> BusCounts {
        self.0.0.driver.counts()
    }

    /// The final counts.
    pub(crate) fn finish(self) -> BusCounts {
        self.0.finish()
    }

    /// The state of a cache's copy, and whether the class of its miss is unknown.
    pub(crate) fn state_of(&self, cache: usize, block: u64) -> (u8, bool) {
        self.0.0.driver.caches.state_of(cache, block)
    }

    /// A block in the first `caches` caches and in memory.
    pub(crate) fn snapshot(
        &mut self,
        block: &WalkBlock,
        caches: usize,
        name: &dyn Fn(u8) -> &'static str,
    ) -> BlockSnapshot {
        let shift = self.shift();
        self.0.0.driver.caches.snapshot(block, shift, caches, name)
    }
}
