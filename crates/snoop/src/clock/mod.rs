//! The engine with a clock: processors, a bus and a scheduler in cycles.
//!
//! One cycle after the other, and in each in this order: transactions that are over, and memory
//! that can answer; ready processes come to idle processors; processors look into their caches,
//! the lowest first; the bus goes to the next in turn. What a transaction does to all caches, it
//! does when it gets the bus, by the states that they are in then; while memory has still to send
//! a block, no other transaction about it goes. Cycles in which nothing can happen are skipped.
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4 and table 4.

mod agenda;
mod arbiter;
mod hurry;
mod look;
mod moments;
mod processor;
mod run;
mod timing;
mod traffic;

use homenode_cache::boxed_for_geometry;
use homenode_clock::streams::ThreadStreams;
use homenode_machine::{BusCycles, BusModel, KernelModel, ProcessorModel, SchedulerModel};
use homenode_trace::ProcessorAreas;

pub use timing::{ProcessorTime, Timing, critical_point};

use crate::counts::Counts;
use crate::setup::{Setup, SetupError};
use crate::table::Table;
use run::Run;

/// What has a time, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct ClockSetup {
    /// Each processor.
    pub processor: ProcessorModel,
    /// The bus.
    pub bus: BusModel,
    /// What transactions take.
    pub cycles: BusCycles,
    /// Who runs where.
    pub scheduler: SchedulerModel,
    /// For what the scheduler leaves to chance.
    pub seed: u64,
    /// Processes, numbered from 0.
    pub processes: usize,
}

/// A protocol that does not do what it promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// A read returned an old value.
    #[error(
        "cycle {cycle}: processor {processor} reads a stale value at address {address:#x}; the \
         protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// When.
        cycle: u64,
        /// The processor that reads.
        processor: u16,
        /// The word, as the machine addresses it.
        address: u64,
    },
    /// Something happened that the protocol declares impossible.
    #[error(
        "cycle {cycle}: processor {processor} at address {address:#x}: {what}; the protocol is \
         wrong (homenode check-protocol)"
    )]
    Impossible {
        /// When.
        cycle: u64,
        /// The processor.
        processor: u16,
        /// The block, as the machine addresses it.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}

/// Simulates what one protocol does in one machine, in cycles.
pub struct Clock(Box<dyn Simulation>);

impl Clock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When there can be no such machine.
    pub fn new(setup: &Setup, table: Table, timed: &ClockSetup) -> Result<Self, SetupError> {
        let (block, ways) = setup.geometry()?;
        setup.check_clock()?;
        Ok(Self(boxed_for_geometry!((block.words(), ways), Run, (setup, table, timed))))
    }

    /// Says where the kernel has what belongs to each processor; see
    /// [`homenode_clock::streams::StreamSplitter::with_areas`].
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.0.place(areas);
        self
    }

    /// Makes what a kernel refers to when a processor takes a process; see
    /// [`homenode_clock::streams::StreamSplitter::with_kernel`].
    #[must_use]
    pub fn with_kernel(mut self, model: &KernelModel) -> Self {
        self.0.model(model);
        self
    }

    /// Adds operations of some processes, and goes on until the next one of a process that runs is
    /// unknown. In how many portions they come does not change what happens.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    /// Simulates what is left.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn finish(self) -> Result<(Counts, Timing), ClockError> {
        self.0.finish()
    }
}

/// [`Clock`] for one arrangement of frames and one size of blocks.
trait Simulation: Send {
    fn place(&mut self, areas: &ProcessorAreas);
    fn model(&mut self, model: &KernelModel);
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError>;
    fn finish(self: Box<Self>) -> Result<(Counts, Timing), ClockError>;
}
