//! Linked-list protocols on nodes with controllers, with a clock.
//!
//! A node's controller serves requests of its processor and messages from the network one at a
//! time. It performs the actions of the protocol's table at once, and is busy for the time of the
//! accesses and messages; messages leave in between. The bus of the second level is shared with the
//! processor, first come, first served. A full buffer sends reads back.

mod arrival;
mod copy;
mod home;
mod latency;
mod leaving;
mod observed;
mod posted;
mod proxies;
mod request;
mod service;
mod system;
mod values;
mod walk;

use std::collections::VecDeque;

use homenode_base::BlockSize;
use homenode_cache::{
    CacheArrays, CacheGeometry, CacheSystem, CacheSystemSetup, ClockError, WordMask,
};
use homenode_clock::{ClockSetup, ClockTime, TimedMemory};
use homenode_machine::ControllerMachine;
use rustc_hash::FxHashMap;

use crate::acts::LoggedAct;
use crate::cell::CopyRole;
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageHomes};
use crate::linked::proxies::ProxySetup;
use crate::linked::table::ListTable;
use crate::linked::vocabulary::ListMessage;
use crate::mesh::pages::SharedPageTable;
use crate::mesh::sync::Synchroniser;
use crate::mesh::values::CheckedValues;
use crate::mesh::{ClockedDirectoryResult, DirectoryTiming};
use crate::setup::{DirectorySetup, DirectorySetupError};
use arrival::InputBuffer;
use home::HomeEntries;
pub use latency::ListLatency;
use leaving::LeavingBlock;
pub use posted::ListCounts;
use posted::ListPost;
use proxies::{ProxyChain, ProxyWays};
use request::PendingRequest;
use service::BusyTimes;
pub use walk::walk_linked;

/// Parameters of a timed run on a machine whose nodes have controllers.
#[derive(Clone, Debug)]
pub struct ListClockSetup {
    /// Processors and processes: process i runs on node i modulo the number of nodes.
    pub clock: ClockSetup,
    /// The latencies of the network and of the parts of a node.
    pub machine: ControllerMachine,
    /// Whether pages move again at each mark of a phase.
    pub phase_change: bool,
    /// Whether times and counts begin when initialisation is over.
    pub from_init_done: bool,
    /// Which reads use proxies.
    pub proxies: ProxySetup,
    /// Messages that may wait at a controller before it sends reads back; unlimited if not given.
    pub buffer_reads: Option<u64>,
}

impl ListClockSetup {
    /// No proxies, and buffers without limit.
    #[must_use]
    pub fn new(clock: ClockSetup, machine: ControllerMachine) -> Self {
        let (phase_change, from_init_done) = (false, false);
        let (proxies, buffer_reads) = (ProxySetup::default(), None);
        Self { clock, machine, phase_change, from_init_done, proxies, buffer_reads }
    }
}

/// A node without its second level, which is a cache of the [`CacheSystem`]; or the state of its
/// proxy cache, which is another one.
#[derive(Debug, Default)]
struct ControllerNode {
    buffer: InputBuffer,
    busy: BusyTimes,
    /// Whether its processor's request is deferred because the frame or the block is busy.
    deferred: bool,
    /// Replaced blocks that it still handles.
    leaving: Vec<LeavingBlock>,
    /// Messages that wait for a change of their block's state.
    waiting: Vec<ListPost>,
    /// Clients for which it fetches blocks, or to which it hands them on.
    chains: Vec<ProxyChain>,
    /// Number of its requests so far.
    tags: u32,
}

/// Padding after each node's first level, whose size is a power of two: it puts the same entry of
/// different nodes in different sets of the host's caches.
const SPARE_BLOCKS: usize = 9;

