//! The parts of a node besides its processor and cache, for any protocol: a network port, a
//! controller that looks up the directory, and memory. Each serves one item at a time.

use homenode_cache::{BlockRef, LastLevelCache};
use homenode_clock::{MemorySystem, Requesters, SyncRequest};
use homenode_machine::{DirectoryMachine, LastLevelModel, MemoryTopology};

use super::network::{NodeNetwork, Route};
use super::places::NodePlaces;
use super::queue::{HomeLoad, QueueLoad, QueueMeter};
use super::result::DirectoryTiming;
use super::sync::{SyncMessage, Synchroniser, node};
use crate::home::PageHomes;

/// Shift of the node in an event's rank: of simultaneous events, the lowest node's come first.
const NODE_SHIFT: u32 = 16;

/// A message in flight. `B` is the protocol's message about a block or page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<B> {
    pub(crate) from: u16,
    pub(crate) to: u16,
    /// Cycles for which it occupies a link.
    pub(crate) cycles: u32,
    pub(crate) content: Content<B>,
}

/// The content of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<B> {
    Protocol(B),
    /// The new home requests the page with this number.
    PageRequest(u32),
    /// The page itself.
    Page(u32),
    Sync(SyncMessage),
}

/// Events of a machine with a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeEvent<B> {
    /// The head of a message arrives; the time is that of its tail, without contention.
    Arrives(Envelope<B>, u64),
    /// All of a message has been received.
    Delivered(Envelope<B>),
    /// The node's controller has looked up the block or page of a message.
    LookedUp(Envelope<B>),
    /// The first of a message's data is available; the last will be at this time.
    Fetched(Envelope<B>, u64),
    /// A node's processor has trapped into its operating system because of a page.
    Trapped(u16, u32),
    /// A page has arrived in the memory of its new home.
    PageThere(u16, u32),
    /// A page is mapped for all nodes.
    Mapped(u32),
    /// A page has been entered in a node's own page table.
    Entered(u16, u32),
}

/// A memory system of such nodes.
pub(crate) trait MeshMemory: MemorySystem<Event = NodeEvent<Self::Posted>> {
    /// The protocol's message about a block or page.
    type Posted: Copy;
}

/// Network, controllers and memories of all nodes.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) network: NodeNetwork,
    model: DirectoryMachine,
    lookup_free: Vec<u64>,
    memory_free: Vec<u64>,
    /// Queues of controllers and memories, by end point.
    lookups: Vec<QueueMeter>,
    accesses: Vec<QueueMeter>,
    /// The last-level cache of each slice of a memory; empty if there is none.
    last_levels: Vec<LastLevelCache>,
    /// Number of end points before those of the memory slices.
    processors: usize,
}

/// Simultaneous events are ordered by node, then by creation.
pub(crate) fn rank(node: u16) -> u32 {
    u32::from(node) << NODE_SHIFT
}

impl Transport {
    pub(crate) fn new(nodes: u16, model: DirectoryMachine, block_bytes: u64) -> Self {
        let places = NodePlaces::new(nodes, &model);
        let free = vec![0; usize::from(places.end_points())];
        let slices = match model.topology {
            MemoryTopology::PerProcessor => 1,
            MemoryTopology::Shared(shared) => shared.slices,
        };
        let processors = usize::from(nodes);
        let last_level = |level: LastLevelModel| {
            let shape = level.slice(slices, block_bytes);
            free[processors..].iter().map(|_| LastLevelCache::new(shape)).collect()
        };
        Self {
            network: NodeNetwork::new(places, model.network),
            last_levels: model.last_level.map(last_level).unwrap_or_default(),
            processors,
            model,
            lookups: vec![QueueMeter::default(); free.len()],
            accesses: vec![QueueMeter::default(); free.len()],
            lookup_free: free.clone(),
            memory_free: free,
        }
    }

    /// Makes a message with `data_bytes` bytes of data.
    pub(crate) fn envelope<B>(
        &self,
        route: Route,
        data_bytes: u64,
        content: Content<B>,
    ) -> Envelope<B> {
        let cycles = self.model.network.path_cycles(self.model.network.header_bytes + data_bytes);
        let Route { from, to } = route;
        Envelope { from, to, cycles: u32::try_from(cycles).unwrap_or(u32::MAX), content }
    }

