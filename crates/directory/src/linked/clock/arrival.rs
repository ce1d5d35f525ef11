//! Arrival of messages at a node's controller: queued, or sent back when the buffer is full.

use std::collections::VecDeque;

use homenode_cache::{CacheArrays, ClockError, WordMask};
use homenode_clock::Requesters;

use super::posted::ListPost;
use super::service::{Service, StoreAccess, rank};
use super::{ControllerNode, ListMemory};
use crate::linked::vocabulary::ListMessage;
use crate::mesh::network::Route;
use crate::mesh::queue::{HomeLoad, QueueLoad};
use crate::mesh::sync::{self, SyncMessage};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Parcel {
    Block(ListPost),
    Sync { from: u16, to: u16, message: SyncMessage },
}

/// Events of a machine whose nodes have controllers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ControllerEvent {
    Arrives(Parcel),
    /// The node has received it.
    Received(Parcel),
    /// A processor's second level has missed.
    Missed(u16),
    /// A controller can serve the next item.
    Serve(u16),
}

impl Parcel {
    /// The node, or its proxy cache.
    fn to(&self) -> u16 {
        match self {
            Self::Block(post) => post.to,
            Self::Sync { to, .. } => *to,
        }
    }

    /// Whether it comes from another node.
    fn is_from_another(&self) -> bool {
        match self {
            Self::Block(post) => post.from != post.to,
            Self::Sync { from, to, .. } => from != to,
        }
    }
}

/// An item in a controller's queue.
#[derive(Clone, Copy, Debug)]
enum QueuedInput {
    Parcel(Parcel),
    /// The processor's request.
    Processor,
}

impl QueuedInput {
    /// Whether it is a message from another node.
    fn is_message(&self) -> bool {
        matches!(self, Self::Parcel(parcel) if parcel.is_from_another())
    }
}

/// The queue of a controller, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct InputBuffer {
    waiting: VecDeque<(u64, QueuedInput)>,
    /// Number of queued messages from other nodes.
    messages: u64,
    /// Whether reads are sent back.
    full: bool,
    /// Whether an event is scheduled to serve the next item.
    awaited: bool,
    /// Load by messages from other nodes.
    load: QueueLoad,
    /// Messages that came to the node's input, in front of the buffer.
    arrivals: u64,
    /// Cycles for which they waited there.
    input_waits: u64,
    longest_input_wait: u64,
}

impl InputBuffer {
    /// Discards all counts so far.
    pub(super) fn restart(&mut self) {
        self.load = QueueLoad::default();
        (self.arrivals, self.input_waits, self.longest_input_wait) = (0, 0, 0);
    }

    /// A message waits for the node's input. Reads are sent back only after that.
    fn wait_for_input(&mut self, cycles: u64) {
        self.input_waits += cycles;
        self.longest_input_wait = self.longest_input_wait.max(cycles);
    }

    /// Load of the node's input, which takes `gap` cycles for each message.
    fn input_load(&self, gap: u64) -> QueueLoad {
        QueueLoad {
            served: self.arrivals,
            busy: self.arrivals * gap,
            waited: self.input_waits,
            // Those before it are received at intervals of the gap.
            longest: self.longest_input_wait.div_ceil(gap.max(1)),
        }
    }

    /// An item arrives at the controller, which has room for `room` messages.
    fn push(&mut self, now: u64, waiting: QueuedInput, room: Option<u64>) {
        if waiting.is_message() {
            self.messages += 1;
            self.load.longest = self.load.longest.max(self.messages);
            // The buffer stays full until a message is served, even if none arrives meanwhile.
            self.full |= room.is_some_and(|most| self.messages > most);
        }
        self.waiting.push_back((now, waiting));
    }

