//! Service times of controllers.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::{MemorySystem, Requesters};
use homenode_machine::BusyStore;

use super::ListMemory;
use super::arrival::{ControllerEvent, Parcel};
use super::posted::ListPost;

/// When the parts of a node become free, and for how long they were busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BusyTimes {
    pub(super) controller_free: u64,
    /// The second level's bus.
    pub(super) second_level_free: u64,
    /// The node's output.
    pub(super) send_free: u64,
    /// The node's input.
    pub(super) receive_free: u64,
    /// Busy cycles of the controller.
    pub(super) serving: u64,
    /// Cycles of memory accesses.
    pub(super) accessing: u64,
    /// Cycles in which messages left.
    pub(super) sending: u64,
}

/// The service of one item by a controller.
pub(super) struct Service<'a, 'b, M: MemorySystem> {
    /// The node, or proxy cache, for which it acts.
    pub(super) node: u16,
    /// Cycle up to which it is busy so far.
    pub(super) time: u64,
    /// Messages to the node itself, which are handled first.
    pub(super) own: Vec<ListPost>,
    pub(super) requesters: &'a mut Requesters<'b, M>,
}

/// The kind of an access to a cache or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreAccess {
    /// The state of a block.
    Lookup,
    /// The block itself, whose state is known.
    Line,
    /// Both.
    LookupAndLine,
}

/// Cycles of an access, the bus included.
pub(super) fn cycles(store: &BusyStore, access: StoreAccess) -> u64 {
    let bus = store.acquire_cycles + store.release_cycles;
    bus + match access {
        StoreAccess::Lookup => store.lookup_cycles,
        StoreAccess::Line => store.line_cycles,
        StoreAccess::LookupAndLine => store.lookup_cycles + store.line_cycles,
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// An access of a node's second level, by its processor or its controller, once its bus is
    /// free; or of its proxy cache, which has a bus of its own. Returns when it is done.
    pub(super) fn access_second_level(&mut self, node: u16, now: u64, access: StoreAccess) -> u64 {
        let busy = &mut self.nodes[usize::from(node)].busy;
        let start = now.max(busy.second_level_free);
        busy.second_level_free = start + cycles(&self.machine.second_level, access);
        busy.second_level_free
    }

    /// The controller accesses the second level.
    pub(super) fn use_second_level(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        access: StoreAccess,
    ) {
        service.time = self.access_second_level(service.node, service.time, access);
    }

    /// The controller accesses memory and the directory in it.
    pub(super) fn use_memory(&mut self, service: &mut Service<'_, '_, Self>, access: StoreAccess) {
        let taken = cycles(&self.machine.memory, access);
        self.nodes[usize::from(service.node)].busy.accessing += taken;
        service.time += taken;
    }

    /// The controller sends a message about a block. Messages within the node are handled next.
    pub(super) fn send(&mut self, service: &mut Service<'_, '_, Self>, post: ListPost) {
        let (from, to) = (self.node_of(post.from), self.node_of(post.to));
        if from == to {
            service.own.push(post);
            return;
        }
        service.time += self.machine.controller.send_cycles;
        self.sent.sent.add_if(post.message, true);
        let there = self.transit(from, service.time, post.message.carries_block());
        let event = ControllerEvent::Arrives(Parcel::Block(post));
        service.requesters.schedule_at(there, rank(to), event);
    }

    /// A message leaves its node at `ready`, or once the output is free. Returns when it arrives,
    /// without contention at the receiver.
    pub(super) fn transit(&mut self, from: u16, ready: u64, long: bool) -> u64 {
        let network = self.machine.network;
        let busy = &mut self.nodes[usize::from(from)].busy;
        let leaves = ready.max(busy.send_free);
        busy.send_free = leaves + network.gap_cycles;
        busy.sending += network.gap_cycles;
        leaves + if long { network.long_cycles } else { network.short_cycles }
    }
}

/// Simultaneous events are ordered by node, then by creation.
pub(super) fn rank(node: u16) -> u32 {
    crate::mesh::transport::rank(node)
}