    /// An answer of a cache leaves when the cache has looked up the block.
    pub(crate) fn post_answer<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        requesters: &mut Requesters<'_, M>,
    ) {
        let (leaves, from) = (requesters.now() + self.model.answer_cycles, envelope.from);
        if self.model.answer_cycles == 0 {
            self.post(envelope, leaves, requesters);
        } else {
            let event = NodeEvent::Fetched(envelope, leaves);
            requesters.schedule_at(leaves, rank(from), event);
        }
    }

    /// A message leaves its node; its last part can be sent at `ready`. A message within a node is
    /// delivered then.
    pub(crate) fn post<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        ready: u64,
        requesters: &mut Requesters<'_, M>,
    ) {
        let Envelope { from, to, cycles, .. } = envelope;
        let now = requesters.now();
        if from == to {
            requesters.schedule_at(ready.max(now), rank(to), NodeEvent::Delivered(envelope));
            return;
        }
        let transit = self.network.send(now, Route::new(from, to), u64::from(cycles), ready);
        let event = NodeEvent::Arrives(envelope, transit.tail);
        requesters.schedule_at(transit.head, rank(to), event);
    }

    pub(crate) fn post_operation<M: MeshMemory>(
        &mut self,
        request: &SyncRequest,
        sync: &mut Synchroniser,
        homes: &PageHomes,
        requesters: &mut Requesters<'_, M>,
    ) {
        let (memory, block, message) = sync.submit(request, homes, self.places().memories());
        let route = Route::new(node(request.processor), self.places().end_point(memory, block));
        self.post_sync(route, message, requesters);
    }

    /// A message of synchronisation leaves its node.
    pub(crate) fn post_sync<M: MeshMemory>(
        &mut self,
        route: Route,
        message: SyncMessage,
        requesters: &mut Requesters<'_, M>,
    ) {
        let envelope = self.envelope(route, 0, Content::Sync(message));
        self.post(envelope, requesters.now(), requesters);
    }

    /// The head of a message arrives. Returns when all of it has been received.
    pub(crate) fn receive<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        tail: u64,
        requesters: &mut Requesters<'_, M>,
    ) -> u64 {
        let Envelope { to, cycles, .. } = envelope;
        let there = self.network.receive(requesters.now(), to, u64::from(cycles), tail);
        requesters.schedule_at(there, rank(to), NodeEvent::Delivered(envelope));
        there
    }

    /// A node's controller looks up the block or page of a message, after those of earlier ones.
    pub(crate) fn look_up<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        requesters: &mut Requesters<'_, M>,
    ) {
        let to = envelope.to;
        let free = &mut self.lookup_free[usize::from(to)];
        let start = (*free).max(requesters.now());
        *free = start + self.model.directory_cycles;
        self.lookups[usize::from(to)].add(requesters.now(), start, *free);
        requesters.schedule_at(*free, rank(to), NodeEvent::LookedUp(envelope));
    }

    pub(crate) fn places(&self) -> &NodePlaces {
        &self.network.places
    }

    /// A memory is accessed once it is free. Returns when the first and the last word are
    /// available.
    pub(crate) fn access_memory(&mut self, now: u64, end_point: u16, bytes: u64) -> (u64, u64) {
        let (latency, words) = (self.model.memory_latency_cycles, self.model.memory_cycles(bytes));
        let free = &mut self.memory_free[usize::from(end_point)];
        let start = (*free).max(now);
        let first = start + latency;
        // A pipelined memory is busy only for the transfer of words.
        let busy = if self.model.memory_pipelined { words } else { latency + words };
        *free = start + busy;
        self.accesses[usize::from(end_point)].add(now, start, *free);
        (first, first + words)
    }

    /// The last level in front of an end point's memory, if there is one.
    fn last_level(&mut self, end_point: u16) -> Option<&mut LastLevelCache> {
        let slice = usize::from(end_point).checked_sub(self.processors)?;
        self.last_levels.get_mut(slice)
    }

    /// A block is written to the memory of its home, or to the last-level cache if there is one.
    pub(crate) fn store_block(&mut self, now: u64, home: u16, block: BlockRef, bytes: u64) {
        match self.last_level(home) {
            Some(last_level) => last_level.insert(block),
            None => {
                self.access_memory(now, home, bytes);
            }
        }
    }

    /// A message with a block leaves its home as the block is read from the last-level cache or
    /// from memory; in the latter case the last-level cache keeps it.
    pub(crate) fn post_block<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        block: BlockRef,
        bytes: u64,
        requesters: &mut Requesters<'_, M>,
    ) {
        let (from, latency) = (envelope.from, self.model.last_level.map(|it| it.latency_cycles));
        let has = self.last_level(from).is_some_and(|last_level| {
            let has = last_level.has(block);
            if !has {
                last_level.insert(block);
            }
            has
        });
        match latency {
            Some(cycles) if has => {
                let there = requesters.now() + cycles;
                requesters.schedule_at(there, rank(from), NodeEvent::Fetched(envelope, there));
            }
            Some(_) | None => self.post_from_memory(envelope, bytes, requesters),
        }
    }

    /// A message with data from its node's memory leaves as the data are read.
    pub(crate) fn post_from_memory<M: MeshMemory>(
        &mut self,
        envelope: Envelope<M::Posted>,
        bytes: u64,
        requesters: &mut Requesters<'_, M>,
    ) {
        let (first, last) = self.access_memory(requesters.now(), envelope.from, bytes);
        let from = envelope.from;
        requesters.schedule_at(first, rank(from), NodeEvent::Fetched(envelope, last));
    }

    pub(crate) fn restart_counts(&mut self) {
        (self.network.hops, self.network.sending) = (0, 0);
        for meter in self.lookups.iter_mut().chain(&mut self.accesses) {
            meter.load = QueueLoad::default();
        }
    }

    /// Times, with those of network, controllers and memories.
    pub(crate) fn timing(&self, others: DirectoryTiming) -> DirectoryTiming {
        DirectoryTiming {
            hops: self.network.hops,
            sending: self.network.sending,
            looking_up: self.lookups.iter().map(|meter| meter.load.busy).sum(),
            accessing: self.accesses.iter().map(|meter| meter.load.busy).sum(),
            ..others
        }
    }

    /// Load of homes, by memory.
    pub(crate) fn loads(&self) -> Vec<HomeLoad> {
        let places = self.places();
        let mut loads = vec![HomeLoad::default(); usize::from(places.memories())];
        for (end_point, memory) in places.controllers() {
            let load = &mut loads[usize::from(memory)];
            load.controllers += 1;
            load.lookups.add(&self.lookups[usize::from(end_point)].load);
            load.accesses.add(&self.accesses[usize::from(end_point)].load);
        }
        loads
    }

    /// Cycle from which all memories are idle.
    pub(crate) fn at_rest_from(&self) -> u64 {
        self.memory_free.iter().copied().max().unwrap_or(0)
    }
}
