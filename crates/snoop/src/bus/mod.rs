//! The memory system of the machine on a bus: caches, the bus that they snoop on, and memory.
//!
//! A transaction changes all caches when it is granted the bus, by their states at that time. While
//! memory has still to send a block, no other transaction on it is granted. Processors, processes
//! and their synchronisation are in [`homenode_clock`].
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4 and table 4.

mod arbiter;
mod memory;
mod prices;
mod time;

use homenode_base::ReferenceFilter;
use homenode_cache::{CacheArrays, ClockError, WordMask, boxed_for_geometry};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup, LiveClock};
use homenode_machine::{BusCycles, BusModel, KernelModel};
use homenode_trace::ProcessorAreas;

pub use time::BusTime;

use crate::counts::BusCounts;
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use memory::BusMemory;

/// Timing parameters, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct BusClockSetup {
    /// Processors and processes.
    pub clock: ClockSetup,
    /// Arbitration and split transactions.
    pub bus: BusModel,
    /// Cycles of each transaction.
    pub cycles: BusCycles,
}

/// Simulates one protocol on one machine with a bus, in cycles.
pub struct BusClock {
    simulation: Box<dyn Simulation>,
    filter: ReferenceFilter,
}

impl BusClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When the machine is invalid.
    pub fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &BusClockSetup,
    ) -> Result<Self, BusSetupError> {
        let (block, ways) = setup.geometry()?;
        let simulation: Box<dyn Simulation> = boxed_for_geometry!(
            (block.words(), ways, setup.caches()),
            ClockedBus,
            (setup, table, timed)
        );
        Ok(Self { simulation, filter: setup.filter })
    }

    /// Sets the kernel's areas of each processor; see [`Clock::set_areas`].
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.simulation.set_areas(areas);
        self
    }

    /// Generates the references of a kernel that switches processes; see [`Clock::set_kernel`].
    #[must_use]
    pub fn with_kernel(mut self, model: &KernelModel) -> Self {
        self.simulation.set_kernel(model, self.filter);
        self
    }

    /// Adds operations of some processes, and simulates as far as they allow; see [`Clock::push`].
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.simulation.push(streams)
    }

    /// The interface of a live front end.
    pub fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        self.simulation.live()
    }

    /// Simulates the rest.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn finish(self) -> Result<(BusCounts, BusTime), ClockError> {
        self.simulation.finish()
    }
}

/// A clock for one arrangement of frames, one width of word masks and one of sets of caches.
struct ClockedBus<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    Clock<BusMemory<F, W, WORDS>>,
);

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ClockedBus<F, W, WORDS> {
    fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &BusClockSetup,
    ) -> Result<Self, BusSetupError> {
        let memory = BusMemory::new(setup, table, timed)?;
        Ok(Self(Clock::new(memory, usize::from(setup.processors), &timed.clock)))
    }
}

/// [`ClockedBus`] of any arrangement: dispatch happens once a portion, not at a reference.
trait Simulation: Send {
    fn set_areas(&mut self, areas: &ProcessorAreas);
    fn set_kernel(&mut self, model: &KernelModel, filter: ReferenceFilter);
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError>;
    fn live(&mut self) -> &mut dyn LiveClock<ClockError>;
    fn finish(self: Box<Self>) -> Result<(BusCounts, BusTime), ClockError>;
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> Simulation for ClockedBus<F, W, WORDS> {
    fn set_areas(&mut self, areas: &ProcessorAreas) {
        self.0.set_areas(areas);
    }

    fn set_kernel(&mut self, model: &KernelModel, filter: ReferenceFilter) {
        self.0.set_kernel(model, filter);
    }

    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        &mut self.0
    }

    fn finish(self: Box<Self>) -> Result<(BusCounts, BusTime), ClockError> {
        let (mut memory, clock) = self.0.finish()?;
        let bus_busy = memory.busy_cycles();
        Ok((memory.finish(), BusTime { clock, bus_busy }))
    }
}