    /// The next item to serve.
    fn pop(&mut self, now: u64, room: Option<u64>) -> Option<QueuedInput> {
        let (since, waiting) = self.waiting.pop_front()?;
        if waiting.is_message() {
            self.messages -= 1;
            self.load.served += 1;
            self.load.waited += now - since;
            self.full &= room.is_some_and(|most| self.messages >= most);
        }
        Some(waiting)
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A message arrives at a node, which receives one at a time.
    pub(super) fn arrives(
        &mut self,
        parcel: Parcel,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let (now, to) = (requesters.now(), self.node_of(parcel.to()));
        let gap = self.machine.network.gap_cycles;
        let ControllerNode { buffer, busy, .. } = &mut self.nodes[usize::from(to)];
        let received = now.max(busy.receive_free);
        busy.receive_free = received + gap;
        buffer.arrivals += 1;
        if received > now {
            buffer.wait_for_input(received - now);
            requesters.schedule_at(received, rank(to), ControllerEvent::Received(parcel));
            return Ok(());
        }
        self.received(parcel, requesters)
    }

    /// A node has received a message, and queues it or sends it back.
    pub(super) fn received(
        &mut self,
        parcel: Parcel,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let to = self.node_of(parcel.to());
        if let Parcel::Block(post) = parcel
            && post.message.may_bounce()
            && self.nodes[usize::from(to)].buffer.full
        {
            self.send_back(&post, requesters);
            return Ok(());
        }
        self.enqueue(to, QueuedInput::Parcel(parcel), requesters)
    }

    /// The network sends back a read that has arrived at a full buffer, at once, even if the node's
    /// controller has messages to send.
    ///
    /// Source: Talbot and Kelly, section 1.3.
    fn send_back(&mut self, post: &ListPost, requesters: &mut Requesters<'_, Self>) {
        let more = u16::from(post.message == ListMessage::ProxyRead);
        let (message, to) = (ListMessage::Bounce, self.receiver(post));
        let bounce = ListPost { message, from: post.to, to, more, ..*post };
        self.sent.sent.add_if(message, true);
        let there = requesters.now() + self.machine.network.short_cycles;
        let event = ControllerEvent::Arrives(Parcel::Block(bounce));
        requesters.schedule_at(there, rank(self.node_of(to)), event);
    }

    /// A processor's second level has missed: the request goes to the controller.
    pub(super) fn missed(
        &mut self,
        node: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        self.enqueue(node, QueuedInput::Processor, requesters)
    }

    fn enqueue(
        &mut self,
        node: u16,
        waiting: QueuedInput,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let now = requesters.now();
        let ControllerNode { buffer, busy, .. } = &mut self.nodes[usize::from(node)];
        buffer.push(now, waiting, self.buffer_reads);
        if buffer.awaited {
            return Ok(());
        }
        let free = busy.controller_free;
        if free > now {
            buffer.awaited = true;
            requesters.schedule_at(free, rank(node), ControllerEvent::Serve(node));
            return Ok(());
        }
        self.serve(node, requesters)
    }

    /// A controller serves the first item of its queue.
    pub(super) fn serve(
        &mut self,
        node: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let now = requesters.now();
        let (buffer, room) = (&mut self.nodes[usize::from(node)].buffer, self.buffer_reads);
        let Some(waiting) = buffer.pop(now, room) else { return Ok(()) };
        let mut service = Service { node, time: now, own: Vec::new(), requesters };
        match waiting {
            QueuedInput::Parcel(Parcel::Block(post)) => self.handle(&mut service, &post)?,
            QueuedInput::Parcel(Parcel::Sync { message, .. }) => {
                self.handle_sync(&mut service, message);
            }
            QueuedInput::Processor => self.begin(&mut service)?,
        }
        while !service.own.is_empty() {
            let post = service.own.remove(0);
            self.handle(&mut service, &post)?;
        }
        let ControllerNode { buffer, busy, .. } = &mut self.nodes[usize::from(node)];
        busy.controller_free = service.time;
        busy.serving += service.time - now;
        buffer.awaited = !buffer.waiting.is_empty();
        if buffer.awaited {
            service.requesters.schedule_at(service.time, rank(node), ControllerEvent::Serve(node));
        }
        Ok(())
    }

    fn handle(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
    ) -> Result<(), ClockError> {
        service.node = post.to;
        if post.message.event_at_home().is_some() {
            self.at_home(service, post)
        } else {
            self.at_copy(service, post)
        }
    }

    /// A controller handles a message of synchronisation: a home looks up the lock, another node
    /// lets its processor continue.
    fn handle_sync(&mut self, service: &mut Service<'_, '_, Self>, message: SyncMessage) {
        match message {
            SyncMessage::Operation(number) => {
                self.use_memory(service, StoreAccess::Lookup);
                self.sync.take_effect(number, service.node, service.time, service.requesters);
            }
            SyncMessage::Grant | SyncMessage::Wake(_) => {
                sync::answer(service.node, message, service.requesters.now(), service.requesters);
            }
        }
    }

    /// A message of synchronisation leaves its node.
    pub(super) fn post_sync(
        &mut self,
        route: Route,
        message: SyncMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let Route { from, to } = route;
        let (now, parcel) = (requesters.now(), Parcel::Sync { from, to, message });
        if from == to {
            requesters.schedule_at(now, rank(to), ControllerEvent::Received(parcel));
            return;
        }
        let there = self.transit(from, now + self.machine.controller.send_cycles, false);
        requesters.schedule_at(there, rank(to), ControllerEvent::Arrives(parcel));
    }

    /// Load of controllers, by node.
    pub(super) fn loads(&self) -> Vec<HomeLoad> {
        let gap = self.machine.network.gap_cycles;
        let load = |node: &ControllerNode| HomeLoad {
            controllers: 1,
            lookups: QueueLoad { busy: node.busy.serving, ..node.buffer.load },
            accesses: QueueLoad { busy: node.busy.accessing, ..QueueLoad::default() },
            arrivals: node.buffer.input_load(gap),
        };
        self.nodes.iter().take(usize::from(self.node_count)).map(load).collect()
    }
}
