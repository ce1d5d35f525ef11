//! Machines with a directory, in cycles.
//!
//! Every node has a processor, a cache, a part of memory with its controller, and a port to a mesh.
//! A message leaves its node when the messages before it have left, crosses the links, and waits at
//! its destination for messages that are being received. A home's controller looks up one block at
//! a time, and its memory serves one access at a time. The protocol's table says what a controller
//! does then (`dash/`).
//!
//! Events of one time are those of the lowest node first, and of one node in the order in which
//! they were made.

mod dash;
mod latency;
mod lists;
mod lrc;
mod mesh;
mod network;
mod ordered_writes;
mod pages;
mod places;
mod queue;
mod references;
mod result;
mod sync;
mod tlb;
mod transport;
mod values;

use homenode_cache::{
    ByteMask, CacheArrays, ClockError, WordMask, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup, ClockTime, LiveClock, MemorySystem};
use homenode_machine::DirectoryMachine;

use crate::home::{HomePolicy, PageDemands, PageHomes};
use crate::list_table::ListTable;
use crate::page_table::PagedTable;
use crate::protocol::CoherenceTable;
use crate::replication::PageReplication;
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::table::DirectoryTable;
use crate::trace_order::NO_INIT_DONE;
use dash::DashMemory;
pub use latency::{DistanceCost, MissLatency};
use lists::ListMemory;
pub use lists::{ListClockSetup, ListCounts, ListLatency};
pub(crate) use lists::{ObservedListAct, ObservedListController, ObservedListEntry, ObservedLists};
use lrc::LrcMemory;
pub(crate) use lrc::ObservedPages;
pub use mesh::MeshShape;
pub use queue::{HomeLoad, QueueLoad};
pub use result::{ClockedDirectoryResult, DirectoryTiming, PageMessageCounts};

/// Parameters of a timed run.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryClockSetup {
    /// Processors and processes: process i runs on node i modulo the number of nodes.
    pub clock: ClockSetup,
    /// The network, and the latencies of the parts of a node.
    pub machine: DirectoryMachine,
    /// Whether a write takes place only when all acknowledgements are in.
    pub sequential: bool,
    /// Whether pages move again at each mark of a phase.
    pub phase_change: bool,
    /// Whether times and counts begin when initialisation is over.
    pub from_init_done: bool,
    /// When pages are copied to nodes that read them, if the protocol keeps pages coherent.
    pub replication: PageReplication,
    /// Whether misses and waiting are collected by word, if the protocol keeps blocks coherent.
    pub collect_waits: bool,
}

/// Simulates one protocol in one machine with one policy of homes, in cycles.
pub struct DirectoryClock(Box<dyn TimedSimulation>);

impl DirectoryClock {
    /// A machine with empty caches at cycle 0; all processes are ready.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn new(
        setup: &DirectorySetup,
        table: CoherenceTable,
        homes: Box<dyn HomePolicy>,
        timed: &DirectoryClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        let (words, ways, nodes) = (block.words(), geometry.ways, usize::from(setup.nodes));
        let simulation: Box<dyn TimedSimulation> = match table {
            CoherenceTable::Blocks(table)
                if timed.collect_waits && block.bytes() <= ByteMask::COUNT =>
            {
                // Sharing is classified byte by byte.
                boxed_for_bytes!((ways, nodes), ClockedDash, (setup, table, homes, timed))
            }
            CoherenceTable::Blocks(table) => {
                boxed_for_geometry!((words, ways, nodes), ClockedDash, (setup, table, homes, timed))
            }
            CoherenceTable::Pages(table) => {
                boxed_for_geometry!((words, ways, nodes), ClockedLrc, (setup, table, homes, timed))
            }
            CoherenceTable::Lists(_) => return Err(DirectorySetupError::NoControllers),
        };
        Ok(Self(simulation))
    }

    /// A machine whose nodes have controllers, with a linked-list protocol.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn of_lists(
        setup: &DirectorySetup,
        table: ListTable,
        homes: Box<dyn HomePolicy>,
        timed: &ListClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        let (words, ways, nodes) = (block.words(), geometry.ways, usize::from(setup.nodes));
        let of_proxies = timed.proxies.cache(block.bytes())?;
        let caches = if of_proxies.is_some() { 2 * nodes } else { nodes };
        let simulation: Box<dyn TimedSimulation> =
            boxed_for_geometry!((words, ways, caches), ClockedLists, (setup, table, homes, timed));
        Ok(Self(simulation))
    }

    /// Adds operations of some processes, and simulates as far as they allow; see [`Clock::push`].
    ///
    /// # Errors
    /// When the protocol breaks an invariant.
    pub fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    /// The interface of an execution-driven front end.
    pub fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        self.0.live()
    }

    /// Simulates the remaining operations.
    ///
    /// # Errors
    /// When the protocol breaks an invariant.
    pub fn finish(self) -> Result<ClockedDirectoryResult, ClockError> {
        self.0.finish()
    }
}

