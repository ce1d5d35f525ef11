//! The counting engine of `--order trace`: each reference completes before the next one begins.
//!
//! A reference that changes nothing but the order of use is settled by one search of its set, which
//! compares eight tags at a time (`rows.rs`). So are a miss that concerns no other cache and a
//! write that only changes the own copy's state, with what the table says about them in flat arrays
//! (`alone.rs`). All others go through the protocol's table (`events.rs`, `transaction.rs`).

mod alone;
mod counts;
mod directory;
pub(crate) mod events;
pub(crate) mod frames;
mod note;
mod quiet;
mod rows;
mod setup;
mod shadow;
mod transaction;
mod watch;
pub(crate) mod words;

use homenode_trace::Batch;

pub use counts::{Counts, KernelPart, Misses, Sharing, Transactions};
pub use directory::PROCESSORS_MAX;
pub(crate) use directory::members;
pub(crate) use note::Deed;
pub use setup::{MissRule, Reading, Setup, SetupError};
pub(crate) use watch::{Loss, Watch};

use crate::table::Table;
use frames::arranged;
use rows::Engine;

/// A protocol that does not do what it promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A read returned an old value.
    #[error(
        "reference {reference} of the trace: processor {processor} reads a stale value at address \
         {address:#x}; the protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor that reads.
        processor: u16,
        /// The word.
        address: u64,
    },
    /// Something happened that the protocol declares impossible.
    #[error(
        "reference {reference} of the trace: processor {processor} at address {address:#x}: \
         {what}; the protocol is wrong (homenode check-protocol)"
    )]
    Impossible {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor.
        processor: u16,
        /// The block.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}

impl CheckError {
    /// A read of an old value, so far into the block; where and when the engine knows.
    pub(crate) fn stale(cache: usize, address: u64) -> Self {
        let processor = u16::try_from(cache).unwrap_or(u16::MAX);
        Self::Stale { reference: 0, processor, address }
    }

    /// What the protocol declares impossible; where and when the engine knows.
    pub(crate) fn impossible(cache: usize, what: &'static str) -> Self {
        let processor = u16::try_from(cache).unwrap_or(u16::MAX);
        Self::Impossible { reference: 0, processor, address: 0, what }
    }
}

/// Counts what one protocol does in one machine, in the order of the trace.
///
/// Time: a reference that hits quietly, or a miss that concerns no other cache, is a search of its
/// set; any other takes a look at every cache with a copy. Memory: the caches' frames, and some 50
/// bytes for every block of the trace.
pub struct Counter(Box<dyn Work>);

impl Counter {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// When there can be no such machine.
    pub fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        Ok(Self(arranged!(Engine, setup, table)))
    }

    /// Adds the references of a batch. Batches come in the order of the trace.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.0.push(batch)
    }

    /// What was counted.
    #[must_use]
    pub fn finish(self) -> Counts {
        self.0.finish()
    }
}

/// [`Counter`] for one arrangement of frames and one size of blocks.
trait Work: Send {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError>;
    fn finish(self: Box<Self>) -> Counts;
}
