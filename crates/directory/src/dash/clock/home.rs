//! The controller of a block's home: its response to messages.

use homenode_cache::{BlockRef, CacheArrays, ClockError, WordMask};
use homenode_clock::Requesters;

use super::{BlockEnvelope, BlockMessage, DashMemory};
use crate::cell::ControllerCell;
use crate::dash::vocabulary::{CacheEvent, HomeAction, HomeEvent, Message, Sender};
use crate::entries::NO_NODE;
use crate::mesh::network::Route;

/// Faults of a protocol.
mod because {
    pub(super) const NO_RECIPIENT: &str = "a message has no recipient";
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// The home's controller has looked up the block of a message; it handles the message, and
    /// those that waited for it.
    pub(super) fn at_home(
        &mut self,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let number = message.number;
        if !self.home_event(envelope, message, requesters)? {
            self.waiting.entry(number).or_default().push_back((*envelope, *message));
            return Ok(());
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let Some(mut waiting) = self.waiting.remove(&number) else { return Ok(()) };
        while let Some((envelope, message)) = waiting.front() {
            if !self.home_event(envelope, message, requesters)? {
                self.waiting.insert(number, waiting);
                break;
            }
            waiting.pop_front();
        }
        Ok(())
    }

    /// An event at the controller of a home. Returns whether the message was handled, and need not
    /// wait.
    fn home_event(
        &mut self,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<bool, ClockError> {
        let Some(event) = message.message.event_at_home() else { return Ok(true) };
        let (number, from) = (message.number, envelope.from);
        let head = self.entries.head(number);
        // At rest there is no requester, which saves most searches.
        let rested = self.table.home.rests(head.state);
        let requester = if rested { None } else { self.active_requesters.get(&number).copied() };
        let requester = requester.unwrap_or(NO_NODE);
        let sender = if head.owner == from {
            Sender::Owner
        } else if requester == from {
            Sender::Requester
        } else if self.entries.lists(number, from) {
            Sender::Sharer
        } else {
            Sender::Other
        };
        let (actions, next) = match self.table.home.cell_by(head.state, event, sender) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                return Err(self.failed(requesters.now(), message.block, from, why));
            }
        };
        let asks = matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade);
        let requester = if asks { from } else { requester };
        self.entries.set_state(number, next);
        let mut due = 0;
        for &action in actions {
            self.home_action(action, requester, envelope, message, &mut due, requesters)?;
        }
        if !self.table.home.rests(next) {
            self.active_requesters.insert(number, requester);
        } else if !rested {
            self.active_requesters.remove(&number);
        }
        Ok(true)
    }

    /// Performs an action of the home's controller. `due` counts expected acknowledgements.
    fn home_action(
        &mut self,
        action: HomeAction,
        requester: u16,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        due: &mut i16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let (home, number) = (envelope.to, message.number);
        let owner = self.entries.head(number).owner;
        let needed = match action {
            HomeAction::Forward(_) | HomeAction::ListOwner => owner,
            HomeAction::ListRequester | HomeAction::Reply(_) | HomeAction::Invalidate => requester,
            HomeAction::TakeData | HomeAction::Own | HomeAction::Disown => home,
        };
        if needed == NO_NODE {
            let (now, from) = (requesters.now(), envelope.from);
            return Err(self.failed(now, message.block, from, because::NO_RECIPIENT));
        }
        match action {
            HomeAction::TakeData => {
                let block = BlockRef { block: message.block, number };
                self.transport.store_block(requesters.now(), home, block, self.block_bytes);
                let carried = message.carried(Route::new(envelope.from, home));
                self.values.store::<W>(&carried, &mut self.caches.shadow, number);
            }
            HomeAction::Own => self.entries.own(number, requester),
            HomeAction::Disown => self.entries.disown(number),
            HomeAction::ListOwner => {
                self.entries.list(number, owner);
                self.entries.disown(number);
            }
            HomeAction::ListRequester => self.entries.list(number, requester),
            HomeAction::Reply(reply) => {
                let reply = BlockMessage { message: reply, due: *due, requester, ..*message };
                self.reply(Route::new(home, requester), reply, requesters);
            }
            HomeAction::Forward(forward) => {
                let forward = BlockMessage { message: forward, due: 0, requester, ..*message };
                self.post(Route::new(home, owner), forward, requesters);
            }
            HomeAction::Invalidate => {
                *due = self.invalidate(envelope, message, requester, requesters)?;
            }
        }
        Ok(())
    }

    /// Answers the requester; data are read from memory.
    fn reply(&mut self, route: Route, reply: BlockMessage, requesters: &mut Requesters<'_, Self>) {
        if !reply.message.carries_block() {
            self.post(route, reply, requesters);
            return;
        }
        self.sent.add_if(reply.message, route.is_remote());
        self.values.send_memory(reply.carried(route), &mut self.caches.shadow, reply.number);
        let envelope = self.envelope(route, reply);
        let block = BlockRef { block: reply.block, number: reply.number };
        self.transport.post_block(envelope, block, self.block_bytes, requesters);
    }

    /// Invalidates all copies that may exist; returns the number of acknowledgements due.
    fn invalidate(
        &mut self,
        envelope: &BlockEnvelope,
        message: &BlockMessage,
        requester: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<i16, ClockError> {
        let home = envelope.to;
        let invalidate =
            BlockMessage { message: Message::Invalidate, requester, due: 0, ..*message };
        let mut targets = std::mem::take(&mut self.invalidation_targets);
        targets.clear();
        let may_have = self.entries.invalidation_targets(message.number);
        targets.extend(may_have.filter(|&node| node != requester));
        let mut due = 0;
        for &to in &targets {
            if to == home {
                let own = self.envelope(Route::new(home, home), invalidate);
                let copy = self.copy(home, message.block);
                self.cache_event(copy, CacheEvent::Invalidate, &own, &invalidate, requesters)?;
            } else {
                due += 1;
                self.post(Route::new(home, to), invalidate, requesters);
            }
        }
        self.invalidation_targets = targets;
        Ok(due)
    }
}