/// A memory system with a result.
trait TimedMemory: MemorySystem<Error = ClockError> + Send {
    fn result(&mut self, time: ClockTime) -> ClockedDirectoryResult;

    /// An error found at the last event, which no later event has reported.
    fn take_error(&mut self) -> Option<ClockError>;
}

/// A clock over the nodes of one protocol, for one arrangement of frames, one size of blocks and
/// one width of sets of caches.
struct Clocked<M: TimedMemory>(Clock<M>);

impl<M: TimedMemory> Clocked<M> {
    fn of(memory: M, nodes: u16, setup: &ClockSetup, from_init_done: bool) -> Self {
        let mut clock = Clock::new(memory, usize::from(nodes), setup);
        if from_init_done {
            clock.measure_from_init_done();
        }
        Self(clock)
    }
}

type ClockedDash<F, W, const WORDS: usize> = Clocked<DashMemory<F, W, WORDS>>;
type ClockedLrc<F, W, const WORDS: usize> = Clocked<LrcMemory<F, W, WORDS>>;
type ClockedLists<F, W, const WORDS: usize> = Clocked<ListMemory<F, W, WORDS>>;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> Clocked<DashMemory<F, W, WORDS>> {
    fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        homes: Box<dyn HomePolicy>,
        timed: &DirectoryClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let memory = DashMemory::new(setup, table, homes, timed)?;
        Ok(Self::of(memory, setup.nodes, &timed.clock, timed.from_init_done))
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> Clocked<LrcMemory<F, W, WORDS>> {
    fn new(
        setup: &DirectorySetup,
        table: PagedTable,
        homes: Box<dyn HomePolicy>,
        timed: &DirectoryClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let memory = LrcMemory::new(setup, table, homes, timed)?;
        Ok(Self::of(memory, setup.nodes, &timed.clock, timed.from_init_done))
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> Clocked<ListMemory<F, W, WORDS>> {
    fn new(
        setup: &DirectorySetup,
        table: ListTable,
        homes: Box<dyn HomePolicy>,
        timed: &ListClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let memory = ListMemory::new(setup, table, homes, timed)?;
        Ok(Self::of(memory, setup.nodes, &timed.clock, timed.from_init_done))
    }
}

/// [`Clocked`], whatever the memory system.
trait TimedSimulation: Send {
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError>;
    fn live(&mut self) -> &mut dyn LiveClock<ClockError>;
    fn finish(self: Box<Self>) -> Result<ClockedDirectoryResult, ClockError>;
}

impl<M: TimedMemory> TimedSimulation for Clocked<M>
where
    M::Access: Send,
    M::Event: Send,
{
    fn push(&mut self, streams: &ThreadStreams) -> Result<(), ClockError> {
        self.0.push(streams)
    }

    fn live(&mut self) -> &mut dyn LiveClock<ClockError> {
        &mut self.0
    }

    fn finish(self: Box<Self>) -> Result<ClockedDirectoryResult, ClockError> {
        let (mut memory, time) = self.0.finish()?;
        match memory.take_error() {
            Some(error) => Err(error),
            None => Ok(memory.result(time)),
        }
    }
}

/// Notes about the homes for readers of the results, and the demands on pages.
fn of_homes(homes: &mut PageHomes) -> (Vec<String>, Option<PageDemands>) {
    let lacking = homes.lacks_init_done().then(|| NO_INIT_DONE.to_owned());
    (lacking.into_iter().collect(), homes.take_demands())
}
