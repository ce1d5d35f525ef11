//! What a controller is busy with, and for how long.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::Requesters;
use homenode_machine::BusyStore;

use super::ListMemory;
use super::arrival::{ControllerEvent, Parcel};
use super::posted::ListPost;

/// When the parts of a node are free, and for how long they were busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BusyTimes {
    /// The controller has done what it has begun.
    pub(super) controller_free: u64,
    /// The second level's bus.
    pub(super) second_level_free: u64,
    /// The node can send, and receive, the next message.
    pub(super) send_free: u64,
    pub(super) receive_free: u64,
    /// Cycles for which the controller was busy, memory was accessed, and messages left.
    pub(super) serving: u64,
    pub(super) accessing: u64,
    pub(super) sending: u64,
}

/// What a controller does about one thing that has come to it.
#[derive(Debug)]
pub(super) struct Service {
    /// The node, or its proxy cache, as whose it acts.
    pub(super) node: u16,
    /// Up to when it is busy so far.
    pub(super) time: u64,
    /// Messages to the node itself, which it takes up before anything else.
    pub(super) own: Vec<ListPost>,
}

/// What an access of a store is for.
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
    /// A node's second level is accessed, by its processor or its controller, once its bus is free;
    /// or its proxy cache, which has a bus of its own. Returns when that is done.
    pub(super) fn access_second_level(&mut self, node: u16, now: u64, access: StoreAccess) -> u64 {
        let busy = &mut self.nodes[usize::from(node)].busy;
        let start = now.max(busy.second_level_free);
        busy.second_level_free = start + cycles(&self.machine.second_level, access);
        busy.second_level_free
    }

    /// The controller accesses the second level.
    pub(super) fn use_second_level(&mut self, service: &mut Service, access: StoreAccess) {
        service.time = self.access_second_level(service.node, service.time, access);
    }

    /// The controller accesses memory and the directory in it.
    pub(super) fn use_memory(&mut self, service: &mut Service, access: StoreAccess) {
        let taken = cycles(&self.machine.memory, access);
        self.nodes[usize::from(service.node)].busy.accessing += taken;
        service.time += taken;
    }

    /// The controller sends a message about a block. What stays in the node is taken up next.
    pub(super) fn send(
        &mut self,
        service: &mut Service,
        post: ListPost,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let (from, to) = (self.node_of(post.from), self.node_of(post.to));
        if from == to {
            service.own.push(post);
            return;
        }
        service.time += self.machine.controller.send_cycles;
        self.sent.add(post.message);
        let there = self.transit(from, service.time, post.message.carries_block());
        let event = ControllerEvent::Arrives(Parcel::Block(post));
        requesters.schedule_at(there, rank(to), event);
    }

    /// A message leaves its node at this time, or when it can. Returns when it is at another one,
    /// if that can take it then.
    pub(super) fn transit(&mut self, from: u16, ready: u64, long: bool) -> u64 {
        let network = self.machine.network;
        let busy = &mut self.nodes[usize::from(from)].busy;
        let leaves = ready.max(busy.send_free);
        busy.send_free = leaves + network.gap_cycles;
        busy.sending += network.gap_cycles;
        leaves + if long { network.long_cycles } else { network.short_cycles }
    }
}

/// The events of one node come in the order in which they were made, after those of lower nodes.
pub(super) fn rank(node: u16) -> u32 {
    crate::clock::transport::rank(node)
}
