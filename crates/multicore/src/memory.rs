//! Cores with private caches, last-level caches, links and memories as a memory system.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use homenode_base::ProcessorSet;
use homenode_cache::{
    AwaitedPorts, AwaitedTransaction, BlockAccess, BlockHolders, BlockRef, CacheArrays, ClockError,
    LastLevelCache, RecentBlocks, WordMask, permission,
};
use homenode_clock::{
    ClockTime, MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters, TimedMemory,
};
use homenode_machine::LinkModel;
use homenode_snoop::{
    BusResult, BusSetup, BusSetupError, ClockedCaches, ProtocolTable, Transactions,
};
use rustc_hash::FxHashMap;

use crate::topology::Topology;

/// Ends a transaction on a block after everything else of its cycle.
const LAST_RANK: u32 = u32::MAX;

pub(super) enum LinkEvent {
    /// A request reaches its ordering point.
    Request(LinkRequest),
    /// The transaction on this block ends.
    Over(u64),
}

/// A processor's request for a block.
#[derive(Clone, Copy)]
pub(super) struct LinkRequest {
    requester: Requester,
    cache: usize,
    block: u64,
}

/// Cores with private caches, last-level caches, links and memories.
pub(super) struct LinkedMemory<F, W, const WORDS: usize> {
    caches: ClockedCaches<F, W, WORDS>,
    /// Forgets a block whenever its copies change: [`MemorySystem::perform`].
    recent: RecentBlocks,
    links: LinkModel,
    topology: Topology,
    request_cycles: u64,
    last_levels: Vec<LastLevelCache>,
    /// The socket whose memory has each page: that of the first core that fetched from the page.
    homes: FxHashMap<u64, usize>,
    /// From a block's number to its page's, as a shift.
    page_blocks_shift: u32,
    /// Blocks with a transaction under way, and the requests that wait for its end.
    busy: FxHashMap<u64, VecDeque<LinkRequest>>,
    /// The transactions that ports of processors wait for.
    awaited: AwaitedPorts,
    /// The cycle from which each memory is free.
    memory_free: Vec<u64>,
    /// The same of each link between two sockets in one direction: `from * sockets + to`.
    link_free: Vec<u64>,
    at_rest_from: u64,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LinkedMemory<F, W, WORDS> {
    pub(super) fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        links: &LinkModel,
        page_bytes: u64,
    ) -> Result<Self, BusSetupError> {
        let (block, geometries) = setup.geometries()?;
        let sets = geometries.iter().map(|cache| cache.sets).min().unwrap_or(1);
        let recent = RecentBlocks::new(geometries.len(), sets);
        let links = links.with_block_size(block.bytes());
        let mut caches = ClockedCaches::new(setup, table)?;
        caches.driver.caches.collect_waits();
        let topology = Topology::new(&links, setup.processors);
        let [sockets, last_levels] = [links.sockets, links.sockets * links.last_levels]
            .map(|count| usize::try_from(count).unwrap_or(1));
        let block_shift = caches.block_shift;
        Ok(Self {
            caches,
            recent,
            request_cycles: topology.request_cycles(),
            topology,
            last_levels: (0..last_levels).map(|_| LastLevelCache::new(links.last_level)).collect(),
            homes: FxHashMap::default(),
            page_blocks_shift: page_bytes.trailing_zeros().saturating_sub(block_shift),
            busy: FxHashMap::default(),
            awaited: AwaitedPorts::default(),
            memory_free: vec![0; sockets],
            link_free: vec![0; sockets * sockets],
            at_rest_from: 0,
            links,
        })
    }

    /// The processor that a data or instruction cache belongs to.
    fn processor_of(&self, cache: usize) -> usize {
        cache % usize::from(self.caches.processors)
    }

    /// Performs a transaction: the caches change at once, and the requester continues when its data
    /// arrive.
    fn serve(
        &mut self,
        request: LinkRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let LinkRequest { requester, cache, block } = request;
        let now = requesters.now();
        let number = self.caches.driver.caches.holders.number(block);
        let known = self.caches.driver.caches.holders.get(number);
        let before = self.caches.driver.transactions;
        let victim = self.victim(cache, block);
        self.caches.driver.caches.waits.as_mut().and_then(|waits| waits.take_last());
        requesters.perform(requester, |access| self.perform(now, access))?;
        let waits = self.caches.driver.caches.waits.as_mut().and_then(|waits| waits.take_last());
        let made = self.caches.driver.transactions.since(&before);
        let left = self.latency(now, request, number, &known, &made);
        self.keep(cache, victim, made.update_block > 0);
        // A request that turned out to need no transaction is done in the next cycle.
        let done = now + left.saturating_sub(self.request_cycles).max(1);
        self.served(request, waits);
        requesters.complete_at(done, requester);
        requesters.schedule_at(done, LAST_RANK, LinkEvent::Over(block));
        self.at_rest_from = self.at_rest_from.max(done);
        Ok(())
    }

