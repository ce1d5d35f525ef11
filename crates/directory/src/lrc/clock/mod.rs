//! Lazy release consistency in software, with a clock.
//!
//! Page faults, acquires and releases follow the protocol's tables ([`PageDriver`]). Caches
//! fetch lines from the memory of the page's home, or from the node's own memory where the page is
//! replicated, and keep a dirty bit for each word they write.

mod effects;
mod faults;
mod lines;
mod observed;
mod ordered_writes;
mod references;
mod replicas;
mod synchronise;
mod system;
mod tlb;
mod values;
mod walk;
mod writers;

use homenode_cache::{
    BlockAccess, CacheArrays, CacheSystem, CacheSystemSetup, ClockError, WordMask,
};
use homenode_clock::{ClockTime, Requester, Requesters, TimedMemory};
use rustc_hash::FxHashMap;

use super::PageMessageCounts;
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageHomes};
use crate::lrc::driver::{Answered, PageAnswer, PageDriver, SentPageMessage};
use crate::lrc::table::PagedTable;
use crate::mesh::network::Route;
use crate::mesh::sync::Synchroniser;
use crate::mesh::transport::{Content, Envelope, MeshMemory, Transport};
use crate::mesh::{ClockedDirectoryResult, DirectoryClockSetup, DirectoryTiming};
use crate::setup::{DirectorySetup, DirectorySetupError};
use lines::PendingLine;
use replicas::PageReplicas;
use tlb::LookasideBuffers;
use values::LineValues;
pub use walk::{
    LineView, PageView, PagedScene, PagedWalk, PagedWalkStep, PagedWalkTotals, walk_pages,
};
use writers::LineWriters;

/// A message about a page, or about a line of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineMessage {
    sent: SentPageMessage,
    /// The line, in a message of a cache.
    block: u64,
    /// Bytes of data that it carries.
    bytes: u32,
}

type LineEnvelope = Envelope<LineMessage>;

/// The access that a processor faults on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FaultingAccess {
    page: u32,
    store: bool,
}

