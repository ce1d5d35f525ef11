//! DASH with a clock.
//!
//! Each controller follows the protocol's table when a message arrives. A home's controller looks
//! up the block first, and reads data for its answers from memory.

mod cache;
mod home;
mod paging;
mod pending;
mod request;
mod system;
mod values;
mod waiting;

use std::collections::VecDeque;

use homenode_cache::{
    AwaitedPorts, BlockAccess, CacheArrays, CacheSystem, CacheSystemSetup, ClockError, WordMask,
};
use homenode_clock::{ClockTime, Requester, TimedMemory};
use rustc_hash::FxHashMap;

use crate::counts::{DirectoryCounts, MessageCounts};
use crate::dash::driver::permissions;
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::Message;
use crate::entries::DirectoryEntries;
use crate::home::{HomePolicy, PageHomes};
use crate::mesh::network::Route;
use crate::mesh::pages::SharedPageTable;
use crate::mesh::sync::{Synchroniser, node};
use crate::mesh::transport::{Content, Envelope, MeshMemory, Transport};
use crate::mesh::values::CheckedValues;
use crate::mesh::{ClockedDirectoryResult, DirectoryClockSetup, DirectoryTiming};
use crate::setup::{DirectorySetup, DirectorySetupError};
use pending::PendingBlock;
use values::CarriedBlock;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMessage {
    message: Message,
    block: u64,
    number: u32,
    /// The node whose request it serves.
    requester: u16,
    /// Number of acknowledgements that it announces.
    due: i16,
}

type BlockEnvelope = Envelope<BlockMessage>;

pub(crate) struct DashMemory<F, W, const WORDS: usize> {
    caches: CacheSystem<F, W, WORDS>,
    /// Outstanding transactions by processor port, if waiting is collected.
    awaited: AwaitedPorts,
    homes: PageHomes,
    entries: DirectoryEntries,
    table: DirectoryTable,
    /// Accesses allowed without a transaction, by state of the copy.
    permissions: Vec<u64>,
    transport: Transport,
    pages: SharedPageTable,
    sync: Synchroniser,
    /// By node, blocks with outstanding data or acknowledgements.
    pending: Vec<Vec<PendingBlock<W>>>,
    /// By node, requests whose frame is busy.
    deferred: Vec<Vec<(Requester, BlockAccess<W>)>>,
    /// Nodes whose processor waits for acknowledgements.
    releasing: Vec<bool>,
    /// By block, the requester of the transaction in progress at its home.
    active_requesters: FxHashMap<u32, u16>,
    /// By block, messages that wait for the end of that transaction.
    waiting: FxHashMap<u32, VecDeque<(BlockEnvelope, BlockMessage)>>,
    /// Recipients of invalidations; a field to reuse its allocation.
    invalidation_targets: Vec<u16>,
    sent: MessageCounts,
    values: CheckedValues<CarriedBlock>,
    /// Error raised where none can be returned; reported at the next event.
    error: Option<ClockError>,
    timed: DirectoryClockSetup,
    header_bytes: u64,
    block_bytes: u64,
    page_bytes: u64,
    block_shift: u32,
    counts: DirectoryCounts,
    timing: DirectoryTiming,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
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
        let pages = SharedPageTable::new(nodes, homes.places_at_use());
        let none = usize::from(nodes);
        let setup_of_caches = CacheSystemSetup { geometries, words, rule, check: setup.check };
        let mut caches = CacheSystem::new(setup_of_caches);
        if timed.collect_waits {
            caches.collect_waits();
        }
        Ok(Self {
            caches,
            awaited: AwaitedPorts::default(),
            homes,
            entries: DirectoryEntries::new(nodes, setup.pointers),
            permissions: permissions(&table),
            table,
            transport: Transport::new(nodes, timed.machine, block.bytes()),
            pages,
            sync: Synchroniser::new(block_shift),
            pending: (0..nodes).map(|_| Vec::new()).collect(),
            deferred: (0..nodes).map(|_| Vec::new()).collect(),
            releasing: vec![false; none],
            active_requesters: FxHashMap::default(),
            waiting: FxHashMap::default(),
            invalidation_targets: Vec::new(),
            sent: MessageCounts::default(),
            values: CheckedValues::new(setup.check),
            error: None,
            timed: *timed,
            header_bytes: setup.header_bytes,
            block_bytes: block.bytes(),
            page_bytes: setup.page_bytes,
            block_shift,
            counts: DirectoryCounts::default(),
            timing: DirectoryTiming::default(),
        })
    }

    /// The memory that is nearest to a processor.
    fn memory_of(&self, processor: usize) -> u16 {
        self.transport.places().memory_of(node(processor))
    }

    fn envelope(&self, route: Route, content: BlockMessage) -> BlockEnvelope {
        let bytes = if content.message.carries_block() { self.block_bytes } else { 0 };
        self.transport.envelope(route, bytes, Content::Protocol(content))
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for DashMemory<F, W, WORDS> {
    type Result = ClockedDirectoryResult;

    fn result(&mut self, time: ClockTime) -> ClockedDirectoryResult {
        self.caches.end_all_copies();
        let message_bytes =
            self.sent.bytes(self.header_bytes, self.block_bytes, Message::carries_block);
        let counts = DirectoryCounts { messages: self.sent, message_bytes, ..self.counts };
        let timing = DirectoryTiming {
            page_faults: self.pages.faults,
            ..self.transport.timing(self.timing)
        };
        let caches = &self.caches.counts;
        ClockedDirectoryResult {
            loads: self.transport.loads(),
            waits: self.caches.waits.take().map(|waits| waits.finish()),
            ..ClockedDirectoryResult::new(counts, caches, &mut self.homes, timing, time)
        }
    }

    fn take_error(&mut self) -> Option<ClockError> {
        self.error.take()
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MeshMemory for DashMemory<F, W, WORDS> {
    type Posted = BlockMessage;
}
