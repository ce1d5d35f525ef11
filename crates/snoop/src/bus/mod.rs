//! The memory system of the machine on a bus: caches, the bus that they snoop on, and memory.
//!
//! What a transaction does to all caches, it does when it gets the bus, by the states that they are
//! in then; while memory has still to send a block, no other transaction about it goes. Processors,
//! processes and their synchronisation are [`homenode_clock`]'s.
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

/// What has a time, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct BusClockSetup {
    /// Processors and processes.
    pub clock: ClockSetup,
    /// The bus.
    pub bus: BusModel,
    /// What transactions take.
    pub cycles: BusCycles,
}

/// Simulates what one protocol does in one machine on a bus, in cycles.
pub struct BusClock {
    simulation: Box<dyn Simulation>,
    filter: ReferenceFilter,
}

impl BusClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When there can be no such machine.
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

    /// Says where the kernel has what belongs to each processor; see [`Clock::set_areas`].
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.simulation.set_areas(areas);
        self
    }

    /// Makes what a kernel refers to when a processor takes a process; see [`Clock::set_kernel`].
    #[must_use]
    pub fn with_kernel(mut self, model: &KernelModel) -> Self {
        self.simulation.set_kernel(model, self.filter);
        self
    }

    /// Adds operations of some processes, and goes on as far as they are known; see
    /// [`Clock::push`].
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.simulation.push(streams)
    }

    /// What a live front end asks of it.
    pub fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        self.simulation.live()
    }

    /// Simulates what is left.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn finish(self) -> Result<(BusCounts, BusTime), ClockError> {
        self.simulation.finish()
    }
}

/// A clock for one arrangement of frames, one size of blocks and one width of sets of caches.
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

/// [`ClockedBus`], whatever the arrangement: the choice is made once a portion, not at a reference.
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
