//! DASH with a time: what a reference does, and when.
//!
//! Each controller does what the protocol's table says when a message has come to it. A home's
//! looks the block up first; what it answers with data comes from its memory.

mod cache;
mod home;
mod paging;
mod pending;
mod request;
mod synchronise;
mod system;
mod values;
mod waiting;

use std::collections::VecDeque;

use homenode_cache::{
    AwaitedPorts, BlockAccess, CacheArrays, CacheCounts, CacheSystem, CacheSystemSetup, ClockError,
    WordMask,
};
use homenode_clock::{ClockTime, Requester};
use rustc_hash::FxHashMap;

use super::pages::SharedPageTable;
use super::sync::{Synchroniser, node};
use super::transport::{Content, Envelope, NodeEvent, Transport};
use super::values::CarriedValues;
use super::{ClockedDirectoryResult, DirectoryClockSetup, DirectoryTiming, TimedMemory, of_homes};
use crate::counts::{DirectoryCounts, SentMessages};
use crate::driver::permissions;
use crate::entries::DirectoryEntries;
use crate::home::{HomePolicy, PageHomes};
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::table::DirectoryTable;
use crate::vocabulary::{CopyRole, Message};
use pending::PendingBlock;
use values::CarriedBlock;

/// A message about a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockMessage {
    message: Message,
    block: u64,
    /// The block's number.
    number: u32,
    /// For whom, if it was not asked for by whoever sends it.
    requester: u16,
    /// Acknowledgements that it announces.
    due: i16,
}

type BlockEnvelope = Envelope<BlockMessage>;

/// All nodes of a machine with a directory in hardware.
pub(super) struct DashMemory<F, W, const WORDS: usize> {
    caches: CacheSystem<F, W, WORDS>,
    /// What processors may wait for, if that is collected.
    awaited: AwaitedPorts,
    homes: PageHomes,
    entries: DirectoryEntries,
    table: DirectoryTable,
    /// What the processor may do without a transaction, by state of its copy.
    permissions: Vec<u64>,
    transport: Transport,
    pages: SharedPageTable,
    sync: Synchroniser,
    /// By node, blocks that it has asked for, or awaits acknowledgements for.
    pending: Vec<Vec<PendingBlock<W>>>,
    /// By node, requests for which the frame is not free.
    deferred: Vec<Vec<(Requester, BlockAccess<W>)>>,
    /// Nodes whose processor waits for acknowledgements.
    releasing: Vec<bool>,
    /// By block, for whom its home has a transaction under way, and messages that wait for its end.
    askers: FxHashMap<u32, u16>,
    waiting: FxHashMap<u32, VecDeque<BlockEnvelope>>,
    /// Whom a write is told, kept for its allocation.
    told: Vec<u16>,
    sent: SentMessages,
    /// Values under way and what everybody has seen, if reads are checked.
    values: Option<Box<CarriedValues<CarriedBlock>>>,
    /// What went wrong where nothing could be said of it; it is told with the next event.
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
    pub(super) fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        (homes, timed): (Box<dyn HomePolicy>, &DirectoryClockSetup),
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
            askers: FxHashMap::default(),
            waiting: FxHashMap::default(),
            told: Vec::new(),
            sent: SentMessages::default(),
            values: setup.check.then(Box::default),
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

    /// What a state promises.
    fn has_copy(&self, state: u8) -> bool {
        self.table.role(state) != CopyRole::None
    }

    /// The memory that is nearest to a processor.
    #[inline]
    fn memory_of(&self, processor: usize) -> u16 {
        self.transport.places().memory_of(node(processor))
    }

    /// A message about a block.
    fn envelope(&self, way: (u16, u16), content: BlockMessage) -> BlockEnvelope {
        let bytes = if content.message.carries_block() { self.block_bytes } else { 0 };
        self.transport.envelope(way, bytes, Content::Protocol(content))
    }

    /// What was counted and what took how long.
    fn finish(&mut self) -> (DirectoryCounts, DirectoryTiming) {
        self.caches.end_all_copies();
        let (messages, message_bytes) = self.sent.counts(self.header_bytes, self.block_bytes);
        let CacheCounts { references, misses, .. } = self.caches.counts;
        let counts = DirectoryCounts {
            references,
            reads: references - self.counts.writes,
            misses,
            messages,
            message_bytes,
            pages_moved: self.homes.moved(),
            ..self.counts
        };
        let transport = &self.transport;
        let timing = DirectoryTiming {
            page_faults: self.pages.faults,
            hops: transport.network.hops,
            sending: transport.network.sending,
            looking_up: transport.looking_up(),
            accessing: transport.accessing(),
            ..self.timing
        };
        (counts, timing)
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for DashMemory<F, W, WORDS> {
    fn result(&mut self, time: ClockTime) -> ClockedDirectoryResult {
        let (counts, timing) = self.finish();
        let (notes, demands) = of_homes(&mut self.homes);
        ClockedDirectoryResult {
            counts,
            page_messages: None,
            list_messages: None,
            time,
            timing,
            loads: self.transport.loads(),
            block_references: self.caches.counts.block_references,
            waits: self.caches.waits.take().map(|waits| waits.finish()),
            demands,
            uses: self.homes.take_uses(),
            notes,
        }
    }

    fn take_error(&mut self) -> Option<ClockError> {
        self.error.take()
    }
}

type DashEvent = NodeEvent<BlockMessage>;
