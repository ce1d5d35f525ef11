//! The controller of a block's home: what it does about messages.

use homenode_cache::{BlockRef, CacheArrays, ClockError, WordMask};
use homenode_clock::Requesters;

use super::{BlockEnvelope, BlockMessage, DashMemory};
use crate::entries::NO_NODE;
use crate::vocabulary::{CacheEvent, ControllerCell, HomeAction, HomeEvent, Message, Sender};

/// What would be wrong with a protocol that does this.
mod because {
    pub(super) const NOBODY: &str = "a message has nobody to go to";
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// The home's controller has looked up the block of a message, and does what is to be done
    /// about it and about those that waited for that.
    pub(super) fn at_home(
        &mut self,
        envelope: &BlockEnvelope,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let Some(message) = Self::block_message(envelope) else { return Ok(()) };
        let number = message.number;
        if !self.home_event((envelope, &message), requesters)? {
            self.waiting.entry(number).or_default().push_back(*envelope);
            return Ok(());
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        while let Some(next) =
            self.waiting.get(&number).and_then(|waiting| waiting.front().copied())
        {
            let Some(message) = Self::block_message(&next) else { break };
            if !self.home_event((&next, &message), requesters)? {
                return Ok(());
            }
            if let Some(waiting) = self.waiting.get_mut(&number) {
                waiting.pop_front();
            }
        }
        self.waiting.remove(&number);
        Ok(())
    }

    /// Something happens at the controller of a home. Returns whether it did something about it,
    /// and not let it wait.
    fn home_event(
        &mut self,
        (envelope, message): (&BlockEnvelope, &BlockMessage),
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<bool, ClockError> {
        let Some(event) = message.message.event_at_home() else { return Ok(true) };
        let (number, from) = (message.number, envelope.from);
        let head = self.entries.head(number);
        // Nobody asks while the block rests: most look-ups find no transaction under way.
        let rested = self.table.home.rests(head.state);
        let asker = if rested { None } else { self.askers.get(&number).copied() };
        let asker = asker.unwrap_or(NO_NODE);
        let sender = if head.owner == from {
            Sender::Owner
        } else if asker == from {
            Sender::Requester
        } else if self.entries.lists(number, from) {
            Sender::Sharer
        } else {
            Sender::Other
        };
        let (actions, next) = match self.table.home_cell(head.state, event, sender) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                return Err(self.failed(requesters.now(), message.block, (from, why)));
            }
        };
        let asks = matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade);
        let asker = if asks { from } else { asker };
        self.entries.set_state(number, next);
        let mut due = 0;
        for &action in actions {
            self.home_action((action, asker), (envelope, message), (&mut due, requesters))?;
        }
        if !self.table.home.rests(next) {
            self.askers.insert(number, asker);
        } else if !rested {
            self.askers.remove(&number);
        }
        Ok(true)
    }

    /// Does an action of the home's controller. `due` counts those that will acknowledge.
    fn home_action(
        &mut self,
        (action, asker): (HomeAction, u16),
        (envelope, message): (&BlockEnvelope, &BlockMessage),
        (due, requesters): (&mut i16, &mut Requesters<'_, Self>),
    ) -> Result<(), ClockError> {
        let (home, number) = (envelope.to, message.number);
        let owner = self.entries.head(number).owner;
        let needed = match action {
            HomeAction::Forward(_) | HomeAction::ListOwner => owner,
            HomeAction::ListRequester | HomeAction::Reply(_) | HomeAction::Invalidate => asker,
            HomeAction::TakeData | HomeAction::Own | HomeAction::Disown => home,
        };
        if needed == NO_NODE {
            let wrong = (envelope.from, because::NOBODY);
            return Err(self.failed(requesters.now(), message.block, wrong));
        }
        match action {
            HomeAction::TakeData => {
                let block = BlockRef { block: message.block, number };
                self.transport.store_block(requesters.now(), home, block, self.block_bytes);
                self.values_taken((envelope.from, home), message);
            }
            HomeAction::Own => self.entries.own(number, asker),
            HomeAction::Disown => self.entries.disown(number),
            HomeAction::ListOwner => {
                self.entries.list(number, owner);
                self.entries.disown(number);
            }
            HomeAction::ListRequester => self.entries.list(number, asker),
            HomeAction::Reply(reply) => {
                let reply =
                    BlockMessage { message: reply, due: *due, requester: asker, ..*message };
                self.reply((home, asker), reply, requesters);
            }
            HomeAction::Forward(forward) => {
                let forward =
                    BlockMessage { message: forward, due: 0, requester: asker, ..*message };
                self.post((home, owner), forward, requesters);
            }
            HomeAction::Invalidate => {
                *due = self.invalidate((envelope, message), asker, requesters)?;
            }
        }
        Ok(())
    }

    /// Answers whoever asked; data come from memory.
    fn reply(
        &mut self,
        way: (u16, u16),
        reply: BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        if !reply.message.carries_block() {
            self.post(way, reply, requesters);
            return;
        }
        self.sent.add_if(reply.message, way.0 != way.1);
        self.values_replied(way, &reply);
        let envelope = self.envelope(way, reply);
        let block = BlockRef { block: reply.block, number: reply.number };
        self.transport.post_block(envelope, block, self.block_bytes, requesters);
    }

    /// Tells all that may have a copy; returns how many will acknowledge it.
    fn invalidate(
        &mut self,
        (envelope, message): (&BlockEnvelope, &BlockMessage),
        requester: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<i16, ClockError> {
        let home = envelope.to;
        let invalidate =
            BlockMessage { message: Message::Invalidate, requester, due: 0, ..*message };
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        told.extend(self.entries.told(message.number).filter(|&node| node != requester));
        let mut due = 0;
        for &to in &told {
            if to == home {
                let own = self.envelope((home, home), invalidate);
                let event = (home, CacheEvent::Invalidate);
                self.cache_event(event, (&own, &invalidate), requesters)?;
            } else {
                due += 1;
                self.post((home, to), invalidate, requesters);
            }
        }
        self.told = told;
        Ok(due)
    }
}
