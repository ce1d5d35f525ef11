//! Timed simulation of any protocol.

use homenode_cache::{
    ByteMask, CacheArrays, ClockError, WordMask, WordWaits, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::streams::ThreadStreams;
use homenode_clock::{Clock, ClockSetup, ClockTime, LiveClock};

use crate::counts::DirectoryCounts;
use crate::dash::{DashMemory, DirectoryTable};
use crate::home::{HomePolicy, PageDemands, PageUsage};
use crate::linked::{ListClockSetup, ListCounts, ListMemory, ListTable};
use crate::lrc::{LrcMemory, PageMessageCounts, PagedTable};
use crate::mesh::{DirectoryClockSetup, DirectoryTiming, HomeLoad, TimedMemory, TimedResult};
use crate::protocol::CoherenceTable;
use crate::setup::{DirectorySetup, DirectorySetupError};

/// Counts and times.
#[derive(Clone, Debug, Default)]
pub struct ClockedDirectoryResult {
    /// Counts of events.
    pub counts: DirectoryCounts,
    /// Messages of a protocol that keeps pages coherent, instead of those among the counts.
    pub page_messages: Option<PageMessageCounts>,
    /// Messages of a linked-list protocol, likewise.
    pub list_messages: Option<ListCounts>,
    /// Times of processors and processes.
    pub time: ClockTime,
    /// Times outside processors.
    pub timing: DirectoryTiming,
    /// Load of homes, by node, or by memory where processors share one.
    pub loads: Vec<HomeLoad>,
    /// References, counted once for each block that they touch.
    pub block_references: u64,
    /// Misses and waiting by word, in order of the word's address divided by four, if collected.
    pub waits: Option<WordWaits>,
    /// Demands of nodes on pages, if collected.
    pub demands: Option<PageDemands>,
    /// Use of pages, if collected.
    pub uses: Option<Vec<PageUsage>>,
    /// Notes for readers of the results.
    pub notes: Vec<String>,
}

impl ClockedDirectoryResult {
    fn of<M>(result: TimedResult<M>) -> (Self, M) {
        let TimedResult { counts, messages, time, timing, loads, .. } = result;
        let TimedResult { block_references, waits, demands, uses, notes, .. } = result;
        let (page_messages, list_messages) = (None, None);
        let found = Self {
            counts,
            page_messages,
            list_messages,
            time,
            timing,
            loads,
            block_references,
            waits,
            demands,
            uses,
            notes,
        };
        (found, messages)
    }
}

impl From<TimedResult<()>> for ClockedDirectoryResult {
    fn from(result: TimedResult<()>) -> Self {
        Self::of(result).0
    }
}

impl From<TimedResult<PageMessageCounts>> for ClockedDirectoryResult {
    fn from(result: TimedResult<PageMessageCounts>) -> Self {
        let (found, messages) = Self::of(result);
        Self { page_messages: Some(messages), ..found }
    }
}

impl From<TimedResult<ListCounts>> for ClockedDirectoryResult {
    fn from(result: TimedResult<ListCounts>) -> Self {
        let (found, messages) = Self::of(result);
        Self { list_messages: Some(messages), ..found }
    }
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
            CoherenceTable::Linked(_) => return Err(DirectorySetupError::NoControllers),
        };
        Ok(Self(simulation))
    }

    /// A machine whose nodes have controllers, with a linked-list protocol.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn of_linked(
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
    ClockedDirectoryResult: From<TimedResult<M::Messages>>,
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
            None => Ok(memory.result(time).into()),
        }
    }
}