    /// Attributes the time that a port has waited to the transaction that serves it.
    fn served(&mut self, request: LinkRequest, transaction: Option<AwaitedTransaction>) {
        let LinkRequest { requester, cache, block } = request;
        let frames = &self.caches.driver.caches.frames;
        let frame = frames.find(frames.set_of(cache, block), block);
        let Some(waits) = &mut self.caches.driver.caches.waits else { return };
        // An earlier request of the processor may have brought the block: then the port waits for
        // that one's miss.
        let transaction = transaction.or_else(|| frame.map(|frame| waits.miss_of(frame)));
        let Some(transaction) = transaction else { return };
        let (processor, port) = requester.place();
        self.awaited.served(processor, port, transaction, waits);
    }

    /// The block that a cache evicts if it fetches this one.
    fn victim(&self, cache: usize, block: u64) -> Option<BlockRef> {
        let frames = &self.caches.driver.caches.frames;
        let set = frames.set_of(cache, block);
        if frames.find(set, block).is_some() {
            return None;
        }
        let frame = frames.all()[frames.victim(set)];
        (frame.is_used() && frame.state != 0)
            .then(|| BlockRef { block: frame.block(), number: frame.number })
    }

    /// The last level takes the block that a core's cache evicted. If it was written back, the
    /// other last levels lose their outdated copies.
    fn keep(&mut self, cache: usize, victim: Option<BlockRef>, written: bool) {
        let Some(victim) = victim else { return };
        let own = self.last_level_of(cache);
        self.last_levels[own].insert(victim);
        if written {
            let known = self.caches.driver.caches.holders.get(victim.number);
            self.forget(victim, known.ever, own);
        }
    }

    fn last_level_of(&self, cache: usize) -> usize {
        self.topology.place(self.processor_of(cache)).last_level
    }

    /// Removes a block from all last levels but one. Only last levels of cores that `ever` had the
    /// block can have it.
    fn forget(&mut self, block: BlockRef, ever: ProcessorSet<WORDS>, own: usize) {
        let mut before = own;
        for cache in ever.members().map(usize::from) {
            let last_level = self.last_level_of(cache);
            // Cores that share a last level have consecutive numbers.
            if last_level != own && last_level != before {
                self.last_levels[last_level].remove(block);
            }
            before = last_level;
        }
    }

    /// Cycles from the request until the data of its transactions arrive, without the wait for
    /// earlier transactions on the block.
    fn latency(
        &mut self,
        now: u64,
        LinkRequest { cache, block, .. }: LinkRequest,
        number: u32,
        known: &BlockHolders<WORDS>,
        made: &Transactions,
    ) -> u64 {
        let core = self.processor_of(cache);
        let place = self.topology.place(core);
        let distances = |memory: &Self| {
            let others = known.holders_without(cache).members().map(usize::from);
            let mut cycles = others.map(|c| memory.topology.between(core, memory.processor_of(c)));
            let first = cycles.next().unwrap_or(0);
            cycles.fold((first, first), |(near, far), c| (near.min(c), far.max(c)))
        };
        let mut cycles = 0;
        if made.read_block_memory + made.read_invalidate_memory > 0 {
            let mut caches = known.ever.members().map(usize::from);
            // A last level only has blocks that one of its cores had.
            let may_have = caches.any(|cache| self.last_level_of(cache) == place.last_level);
            let last_level = &mut self.last_levels[place.last_level];
            cycles = if may_have && last_level.has(BlockRef { block, number }) {
                self.links.latency.last_level
            } else {
                self.memory_latency(now, place.socket, block)
            };
        }
        if made.read_block_cache + made.read_invalidate_cache > 0 {
            cycles = distances(self).0;
        }
        if made.read_invalidate_cache + made.invalidate + made.write > 0 {
            cycles = cycles.max(distances(self).1);
        }
        if made.read_invalidate_memory + made.read_invalidate_cache + made.invalidate > 0 {
            self.forget(BlockRef { block, number }, known.ever, place.last_level);
        }
        cycles
    }

