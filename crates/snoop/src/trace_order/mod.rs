//! The engine of `--order trace`: each reference completes before the next one begins.
//!
//! [`TraceOrderEngine`] decodes the rows, and the protocol driver performs them.

use homenode_cache::{
    CacheArrays, TraceOrderEngine, TraceOrderSetup, WordMask, boxed_for_geometry,
};
use homenode_trace::Batch;

use crate::counts::BusCounts;
use crate::driver::{CheckError, ProtocolDriver};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// Simulates one protocol on one machine, in the order of the trace.
///
/// Time: a hit without a transaction, or a miss that affects no other cache, searches one set; any
/// other reference searches a set in every cache with a copy. Memory: the caches' frames, and some
/// 50 bytes for every block of the trace.
pub struct TraceOrderSimulation(Box<dyn CountingEngine>);

impl TraceOrderSimulation {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// When the machine is invalid.
    pub fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let (block, ways) = setup.geometry()?;
        Ok(Self(boxed_for_geometry!(
            (block.words(), ways, setup.caches()),
            [DirectMapped, UpTo8Ways, UpTo16Ways],
            rows,
            (setup, table)
        )))
    }

    /// Adds the references of a batch. Batches come in the order of the trace.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.0.push(batch)
    }

    /// The final counts.
    #[must_use]
    pub fn finish(self) -> BusCounts {
        self.0.finish()
    }
}

/// [`TraceOrderSimulation`] for one kind of cache arrays and one width of word masks and of sets of
/// caches.
trait CountingEngine: Send {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError>;
    fn finish(self: Box<Self>) -> BusCounts;
}

fn rows<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &BusSetup,
    table: ProtocolTable,
) -> Result<BusRows<F, W, WORDS>, BusSetupError> {
    BusRows::new(setup, table)
}

/// A protocol driver, and the interpretation of rows.
pub(crate) struct BusRows<F, W, const WORDS: usize>(
    pub(crate) TraceOrderEngine<ProtocolDriver<F, W, WORDS>>,
);

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> BusRows<F, W, WORDS> {
    pub(crate) fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let (block, _) = setup.geometry()?;
        let rows = TraceOrderSetup {
            processors: setup.processors,
            block,
            instructions: setup.instructions.is_some(),
            private: &setup.private,
            filter: setup.filter,
            private_kernel: setup.private_kernel,
            check: setup.check,
        };
        Ok(Self(TraceOrderEngine::new(ProtocolDriver::new(setup, table)?, &rows)))
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CountingEngine for BusRows<F, W, WORDS> {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.0.push(batch, 0..batch.len())
    }

    fn finish(mut self: Box<Self>) -> BusCounts {
        self.0.driver.finish()
    }
}
