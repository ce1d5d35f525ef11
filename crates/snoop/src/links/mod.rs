//! The memory system of machines of today: cores with private caches, a last-level cache for some
//! or all cores of a socket, links between sockets, and a memory in each.
//!
//! A request takes half of the shortest latency to where it is decided who has the block. There
//! transactions on one block take place one after the other, in the order in which they came, each
//! when the one before it has its data; transactions on different blocks do not wait for each
//! other, unless the machine models contention at memories and between sockets. What a transaction
//! does to all caches it does at once, by the protocol's table. How long it takes depends on where
//! the data are: in the cache of the nearest core that has them, in the last level, or in the
//! memory of the page's home, which is the socket that fetched from it first.
//!
//! Whether data are shared is told byte by byte in blocks of up to 64 bytes, else by words of four.
//! Every miss and every announcement is kept with the word it is about, and with the cycles that
//! processors waited for it ([`homenode_cache::WaitCollector`]).

mod memory;
mod topology;

use homenode_cache::{
    ByteMask, CacheArrays, ClockError, WordMask, WordWaits, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup, ClockTime, LiveClock};
use homenode_machine::LinkModel;
use homenode_trace::ProcessorAreas;

use crate::counts::BusCounts;
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use memory::LinkedMemory;

/// What has a time, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct LinkClockSetup {
    /// Processors and processes.
    pub clock: ClockSetup,
    /// Where cores are, and how far it is from one to another.
    pub links: LinkModel,
    /// Bytes in a page of memory.
    pub page_bytes: u64,
}

/// What was counted and what took how long.
#[derive(Clone, Debug, Default)]
pub struct LinkedResult {
    /// The counts.
    pub counts: BusCounts,
    /// Processors and processes.
    pub time: ClockTime,
    /// Misses and waiting by word, in order of its address divided by four.
    pub waits: WordWaits,
}

/// Simulates what one protocol does in one machine with links, in cycles.
pub struct LinkClock(Box<dyn LinkSimulation>);

impl LinkClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When there can be no such machine.
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

    /// Says where the kernel has what belongs to each processor; see [`Clock::set_areas`].
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.0.set_areas(areas);
        self
    }

    /// Adds operations of some processes, and goes on as far as they are known; see
    /// [`Clock::push`].
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    /// What a live front end asks of it.
    pub fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        self.0.live()
    }

    /// Simulates what is left.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn finish(self) -> Result<LinkedResult, ClockError> {
        self.0.finish()
    }
}

/// A clock for one arrangement of frames, one size of blocks and one width of sets of caches.
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

/// [`ClockedLinks`], whatever the arrangement.
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