    /// As [`Self::latency`], for a block that comes from memory.
    fn memory_latency(&mut self, now: u64, socket: usize, block: u64) -> u64 {
        let page = block >> self.page_blocks_shift;
        let home = *self.homes.entry(page).or_insert(socket);
        let latency = self.links.latency;
        let cycles = if home == socket { latency.memory } else { latency.remote_memory };
        if !self.links.contention {
            return cycles;
        }
        let mut waited = occupy(&mut self.memory_free[home], now, self.links.memory_block_cycles);
        if home != socket {
            let link = home * self.memory_free.len() + socket;
            let free = &mut self.link_free[link];
            waited += occupy(free, now + waited, self.links.link_block_cycles);
        }
        cycles + waited
    }
}

/// Occupies a resource for this number of cycles as soon as it is free. Returns the cycles until
/// then.
fn occupy(free_at: &mut u64, now: u64, cycles: u64) -> u64 {
    let from = now.max(*free_at);
    *free_at = from + cycles;
    from - now
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MemorySystem
    for LinkedMemory<F, W, WORDS>
{
    type Access = BlockAccess<W>;
    type Hit = ();
    type Event = LinkEvent;
    type Error = ClockError;

    fn block_shift(&self) -> u32 {
        self.caches.block_shift
    }

    #[inline(always)]
    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        let need = permission(reference.kind.writes());
        let words = W::of_bytes(reference.first, reference.last);
        let (cache, block) = (self.caches.cache(reference), reference.block);
        self.caches.driver.caches.hit_recent(&mut self.recent, cache, block, words, need)
    }

    #[inline]
    fn try_access(&mut self, access: &BlockAccess<W>) -> bool {
        let BlockAccess { cache, block, words, .. } = *access;
        let caches = &mut self.caches.driver.caches;
        caches.hit_recent(&mut self.recent, cache, block, words, access.need())
    }

    #[inline]
    fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        self.caches.access(reference)
    }

    #[inline]
    fn same_block(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
        one.same_block(other)
    }

    #[inline]
    fn needs_request(&mut self, access: &BlockAccess<W>) -> bool {
        self.caches.driver.needs_transaction(access)
    }

    fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        self.recent.forget(access.block);
        self.caches.perform(now, access)
    }

    fn request(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let request = LinkRequest { requester, cache: access.cache, block: access.block };
        let (processor, port) = requester.place();
        self.awaited.requested(processor, port);
        let time = requesters.now() + self.request_cycles;
        requesters.schedule_at(time, requester.rank(), LinkEvent::Request(request));
    }

    fn event(
        &mut self,
        event: LinkEvent,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match event {
            LinkEvent::Request(request) => {
                match self.busy.entry(request.block) {
                    Entry::Occupied(mut waiting) => {
                        waiting.get_mut().push_back(request);
                        return Ok(());
                    }
                    Entry::Vacant(idle) => idle.insert(VecDeque::new()),
                };
                self.serve(request, requesters)
            }
            LinkEvent::Over(block) => {
                let Entry::Occupied(mut waiting) = self.busy.entry(block) else { return Ok(()) };
                match waiting.get_mut().pop_front() {
                    Some(next) => self.serve(next, requesters),
                    None => {
                        waiting.remove();
                        Ok(())
                    }
                }
            }
        }
    }

    /// A request changes nothing before it reaches its ordering point.
    #[inline]
    fn undisturbed_until(&self, now: u64) -> u64 {
        now + self.request_cycles
    }

    fn at_rest_from(&self) -> u64 {
        self.at_rest_from
    }

    #[inline]
    fn count(&mut self, counted: ReferenceCounts) {
        self.caches.count(counted);
    }

    fn waited(&mut self, now: u64, requester: Requester, cycles: u64) {
        if let Some(waits) = &mut self.caches.driver.caches.waits {
            let (processor, port) = requester.place();
            self.awaited.waited(now, processor, port, cycles, waits);
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for LinkedMemory<F, W, WORDS> {
    type Result = BusResult;

    fn result(&mut self, time: ClockTime) -> BusResult {
        let counts = self.caches.driver.finish();
        let waits = self.caches.driver.caches.waits.take().map(|waits| waits.finish());
        BusResult { counts, time, bus_busy: None, waits: Some(waits.unwrap_or_default()) }
    }
}
