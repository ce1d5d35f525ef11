//! One transaction: the controllers handle messages until none is in flight.

use homenode_cache::{BlockHolders, BlockRef, CacheArrays, CheckError, MissStatus, WordMask};

use super::DirectoryDriver;
use super::network::SentMessage;
use crate::acts::ActCause;
use crate::cell::{AnySender, ControllerCell, CopyRole, MessageWay};
use crate::dash::vocabulary::{
    CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender,
};
use crate::entries::NO_NODE;

/// Faults of a protocol.
mod because {
    pub(super) const WAITS: &str = "a message waits, and nothing that it waits for is under way";
    pub(super) const FLOOD: &str = "more and more messages are under way";
    pub(super) const NO_RECIPIENT: &str = "a message has no recipient";
    pub(super) const NO_FRAME: &str = "a node gets a copy and has no frame for it";
    pub(super) const KEPT: &str = "a replaced copy is still there";
    pub(super) const UNDONE: &str = "no message is under way, and the reference is not done";
}

/// A reference that the node's own cache cannot serve, or a replacement.
pub(super) struct DirectoryTransaction<W, const WORDS: usize> {
    pub(super) block: u64,
    pub(super) number: u32,
    pub(super) record: BlockHolders<WORDS>,
    requester: u16,
    at: usize,
    home: u16,
    event: CacheEvent,
    pub(super) words: W,
    /// The requester of the transaction in progress at the home, or [`NO_NODE`].
    active_requester: u16,
    /// Acknowledgements due at the requester.
    due: i32,
    /// Whether the reference took place.
    done: bool,
    /// Whether the writes so far were passed to nodes that lost the block.
    writes_passed: bool,
    /// Whether a modified copy was written back.
    pub(super) wrote_back: bool,
}

impl<W: WordMask, const WORDS: usize> DirectoryTransaction<W, WORDS> {
    pub(super) fn new(
        block: BlockRef,
        record: BlockHolders<WORDS>,
        requester: u16,
        at: usize,
        home: u16,
        event: CacheEvent,
    ) -> Self {
        let BlockRef { block, number } = block;
        Self {
            block,
            number,
            record,
            requester,
            at,
            home,
            event,
            words: W::default(),
            active_requester: NO_NODE,
            due: 0,
            done: event == CacheEvent::Replace,
            writes_passed: false,
            wrote_back: false,
        }
    }

    /// How a message reaches its destination. If the home is itself the requester, the owner's
    /// message to it travels with the reply.
    pub(super) fn way(&self, sent: &SentMessage) -> MessageWay {
        let to_home =
            matches!(sent.message, Message::SharingWriteBack | Message::OwnershipTransfer);
        if sent.from == sent.to {
            MessageWay::Within
        } else if to_home && sent.to == self.requester {
            MessageWay::WithReply
        } else {
            MessageWay::Network
        }
    }
}

/// Whether an action of a cache's controller sends no message: a copy at the home node is
/// invalidated at once, without an acknowledgement.
fn is_implicit(action: CacheAction, at_home: bool) -> bool {
    at_home && matches!(action, CacheAction::Send(Message::Acknowledge, _))
}

