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

use homenode_cache::{CacheArrays, ClockError, WordMask, boxed_for_geometry};
use homenode_clock::{Clock, ClockSetup, TimedSimulation};
use homenode_machine::{BusCycles, BusModel};

use crate::clocked::BusResult;
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

/// Simulates one protocol on one machine with a bus, in cycles. The caches are empty at cycle 0,
/// and all processes are ready.
///
/// # Errors
/// When the machine is invalid.
pub fn bus_clock(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &BusClockSetup,
) -> Result<Box<dyn TimedSimulation<BusResult, ClockError>>, BusSetupError> {
    let (block, ways) = setup.geometry()?;
    Ok(boxed_for_geometry!(
        (block.words(), ways, setup.caches()),
        [UpTo8Ways],
        clock,
        (setup, table, timed)
    ))
}

fn clock<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &BusClockSetup,
) -> Result<Clock<BusMemory<F, W, WORDS>>, BusSetupError> {
    let memory = BusMemory::new(setup, table, timed)?;
    Ok(Clock::new(memory, usize::from(setup.processors), &timed.clock))
}