/// All nodes of a machine whose directory is a list of copies.
pub(crate) struct ListMemory<F, W, const WORDS: usize> {
    caches: CacheSystem<F, W, WORDS>,
    /// By node and position, the block in the first level, plus one.
    first_level: Vec<u64>,
    first_level_blocks: u64,
    /// Distance between the first levels of two nodes.
    first_level_stride: usize,
    /// By frame, the request that fetched the copy.
    tags: Vec<u32>,
    /// By frame, the copy behind it, packed.
    behind: Vec<u64>,
    homes: PageHomes,
    entries: HomeEntries,
    table: ListTable,
    /// Accesses allowed without a transaction, by state of the copy.
    permissions: Vec<u64>,
    /// First all nodes, then their proxy caches, if they have any.
    nodes: Vec<ControllerNode>,
    node_count: u16,
    /// By node, the outstanding request of its processor.
    pending: Vec<Option<PendingRequest<W>>>,
    /// Messages that wait at the homes of blocks.
    at_homes: FxHashMap<u32, VecDeque<ListPost>>,
    pages: SharedPageTable,
    sync: Synchroniser,
    proxies: ProxyWays,
    sent: ListCounts,
    values: CheckedValues<posted::CarriedCopy>,
    /// Error raised where none can be returned; reported at the next event.
    error: Option<ClockError>,
    /// Log of the table cells used, if kept.
    log: Option<Vec<LoggedAct>>,
    machine: ControllerMachine,
    buffer_reads: Option<u64>,
    phase_change: bool,
    header_bytes: u64,
    block_bytes: u64,
    block_shift: u32,
    counts: DirectoryCounts,
    timing: DirectoryTiming,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: ListTable,
        homes: Box<dyn HomePolicy>,
        timed: &ListClockSetup,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry): (BlockSize, CacheGeometry) = setup.geometry()?;
        let nodes = setup.nodes;
        let mut geometries = vec![geometry; usize::from(nodes)];
        if let Some(of_proxies) = timed.proxies.cache(block.bytes())? {
            geometries.resize(2 * geometries.len(), of_proxies);
        }
        let geometries = &geometries[..];
        let (words, rule) = (block.words(), setup.rule);
        let block_shift = block.bytes().trailing_zeros();
        let mut homes = PageHomes::new(homes, setup);
        homes.claim_only();
        let pages = SharedPageTable::new(nodes, homes.places_at_use());
        let setup_of_caches = CacheSystemSetup { geometries, words, rule, check: setup.check };
        let caches = CacheSystem::<F, W, WORDS>::new(setup_of_caches);
        let frames = caches.frames.all().len();
        let first_level_blocks = timed.machine.first_level_blocks(block.bytes());
        let first_level_stride =
            usize::try_from(first_level_blocks).unwrap_or(usize::MAX) + SPARE_BLOCKS;
        Ok(Self {
            caches,
            first_level: vec![0; geometries.len() * first_level_stride],
            first_level_blocks,
            first_level_stride,
            tags: vec![0; frames],
            behind: vec![0; frames],
            homes,
            entries: HomeEntries::default(),
            permissions: permissions(&table),
            table,
            nodes: geometries.iter().map(|_| ControllerNode::default()).collect(),
            node_count: nodes,
            pending: vec![None; geometries.len()],
            at_homes: FxHashMap::default(),
            pages,
            sync: Synchroniser::new(block_shift),
            proxies: ProxyWays::new(&timed.proxies, nodes, block_shift),
            sent: ListCounts::default(),
            values: CheckedValues::new(setup.check),
            error: None,
            log: None,
            machine: timed.machine,
            buffer_reads: timed.buffer_reads,
            phase_change: timed.phase_change,
            header_bytes: setup.header_bytes,
            block_bytes: block.bytes(),
            block_shift,
            counts: DirectoryCounts::default(),
            timing: DirectoryTiming::default(),
        })
    }

    fn message_bytes(&self) -> u64 {
        self.sent.sent.bytes(self.header_bytes, self.block_bytes, ListMessage::carries_block)
    }

    /// An error with its time and place.
    fn failed(&self, now: u64, block: u64, node: u16, what: &'static str) -> ClockError {
        ClockError::impossible(now, block << self.block_shift, node, what)
    }
}

/// Accesses allowed without a transaction, by state of the copy.
fn permissions(table: &ListTable) -> Vec<u64> {
    use homenode_cache::{MAY_READ, MAY_WRITE};
    let of = |role| match role {
        CopyRole::None => 0,
        CopyRole::Readable => MAY_READ,
        CopyRole::Writable => MAY_READ | MAY_WRITE,
    };
    (0u8..).take(table.copy.states().len()).map(|state| of(table.role(state))).collect()
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for ListMemory<F, W, WORDS> {
    type Result = ClockedDirectoryResult;

    fn result(&mut self, time: ClockTime) -> ClockedDirectoryResult {
        self.caches.end_all_copies();
        let counts = DirectoryCounts { message_bytes: self.message_bytes(), ..self.counts };
        let of_nodes =
            |part: fn(&BusyTimes) -> u64| self.nodes.iter().map(|node| part(&node.busy)).sum();
        let timing = DirectoryTiming {
            page_faults: self.pages.faults,
            hops: self.sent.sent.total(),
            sending: of_nodes(|busy| busy.sending),
            looking_up: of_nodes(|busy| busy.serving),
            accessing: of_nodes(|busy| busy.accessing),
            ..self.timing
        };
        let caches = &self.caches.counts;
        ClockedDirectoryResult {
            list_messages: Some(self.sent),
            loads: self.loads(),
            ..ClockedDirectoryResult::new(counts, caches, &mut self.homes, timing, time)
        }
    }

    fn take_error(&mut self) -> Option<ClockError> {
        self.error.take()
    }
}
