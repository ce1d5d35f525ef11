//! The controller of a node's cache: its response to messages.

use homenode_cache::{BlockRef, CacheArrays, ClockError, FrameLocation, MissStatus, WordMask};
use homenode_clock::Requesters;

use super::{BlockEnvelope, BlockMessage, DashMemory};
use crate::cell::{ControllerCell, CopyRole};
use crate::dash::vocabulary::{CacheAction, CacheEvent, Message, Recipient};
use crate::home::PageFill;
use crate::mesh::network::Route;

/// Faults of a protocol or of this engine.
mod because {
    pub(super) const WAITS: &str = "a message waits at a cache";
    pub(super) const NO_FRAME: &str = "a node gets a copy and has no frame for it";
}

/// The frame that a node has for a block, and the state of its controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundCopy {
    at: Option<usize>,
    state: u8,
}

#[derive(Clone, Copy, Debug)]
struct FrameChange {
    /// The frame, if the node has one.
    at: Option<usize>,
    before: u8,
    next: u8,
    /// Whether the processor's operation takes place.
    completes: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    pub(super) fn at_cache(
        &mut self,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let (node, block) = (envelope.to, message.block);
        let announced = message.message.acknowledgements(i32::from(message.due));
        let due = self.pending(node, block).map_or(0, |pending| {
            pending.due += announced;
            pending.due
        });
        let copy = self.copy(node, block);
        let writable = self.table.role(copy.state) == CopyRole::Writable;
        match message.message.event_at_cache(due, writable) {
            Some(event) => self.cache_event(copy, event, envelope, message, requesters),
            None => Ok(()),
        }
    }

    pub(super) fn copy(&self, node: u16, block: u64) -> FoundCopy {
        let frames = &self.caches.frames;
        let at = frames.find(frames.set_of(usize::from(node), block), block);
        FoundCopy { at, state: at.map_or(0, |at| frames.all()[at].state) }
    }

