//! Current multicore machines: cores with private caches, a last-level cache for some or all cores
//! of a socket, links between sockets, and a memory in each socket.
//!
//! A request takes half of the shortest latency to reach its ordering point. There, transactions on
//! one block take place one after the other in the order of their arrival, each when the one before
//! it has its data. Transactions on different blocks do not wait for each other, unless the machine
//! models contention at memories and between sockets. A transaction changes all caches at once, as
//! the protocol's table says. Its latency depends on where the data are: in the cache of the
//! nearest core that has them, in the last level, or in the memory of the page's home, which is the
//! socket that first fetched from it.
//!
//! Depends on [`homenode_snoop`] for the protocols and the driver that applies their tables: the
//! caches end up in the same states as if the transactions went over a bus, in another time.
//!
//! Sharing is tracked by byte in blocks of up to 64 bytes, else by word of four bytes. Every miss,
//! invalidation and update is recorded with its word and the cycles that processors waited for it
//! ([`homenode_cache::WaitCollector`]).
#![forbid(unsafe_code)]

mod memory;
mod topology;

use homenode_cache::{
    ByteMask, CacheArrays, ClockError, WordMask, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::{Clock, ClockSetup, TimedSimulation};
use homenode_machine::LinkModel;
use homenode_snoop::{BusResult, BusSetup, BusSetupError, ProtocolTable};

use memory::LinkedMemory;

/// Timing parameters, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct LinkClockSetup {
    /// Processors and processes.
    pub clock: ClockSetup,
    /// Where cores are, and the latencies between them.
    pub links: LinkModel,
    /// Bytes in a page of memory.
    pub page_bytes: u64,
}

/// Simulates one protocol on one machine with links, in cycles. The caches are empty at cycle 0,
/// and all processes are ready.
///
/// # Errors
/// When the machine is invalid.
pub fn link_clock(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &LinkClockSetup,
) -> Result<Box<dyn TimedSimulation<BusResult, ClockError>>, BusSetupError> {
    let (block, ways) = setup.geometry()?;
    let caches = setup.caches();
    Ok(if block.bytes() <= ByteMask::COUNT && !setup.check {
        boxed_for_bytes!((ways, caches), clock, (setup, table, timed))
    } else {
        boxed_for_geometry!((block.words(), ways, caches), [], clock, (setup, table, timed))
    })
}

fn clock<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &LinkClockSetup,
) -> Result<Clock<LinkedMemory<F, W, WORDS>>, BusSetupError> {
    let memory = LinkedMemory::new(setup, table, &timed.links, timed.page_bytes)?;
    Ok(Clock::new(memory, usize::from(setup.processors), &timed.clock))
}
