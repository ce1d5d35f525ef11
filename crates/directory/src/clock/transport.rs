//! What every node has besides its processor and cache, whatever the protocol: a way into the
//! network, a controller that looks things up, and memory. Each does one thing at a time.

use homenode_clock::{MemorySystem, Requesters};
use homenode_machine::DirectoryMachine;

use super::network::MeshNetwork;
use super::sync::SyncMessage;

/// A node in the rank of an event: of those at one time the lowest node's come first.
const NODE_SHIFT: u32 = 16;
/// Bytes of a word of memory.
const WORD_BYTES: u64 = 4;

/// A message under way. `B` is what a protocol says about blocks or pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<B> {
    pub(super) from: u16,
    pub(super) to: u16,
    /// Cycles for which it occupies a path.
    pub(super) cycles: u32,
    pub(super) content: Content<B>,
}

/// What a message is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<B> {
    /// Coherence.
    Protocol(B),
    /// The page with this number: its new home asks for it.
    PageRequest(u32),
    /// The page itself.
    Page(u32),
    /// Synchronisation.
    Sync(SyncMessage),
}

/// What happens by itself in a machine with a directory.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeEvent<B> {
    /// The head of a message comes to its node; the time is when the last of it would be there.
    Arrives(Envelope<B>, u64),
    /// All of a message is there.
    Delivered(Envelope<B>),
    /// The node's controller has looked up what a message is about.
    LookedUp(Envelope<B>),
    /// The first of a message's data has come from memory; the last does at this time.
    Fetched(Envelope<B>, u64),
    /// A node's processor has got into its operating system, because of a page.
    Trapped(u16, u32),
    /// A page is in the memory of the node that will be its home.
    PageThere(u16, u32),
    /// A page is mapped for all nodes.
    Mapped(u32),
    /// A page is in a node's own page table.
    Entered(u16, u32),
}

/// Network, controllers and memories of all nodes.
#[derive(Debug)]
pub(super) struct Transport {
    pub(super) network: MeshNetwork,
    model: DirectoryMachine,
    lookup_free: Vec<u64>,
    memory_free: Vec<u64>,
    /// Cycles for which controllers looked up, and memories were accessed.
    pub(super) looking_up: u64,
    pub(super) accessing: u64,
}

/// The events of one node come in the order in which they were made, after those of lower nodes.
pub(super) fn rank(node: u16) -> u32 {
    u32::from(node) << NODE_SHIFT
}

impl Transport {
    pub(super) fn new(nodes: u16, model: DirectoryMachine) -> Self {
        let free = vec![0; usize::from(nodes)];
        Self {
            network: MeshNetwork::new(nodes, model.network),
            model,
            lookup_free: free.clone(),
            memory_free: free,
            looking_up: 0,
            accessing: 0,
        }
    }

    /// A message with so many bytes of data.
    pub(super) fn envelope<B>(
        &self,
        (from, to): (u16, u16),
        data_bytes: u64,
        content: Content<B>,
    ) -> Envelope<B> {
        let cycles = self.network.path_cycles(self.model.network.header_bytes + data_bytes);
        Envelope { from, to, cycles: u32::try_from(cycles).unwrap_or(u32::MAX), content }
    }

    /// A message leaves its node; the last of it is there to be sent at `ready`. What stays in its
    /// node is there then.
    pub(super) fn post<M, B>(
        &mut self,
        envelope: Envelope<B>,
        ready: u64,
        requesters: &mut Requesters<'_, M>,
    ) where
        M: MemorySystem<Event = NodeEvent<B>>,
    {
        let Envelope { from, to, cycles, .. } = envelope;
        let now = requesters.now();
        if from == to {
            requesters.schedule_at(ready.max(now), rank(to), NodeEvent::Delivered(envelope));
            return;
        }
        let transit = self.network.send(now, (from, to), (u64::from(cycles), ready));
        let event = NodeEvent::Arrives(envelope, transit.tail);
        requesters.schedule_at(transit.head, rank(to), event);
    }

    /// The head of a message comes to its node. Returns when all of it is there.
    pub(super) fn receive<M, B>(
        &mut self,
        envelope: Envelope<B>,
        tail: u64,
        requesters: &mut Requesters<'_, M>,
    ) -> u64
    where
        M: MemorySystem<Event = NodeEvent<B>>,
    {
        let Envelope { to, cycles, .. } = envelope;
        let there = self.network.receive(requesters.now(), to, (u64::from(cycles), tail));
        requesters.schedule_at(there, rank(to), NodeEvent::Delivered(envelope));
        there
    }

    /// A node's controller looks up what a message is about, once it has done so for those before.
    pub(super) fn look_up<M, B>(
        &mut self,
        envelope: Envelope<B>,
        requesters: &mut Requesters<'_, M>,
    ) where
        M: MemorySystem<Event = NodeEvent<B>>,
    {
        let to = envelope.to;
        let free = &mut self.lookup_free[usize::from(to)];
        *free = (*free).max(requesters.now()) + self.model.directory_cycles;
        self.looking_up += self.model.directory_cycles;
        requesters.schedule_at(*free, rank(to), NodeEvent::LookedUp(envelope));
    }

    /// A node's memory is accessed, once it is free. Returns when the first and the last word are
    /// there.
    pub(super) fn access_memory(&mut self, now: u64, node: u16, bytes: u64) -> (u64, u64) {
        let words = bytes.div_ceil(WORD_BYTES) * self.model.memory_word_cycles;
        let free = &mut self.memory_free[usize::from(node)];
        let first = (*free).max(now) + self.model.memory_latency_cycles;
        *free = first + words;
        self.accessing += self.model.memory_latency_cycles + words;
        (first, *free)
    }

    /// A message with data from its node's memory leaves as they come.
    pub(super) fn post_from_memory<M, B>(
        &mut self,
        envelope: Envelope<B>,
        bytes: u64,
        requesters: &mut Requesters<'_, M>,
    ) where
        M: MemorySystem<Event = NodeEvent<B>>,
    {
        let (first, last) = self.access_memory(requesters.now(), envelope.from, bytes);
        let from = envelope.from;
        requesters.schedule_at(first, rank(from), NodeEvent::Fetched(envelope, last));
    }

    /// What was counted so far is not wanted.
    pub(super) fn restart_counts(&mut self) {
        (self.network.hops, self.network.sending) = (0, 0);
        (self.looking_up, self.accessing) = (0, 0);
    }

    /// When a controller, a memory or a port is last in use.
    pub(super) fn at_rest_from(&self) -> u64 {
        self.memory_free.iter().copied().max().unwrap_or(0)
    }
}