    /// An event at the cache to which a message goes, and which has this copy.
    pub(super) fn cache_event(
        &mut self,
        copy: FoundCopy,
        event: CacheEvent,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let (node, block) = (envelope.to, message.block);
        let FoundCopy { at, state } = copy;
        let (actions, next) = match self.table.cache.cell(state, event) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => {
                return Err(self.failed(requesters.now(), block, node, because::WAITS));
            }
            ControllerCell::Impossible(why) => {
                return Err(self.failed(requesters.now(), block, node, why));
            }
        };
        if let Some(at) = at {
            let carried = message.carried(Route::new(envelope.from, node));
            self.values.arrive(&carried, &mut self.caches.shadow, at);
        }
        let mut completes = false;
        for &action in actions {
            match action {
                CacheAction::Send(sent, recipient) => {
                    self.answer(at, sent, recipient, envelope, message, requesters);
                }
                CacheAction::Complete => completes = true,
            }
        }
        let rests = self.table.cache.rests(next);
        let completes = completes && (rests || !self.timed.sequential);
        let change = FrameChange { at, before: state, next, completes };
        self.change(node, message, change, requesters)?;
        if rests && self.timed.sequential {
            // The acknowledgements arrived after the reply.
            self.complete(node, message, requesters)?;
        }
        if rests {
            self.end_pending(node, block, requesters);
        }
        Ok(())
    }

    fn answer(
        &mut self,
        at: Option<usize>,
        sent: Message,
        recipient: Recipient,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        // A message that is answered to the home came from the home.
        let (node, home) = (envelope.to, envelope.from);
        let to = match recipient {
            Recipient::Home => home,
            Recipient::Requester => message.requester,
        };
        // A copy at the home node is invalidated at once, without an acknowledgement.
        if sent == Message::Acknowledge && node == home {
            return;
        }
        let answer = BlockMessage { message: sent, due: 0, ..*message };
        if let Some(at) = at {
            self.values_sent(Route::new(node, to), &answer, at);
        }
        // If the home is itself the requester, the owner's message to it travels with the reply.
        let with_reply = matches!(sent, Message::SharingWriteBack | Message::OwnershipTransfer)
            && to == message.requester;
        let mut envelope = self.envelope(Route::new(node, to), answer);
        if with_reply {
            envelope.cycles = 0;
        } else {
            self.sent.add_if(answer.message, node != to);
        }
        self.transport.post_answer(envelope, requesters);
    }

    /// A cache's controller changes its state; the reference takes place if the change completes
    /// it.
    fn change(
        &mut self,
        node: u16,
        message: &BlockMessage,
        change: FrameChange,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let FrameChange { at, before, next, completes } = change;
        let (had, has) = (self.table.has_copy(before), self.table.has_copy(next));
        let Some(at) = at else {
            if has || completes {
                let now = requesters.now();
                return Err(self.failed(now, message.block, node, because::NO_FRAME));
            }
            return Ok(());
        };
        let holder = usize::from(node);
        if had && !has {
            let record = self.caches.holders.get(message.number);
            // This copy has not missed the writes so far.
            self.caches.tell_writes(message.block, &record);
            self.caches.lose(message.block, holder, at, MissStatus::Invalidated);
            self.caches.holders.lose(message.number, holder);
            if next != 0 {
                self.fetch_instead(node, at, next, message);
            }
            return Ok(());
        }
        self.set_state(at, next);
        // All acknowledgements are in, or none were due.
        if self.table.role(next) == CopyRole::Writable && self.table.cache.rests(next) {
            self.values.perform(message.number, &mut self.caches.shadow);
        }
        if has && !had {
            self.caches.holders.add_holder(message.number, holder);
        }
        if completes {
            self.complete(node, message, requesters)?;
            if next == 0 {
                // The copy was to be invalidated as soon as it was read.
                self.caches.lose(message.block, holder, at, MissStatus::Invalidated);
                self.caches.holders.lose(message.number, holder);
            }
        }
        Ok(())
    }

    /// A copy under an upgrade is lost, and will be fetched with its data: the write becomes a
    /// miss.
    fn fetch_instead(&mut self, node: u16, at: usize, next: u8, message: &BlockMessage) {
        let Some(pending) = self.pending(node, message.block) else { return };
        pending.misses = true;
        let (access, requester) = (pending.access, pending.requester);
        let record = self.caches.holders.get(message.number);
        let status = self.caches.coherence_miss(&access, at, &record);
        self.caches.holders.add_frame(message.number, usize::from(node));
        // Filling the frame again keeps it from being chosen as a victim without a copy.
        let BlockMessage { block, number, .. } = *message;
        let set = self.caches.frames.set_of(usize::from(node), block);
        let place = FrameLocation { set, frame: at };
        self.caches.claim(place, BlockRef { block, number }, status, next);
        if let Some(requester) = requester {
            self.served(requester, at);
        }
        let page = self.entries.head(message.number).page;
        self.counts.upgrades -= 1;
        let memory = self.memory_of(usize::from(node));
        self.count_fill(page, memory, message.block);
    }

    /// Counts the fill of a block for a processor near `memory`.
    pub(super) fn count_fill(&mut self, page: u32, memory: u16, block: u64) {
        let source = self.homes.home(page);
        self.counts.fills += 1;
        self.counts.local_fills += u64::from(source == memory);
        self.homes.filled(page, PageFill { node: memory, source, block });
    }

    /// The reference that requested the block takes place: its data have arrived.
    fn complete(
        &mut self,
        node: u16,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let now = requesters.now();
        let Some(pending) = self.pending(node, message.block) else { return Ok(()) };
        let cycles = now - pending.since;
        let (reads, misses) = (!pending.access.write, pending.misses);
        let Some(requester) = pending.requester.take() else { return Ok(()) };
        self.timing.add_answer(cycles, reads, misses);
        requesters.perform(requester, |access| self.touch(access, now))?;
        self.values.complete(node, message.number);
        requesters.complete_at(now, requester);
        Ok(())
    }
}
