//! The engine with everything on view, one reference at a time.
//!
//! Values are carried along, so every reference goes through the table.

use homenode_base::Access;
use homenode_cache::{CacheArrays, IndexedSets, MissStatus, WIDE_WORDS};
use homenode_trace::Batch;

use super::{BusRows, CountingEngine};
use crate::counts::BusCounts;
use crate::driver::{CheckError, Transition};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// How a cache lost the copy whose tag it still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyLoss {
    Invalidated,
    Removed,
}

/// What a cache has of a block.
pub(crate) struct CopyView {
    pub(crate) state: u8,
    pub(crate) loss: Option<CopyLoss>,
    /// Whether the copy came by an invalidation miss that is not yet known to be true sharing.
    pub(crate) open: bool,
    /// The write that each word comes from; empty without a copy.
    pub(crate) values: Vec<u64>,
}

/// An engine to look into. The arrays that serve every cache and block are fast enough here.
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

    /// Whether the engine takes the reference for one to a private area.
    pub(crate) fn is_private(&self, access: &Access) -> bool {
        self.0.0.is_private(access.addr, access.flags.0)
    }

    /// Does one reference. Returns what the table was asked, in order.
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

    /// What was counted so far; misses that are still undecided are not in it.
    pub(crate) fn counts(&self) -> BusCounts {
        self.0.0.driver.counts()
    }

    /// What was counted in all.
    pub(crate) fn finish(self) -> BusCounts {
        self.0.finish()
    }

    /// What a cache has of a block.
    pub(crate) fn copy(&self, processor: usize, block: u64) -> CopyView {
        let caches = &self.0.0.driver.caches;
        let set = caches.frames.set_of(processor, block);
        let Some(at) = caches.frames.find(set, block) else {
            return CopyView { state: 0, loss: None, open: false, values: Vec::new() };
        };
        let frame = &caches.frames.all()[at];
        let loss = match frame.status {
            MissStatus::Invalidated => Some(CopyLoss::Invalidated),
            MissStatus::Removed => Some(CopyLoss::Removed),
            MissStatus::Settled | MissStatus::Undecided | MissStatus::UndecidedKernel => None,
        };
        let values = match &caches.shadow {
            Some(shadow) if frame.state != 0 => shadow.copy(at).to_vec(),
            Some(_) | None => Vec::new(),
        };
        CopyView { state: frame.state, loss, open: frame.status.is_undecided(), values }
    }

    /// What was written last to the words of a block, and what memory has.
    pub(crate) fn latest_and_memory(&mut self, block: u64) -> [Vec<u64>; 2] {
        let number = self.0.0.driver.caches.holders.number(block);
        match &mut self.0.0.driver.caches.shadow {
            Some(shadow) => shadow.latest_and_memory(number).clone(),
            None => [Vec::new(), Vec::new()],
        }
    }
}
