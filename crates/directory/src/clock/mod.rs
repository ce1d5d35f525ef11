//! Machines with a directory, in cycles.
//!
//! Every node has a processor, a cache, a part of memory with its controller, and a way into a mesh.
//! A message leaves its node when the messages before it have left, goes along the links, and waits
//! at the node it comes to for those that are coming in. A home's controller looks up one block
//! after the other, and its memory does one access after the other. What a controller does then is
//! said by the protocol's table (`dash/`).
//!
//! Events of one time are those of the lowest node first, and of one node in the order in which
//! they were made.

mod dash;
mod latency;
mod mesh;
mod network;
mod pages;
mod result;
mod sync;
mod transport;

use homenode_cache::{CacheArrays, ClockError, WordMask, boxed_for_geometry};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup};
use homenode_machine::DirectoryMachine;

use crate::home::HomePolicy;
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::table::DirectoryTable;
use crate::trace_order::NO_INIT_DONE;
use dash::DashMemory;
pub use latency::{DistanceCost, MissLatency};
pub use mesh::MeshShape;
pub use result::{ClockedDirectoryResult, DirectoryTiming};

/// What has a time.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryClockSetup {
    /// Processors and processes: process i runs on node i modulo the number of nodes.
    pub clock: ClockSetup,
    /// What connects nodes, and what their parts take.
    pub machine: DirectoryMachine,
    /// Whether a write takes place when everybody has seen it, and not when it may.
    pub sequential: bool,
    /// Whether pages move again at each mark of a phase.
    pub phase_change: bool,
    /// Whether times and counts begin when initialisation is over.
    pub from_init_done: bool,
}

/// Simulates what one protocol does in one machine with one policy of homes, in cycles.
pub struct DirectoryClock(Box<dyn TimedSimulation>);

impl DirectoryClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When there can be no such machine.
    pub fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        (homes, timed): (Box<dyn HomePolicy>, &DirectoryClockSetup),
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        Ok(Self(boxed_for_geometry!(
            (block.words(), geometry.ways, usize::from(setup.nodes)),
            ClockedDash,
            (setup, table, (homes, timed))
        )))
    }

    /// Adds operations of some processes, and goes on as far as they are known; see
    /// [`Clock::push`].
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
    pub fn finish(self) -> Result<ClockedDirectoryResult, ClockError> {
        self.0.finish()
    }
}

/// A clock for one arrangement of frames, one size of blocks and one width of sets of caches.
struct ClockedDash<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    Clock<DashMemory<F, W, WORDS>>,
);

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ClockedDash<F, W, WORDS> {
    fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        (homes, timed): (Box<dyn HomePolicy>, &DirectoryClockSetup),
    ) -> Result<Self, DirectorySetupError> {
        let memory = DashMemory::new(setup, table, (homes, timed))?;
        let mut clock = Clock::new(memory, usize::from(setup.nodes), &timed.clock);
        if timed.from_init_done {
            clock.measure_from_init_done();
        }
        Ok(Self(clock))
    }
}

/// [`ClockedDash`], whatever the arrangement.
trait TimedSimulation: Send {
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError>;
    fn finish(self: Box<Self>) -> Result<ClockedDirectoryResult, ClockError>;
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedSimulation
    for ClockedDash<F, W, WORDS>
{
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    fn finish(self: Box<Self>) -> Result<ClockedDirectoryResult, ClockError> {
        let (mut memory, time) = self.0.finish()?;
        let (counts, timing) = memory.finish();
        let homes = memory.homes();
        let lacking = homes.lacks_init_done().then(|| NO_INIT_DONE.to_owned());
        let notes = lacking.into_iter().collect();
        Ok(ClockedDirectoryResult { counts, time, timing, demands: homes.take_demands(), notes })
    }
}