fn impossible(node: u16, what: &'static str) -> CheckError {
    CheckError::impossible(usize::from(node), what)
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Runs a transaction to its end.
    pub(super) fn run(&mut self, t: &mut DirectoryTransaction<W, WORDS>) -> Result<(), CheckError> {
        self.queue.begin();
        self.at_cache(t, t.requester, t.event, None)?;
        while let Some((message, flood)) = self.queue.arrive() {
            if flood {
                return Err(impossible(message.to, because::FLOOD));
            }
            self.deliver(t, &message)?;
        }
        let rests = self.table.cache.rests(self.caches.frame(t.at).state)
            && self.table.home.rests(self.entries.head(t.number).state);
        if t.done && rests { Ok(()) } else { Err(impossible(t.requester, because::UNDONE)) }
    }

    fn deliver(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        message: &SentMessage,
    ) -> Result<(), CheckError> {
        if let Some(event) = message.message.event_at_home() {
            return self.at_home(t, event, message);
        }
        t.due += message.message.acknowledgements(message.due);
        let (_, state) = self.copy(t, message.to);
        let writable = self.table.role(state) == CopyRole::Writable;
        match message.message.event_at_cache(t.due, writable) {
            Some(event) => self.at_cache(t, message.to, event, Some(message)),
            None => Ok(()),
        }
    }

    /// The frame that a node has for the block, and the state of its controller.
    fn copy(&self, t: &DirectoryTransaction<W, WORDS>, node: u16) -> (Option<usize>, u8) {
        let at = if node == t.requester {
            Some(t.at)
        } else {
            let held = t.record.holders.contains(node);
            held.then(|| self.caches.known_frame(usize::from(node), t.block))
        };
        (at, at.map_or(0, |at| self.caches.frames.all()[at].state))
    }

    fn at_cache(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        node: u16,
        event: CacheEvent,
        message: Option<&SentMessage>,
    ) -> Result<(), CheckError> {
        let (at, state) = self.copy(t, node);
        let (actions, next) = match self.table.cache.cell(state, event) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Err(impossible(node, because::WAITS)),
            ControllerCell::Impossible(why) => return Err(impossible(node, why)),
        };
        let (home, of_processor) = (node == t.home, event.is_of_processor());
        let cause = if of_processor { ActCause::Processor } else { ActCause::Home };
        self.observe(t, node, message, cause, |table| {
            let sent = actions.iter().copied().filter(|&action| !is_implicit(action, home));
            table.cache.used((event, AnySender::Any), sent, [state, next])
        });
        if let (Some(at), Some(shadow)) = (at, &mut self.caches.shadow)
            && let Some(message) = message.filter(|message| message.message.carries_block())
        {
            match message.frame {
                Some(supplier) => shadow.supply(supplier, at),
                None => shadow.fetch(at, t.number),
            }
        }
        for &action in actions {
            match action {
                _ if is_implicit(action, home) => {}
                CacheAction::Send(message, recipient) => {
                    let to = match recipient {
                        Recipient::Home => t.home,
                        Recipient::Requester => t.requester,
                    };
                    self.post(t, SentMessage { message, from: node, to, due: 0, frame: at });
                    t.wrote_back |= message == Message::WriteBack;
                }
                CacheAction::Complete => {
                    t.done = true;
                    self.complete(t)?;
                }
            }
        }
        self.change(t, node, at, state, next)
    }

    /// The reference takes place: values are written, or compared with what was written last.
    fn complete(&mut self, t: &DirectoryTransaction<W, WORDS>) -> Result<(), CheckError> {
        let Some(shadow) = &mut self.caches.shadow else { return Ok(()) };
        if t.event == CacheEvent::Store {
            shadow.write(t.number, t.words, std::iter::once(t.at));
            return Ok(());
        }
        let stale = shadow.read(t.at, t.number, t.words);
        stale.map_or(Ok(()), |address| Err(CheckError::stale(usize::from(t.requester), address)))
    }

    fn change(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        node: u16,
        at: Option<usize>,
        before: u8,
        next: u8,
    ) -> Result<(), CheckError> {
        let holder = usize::from(node);
        let had = self.table.has_copy(before);
        let has = self.table.has_copy(next);
        if t.event == CacheEvent::Replace && node == t.requester {
            // The caller empties the frame.
            return if has { Err(impossible(node, because::KEPT)) } else { Ok(()) };
        }
        match at {
            Some(at) if had && !has && node != t.requester => {
                if !std::mem::replace(&mut t.writes_passed, true) {
                    // These copies have not missed the writes so far.
                    self.caches.tell_writes(t.block, &t.record);
                }
                self.caches.lose(t.block, holder, at, MissStatus::Invalidated);
                t.record.lose(holder);
            }
            // Restores permissions that were withdrawn to see this reference, even in the same
            // state.
            Some(at) => {
                self.caches.set_state(at, next, self.permissions[usize::from(next)]);
                if has && !had {
                    t.record.add_holder(holder);
                }
            }
            None if has => return Err(impossible(node, because::NO_FRAME)),
            None => {}
        }
        Ok(())
    }

    fn at_home(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        event: HomeEvent,
        message: &SentMessage,
    ) -> Result<(), CheckError> {
        let head = self.entries.head(t.number);
        let from = message.from;
        let sender = if head.owner == from {
            Sender::Owner
        } else if t.active_requester == from {
            Sender::Requester
        } else if self.entries.lists(t.number, from) {
            Sender::Sharer
        } else {
            Sender::Other
        };
        let (actions, next) = match self.table.home.cell_by(head.state, event, sender) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Err(impossible(from, because::WAITS)),
            ControllerCell::Impossible(why) => return Err(impossible(from, why)),
        };
        let first = self.observed();
        self.observe(t, t.home, Some(message), ActCause::Message, |table| {
            table.home.used((event, sender), actions.iter().copied(), [head.state, next])
        });
        if matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade) {
            t.active_requester = from;
        }
        self.entries.set_state(t.number, next);
        let mut due = 0;
        for &action in actions {
            self.home_action(t, action, message, &mut due)?;
        }
        if self.table.home.rests(next) {
            t.active_requester = NO_NODE;
        }
        self.observe_entry(t.number, first);
        Ok(())
    }

    /// Performs an action of the home's controller. `due` counts expected acknowledgements.
    fn home_action(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        action: HomeAction,
        message: &SentMessage,
        due: &mut i32,
    ) -> Result<(), CheckError> {
        let (home, number) = (t.home, t.number);
        let owner = self.entries.head(number).owner;
        let known = |node: u16| {
            if node == NO_NODE {
                Err(impossible(message.from, because::NO_RECIPIENT))
            } else {
                Ok(node)
            }
        };
        match action {
            HomeAction::TakeData => {
                if let (Some(shadow), Some(at)) = (&mut self.caches.shadow, message.frame) {
                    shadow.update_memory(at, number);
                }
            }
            HomeAction::Own => self.entries.own(number, t.active_requester),
            HomeAction::Disown => self.entries.disown(number),
            HomeAction::ListOwner => {
                self.entries.list(number, known(owner)?);
                self.entries.disown(number);
            }
            HomeAction::ListRequester => self.entries.list(number, known(t.active_requester)?),
            HomeAction::Reply(message) => {
                let (to, due) = (known(t.active_requester)?, *due);
                self.post(t, SentMessage { message, from: home, to, due, frame: None });
            }
            HomeAction::Forward(message) => {
                let to = known(owner)?;
                self.post(t, SentMessage { message, from: home, to, due: 0, frame: None });
            }
            HomeAction::Invalidate => *due = self.invalidate(t, known(t.active_requester)?)?,
        }
        Ok(())
    }

    /// Invalidates all copies that may exist; returns the number of acknowledgements due.
    fn invalidate(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        requester: u16,
    ) -> Result<i32, CheckError> {
        let mut due = 0;
        let mut targets = std::mem::take(&mut self.invalidation_targets);
        targets.clear();
        let may_have = self.entries.invalidation_targets(t.number);
        targets.extend(may_have.filter(|&node| node != requester));
        for &to in &targets {
            if to == t.home {
                self.at_cache(t, to, CacheEvent::Invalidate, None)?;
            } else {
                due += 1;
                let (message, from) = (Message::Invalidate, t.home);
                self.post(t, SentMessage { message, from, to, due: 0, frame: None });
            }
        }
        self.invalidation_targets = targets;
        Ok(due)
    }

    /// Sends a message, and counts it if it crosses the network.
    fn post(&mut self, t: &DirectoryTransaction<W, WORDS>, sent: SentMessage) {
        self.sent.add_if(sent.message, t.way(&sent) == MessageWay::Network);
        self.queue.send(sent);
    }
}