/// All nodes of a machine whose operating system keeps pages coherent.
pub(crate) struct LrcMemory<F, W, const WORDS: usize> {
    caches: CacheSystem<F, W, WORDS>,
    /// By frame, words whose writes have not reached memory, besides those that the frame records
    /// as written.
    dirty: Vec<W>,
    writers: LineWriters<WORDS>,
    /// By frame, words written by others that its copy lacks: written since it was fetched, or
    /// earlier and not in memory then. Words in flight to memory then count as being there.
    unseen: Vec<W>,
    homes: PageHomes,
    driver: PageDriver,
    transport: Transport,
    buffers: LookasideBuffers,
    sync: Synchroniser,
    replicas: PageReplicas,
    /// By node, outstanding lines.
    pending: Vec<Vec<PendingLine<W>>>,
    /// By node, deferred requests.
    deferred: Vec<Vec<(Requester, BlockAccess<W>)>>,
    /// By node, lines whose write-back memory has not acknowledged.
    writing_back: Vec<Vec<u64>>,
    /// By node, the access that its processor faults on.
    faulting: Vec<Option<FaultingAccess>>,
    /// By node, whether that access waits for a message.
    awaits_message: Vec<bool>,
    /// Pages in transit, and the nodes that wait for them.
    moving: FxHashMap<u32, Vec<u16>>,
    /// By page, messages that wait at its home.
    waiting: FxHashMap<u32, Vec<LineEnvelope>>,
    /// By node, whether its processor waits for a release.
    releasing: Vec<bool>,
    /// By node, whether that release has taken effect.
    released: Vec<bool>,
    timed: DirectoryClockSetup,
    block_bytes: u64,
    page_bytes: u64,
    block_shift: u32,
    counts: DirectoryCounts,
    sent: PageMessageCounts,
    timing: DirectoryTiming,
    /// Cycles of acquires that unmap pages and flush lines.
    unmapping: u64,
    /// Values in flight and legal results of reads, if reads are checked.
    values: Option<Box<LineValues<W>>>,
    /// Error raised where none can be returned; reported at the next event.
    error: Option<ClockError>,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: PagedTable,
        homes: Box<dyn HomePolicy>,
        timed: &DirectoryClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        let nodes = setup.nodes;
        let geometries = &vec![geometry; usize::from(nodes)][..];
        let (words, rule) = (block.words(), setup.rule);
        let block_shift = block.bytes().trailing_zeros();
        let mut homes = PageHomes::new(homes, setup);
        homes.claim_only();
        let caches: CacheSystem<F, W, WORDS> =
            CacheSystem::new(CacheSystemSetup { geometries, words, rule, check: setup.check });
        let none = usize::from(nodes);
        Ok(Self {
            dirty: vec![W::default(); caches.frames.all().len()],
            writers: LineWriters::default(),
            unseen: vec![W::default(); caches.frames.all().len()],
            caches,
            homes,
            driver: PageDriver::new(table, nodes),
            transport: Transport::new(nodes, timed.machine, block.bytes()),
            buffers: LookasideBuffers::new(nodes, timed.machine.system.tlb_entries),
            sync: Synchroniser::new(block_shift),
            replicas: PageReplicas::new(timed.replication),
            pending: (0..nodes).map(|_| Vec::new()).collect(),
            deferred: (0..nodes).map(|_| Vec::new()).collect(),
            writing_back: vec![Vec::new(); none],
            faulting: vec![None; none],
            awaits_message: vec![false; none],
            moving: FxHashMap::default(),
            waiting: FxHashMap::default(),
            releasing: vec![false; none],
            released: vec![false; none],
            timed: *timed,
            block_bytes: block.bytes(),
            page_bytes: setup.page_bytes,
            block_shift,
            counts: DirectoryCounts::default(),
            sent: PageMessageCounts::default(),
            timing: DirectoryTiming::default(),
            unmapping: 0,
            values: setup.check.then(|| Box::new(LineValues::new(nodes))),
            error: None,
        })
    }

    /// The number of a block's page, which gets a home if it has none.
    fn page(&mut self, block: u64, node: u16) -> u32 {
        let page = self.homes.number(block, node);
        self.driver.reach(page);
        page
    }

    /// Sends a message, and counts it if it crosses the network.
    fn post(&mut self, route: Route, message: LineMessage, requesters: &mut Requesters<'_, Self>) {
        self.count(route, message);
        let bytes = u64::from(message.bytes);
        let envelope = self.transport.envelope(route, bytes, Content::Protocol(message));
        self.transport.post(envelope, requesters.now(), requesters);
    }

    fn count(&mut self, route: Route, message: LineMessage) {
        if route.is_remote() {
            self.sent.add_if(message.sent.message, true);
            let header = self.timed.machine.network.header_bytes;
            self.counts.message_bytes += header + u64::from(message.bytes);
        }
    }

    /// An answer of the tables, or the error for a fault in them, with its time and place.
    fn checked(
        &self,
        now: u64,
        node: u16,
        block: u64,
        answer: Answered,
    ) -> Result<PageAnswer, ClockError> {
        answer.map_err(|why| ClockError::impossible(now, block << self.block_shift, node, why))
    }

    /// Records an error, if there is one.
    fn note(&mut self, now: u64, node: u16, answer: Answered) {
        if let Err(error) = self.checked(now, node, 0, answer) {
            self.error = Some(error);
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for LrcMemory<F, W, WORDS> {
    type Result = ClockedDirectoryResult;

    fn result(&mut self, time: ClockTime) -> ClockedDirectoryResult {
        self.caches.end_all_copies();
        let timing = DirectoryTiming {
            tlb_misses: self.buffers.misses,
            pages_replicated: self.replicas.made,
            replicas_dropped: self.replicas.dropped,
            unmapping: self.unmapping,
            ..self.transport.timing(self.timing)
        };
        let caches = &self.caches.counts;
        ClockedDirectoryResult {
            page_messages: Some(self.sent),
            loads: self.transport.loads(),
            ..ClockedDirectoryResult::new(self.counts, caches, &mut self.homes, timing, time)
        }
    }

    fn take_error(&mut self) -> Option<ClockError> {
        self.error.take()
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MeshMemory for LrcMemory<F, W, WORDS> {
    type Posted = LineMessage;
}
