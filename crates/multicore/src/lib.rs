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
    ByteMask, CacheArrays, ClockError, WordMask, WordWaits, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup, ClockTime, LiveClock};
use homenode_machine::LinkModel;
use homenode_snoop::{BusCounts, BusSetup, BusSetupError, ProtocolTable};
use homenode_trace::ProcessorAreas;

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

/// Counts and times.
#[derive(Clone, Debug, Default)]
pub struct LinkedResult {
    /// References, misses and transactions.
    pub counts: BusCounts,
    /// Times of processors and processes.
    pub time: ClockTime,
    /// Misses and waiting by word, in order of its address divided by four.
    pub waits: WordWaits,
}

/// Simulates one protocol on one machine with links, in cycles.
pub struct LinkClock(Box<dyn LinkSimulation>);

impl LinkClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When the machine is invalid.
    pub fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &LinkClockSetup,
    ) -> Result<Self, BusSetupError> {
        let (block, ways) = setup.geometry()?;
        let caches = setup.caches();
        let simulation: Box<dyn LinkSimulation> =
            if block.bytes() <= ByteMask::COUNT && !setup.check {
                boxed_for_bytes!((ways, caches), ClockedLinks, (setup, table, timed))
            } else {
                let words = block.words();
                boxed_for_geometry!((words, ways, caches), ClockedLinks, (setup, table, timed))
            };
        Ok(Self(simulation))
    }

    /// Sets the kernel's areas of each processor; see [`Clock::set_areas`].
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.0.set_areas(areas);
        self
    }

    /// Adds operations of some processes, and simulates as far as they allow; see [`Clock::push`].
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    /// The interface of a live front end.
    pub fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        self.0.live()
    }

    /// Simulates the rest.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn finish(self) -> Result<LinkedResult, ClockError> {
        self.0.finish()
    }
}

/// A clock for one arrangement of frames, one width of word masks and one of sets of caches.
struct ClockedLinks<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    Clock<LinkedMemory<F, W, WORDS>>,
);

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ClockedLinks<F, W, WORDS> {
    fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &LinkClockSetup,
    ) -> Result<Self, BusSetupError> {
        let memory = LinkedMemory::new(setup, table, &timed.links, timed.page_bytes)?;
        Ok(Self(Clock::new(memory, usize::from(setup.processors), &timed.clock)))
    }
}

/// [`ClockedLinks`] of any arrangement.
trait LinkSimulation: Send {
    fn set_areas(&mut self, areas: &ProcessorAreas);
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError>;
    fn live(&mut self) -> &mut dyn LiveClock<ClockError>;
    fn finish(self: Box<Self>) -> Result<LinkedResult, ClockError>;
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LinkSimulation
    for ClockedLinks<F, W, WORDS>
{
    fn set_areas(&mut self, areas: &ProcessorAreas) {
        self.0.set_areas(areas);
    }

    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        &mut self.0
    }

    fn finish(self: Box<Self>) -> Result<LinkedResult, ClockError> {
        let (mut memory, time) = self.0.finish()?;
        let (counts, waits) = memory.finish();
        Ok(LinkedResult { counts, time, waits })
    }
}
