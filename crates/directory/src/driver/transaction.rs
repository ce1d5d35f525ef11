//! One transaction: what the controllers do about each message until none is under way.

use homenode_cache::{BlockHolders, CacheArrays, CheckError, MissStatus, WordMask};

use super::DirectoryDriver;
use super::network::SentMessage;
use super::observed::ObservedController;
use crate::entries::NO_NODE;
use crate::vocabulary::{
    CacheAction, CacheEvent, ControllerCell, CopyRole, HomeAction, HomeEvent, Message, MessageWay,
    Recipient, Sender,
};

/// What would be wrong with a protocol that stops before the reference is done.
mod because {
    pub(super) const WAITS: &str = "a message waits, and nothing that it waits for is under way";
    pub(super) const FLOOD: &str = "more and more messages are under way";
    pub(super) const NOBODY: &str = "a message has nobody to go to";
    pub(super) const NO_FRAME: &str = "a node gets a copy and has no frame for it";
    pub(super) const KEPT: &str = "a replaced copy is still there";
    pub(super) const UNDONE: &str = "no message is under way, and the reference is not done";
}

/// A reference to a block that is not settled in the own cache, or a replacement.
pub(super) struct DirectoryTransaction<W, const WORDS: usize> {
    pub(super) block: u64,
    /// The block's number.
    pub(super) number: u32,
    /// Who has the block.
    pub(super) record: BlockHolders<WORDS>,
    requester: u16,
    /// The requester's frame.
    at: usize,
    home: u16,
    event: CacheEvent,
    /// The words of the reference.
    pub(super) words: W,
    /// For whom the home has a transaction under way, or [`NO_NODE`].
    asker: u16,
    /// Acknowledgements that the requester awaits.
    due: i32,
    /// Whether the reference took place.
    done: bool,
    /// Whether those who lost the block were told what was written since.
    told: bool,
    /// Whether a dirty copy was written back.
    pub(super) wrote_back: bool,
}

impl<W: WordMask, const WORDS: usize> DirectoryTransaction<W, WORDS> {
    pub(super) fn new(
        (block, number, record): (u64, u32, BlockHolders<WORDS>),
        (requester, at, home): (u16, usize, u16),
        event: CacheEvent,
    ) -> Self {
        Self {
            block,
            number,
            record,
            requester,
            at,
            home,
            event,
            words: W::default(),
            asker: NO_NODE,
            due: 0,
            done: event == CacheEvent::Replace,
            told: false,
            wrote_back: false,
        }
    }

    /// How a message gets to where it goes. What an owner tells a home that is itself the requester
    /// comes with the reply.
    pub(super) fn way(&self, sent: &SentMessage) -> MessageWay {
        let told = matches!(sent.message, Message::SharingWriteBack | Message::OwnershipTransfer);
        if sent.from == sent.to {
            MessageWay::Within
        } else if told && sent.to == self.requester {
            MessageWay::WithReply
        } else {
            MessageWay::Network
        }
    }
}

/// Whether a cache's controller keeps to itself what its table has it say: a copy at home goes at
/// once, and nobody waits for it.
pub(crate) fn goes_unsaid(action: CacheAction, at_home: bool) -> bool {
    at_home && matches!(action, CacheAction::Send(Message::Acknowledge, _))
}

fn impossible(node: u16, what: &'static str) -> CheckError {
    CheckError::impossible(usize::from(node), what)
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Does a transaction to its end.
    pub(super) fn run(&mut self, t: &mut DirectoryTransaction<W, WORDS>) -> Result<(), CheckError> {
        self.queue.begin();
        self.at_cache(t, (t.requester, t.event), None)?;
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

    /// A message arrives.
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
            Some(event) => self.at_cache(t, (message.to, event), Some(message)),
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

    /// An event at a cache's controller.
    fn at_cache(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        (node, event): (u16, CacheEvent),
        message: Option<&SentMessage>,
    ) -> Result<(), CheckError> {
        let (at, state) = self.copy(t, node);
        let (actions, next) = match self.table.cache_cell(state, event) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Err(impossible(node, because::WAITS)),
            ControllerCell::Impossible(why) => return Err(impossible(node, why)),
        };
        let does = ObservedController::Cache(event, actions);
        self.observe(t, (node, message), does, (state, next));
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
                _ if goes_unsaid(action, node == t.home) => {}
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
        self.change(t, (node, at), (state, next))
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

    /// A cache's controller changes its state.
    fn change(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        (node, at): (u16, Option<usize>),
        (before, next): (u8, u8),
    ) -> Result<(), CheckError> {
        let holder = usize::from(node);
        let had = self.has_copy(before);
        let has = self.has_copy(next);
        if t.event == CacheEvent::Replace && node == t.requester {
            // Whoever replaces the copy takes it out of the frame.
            return if has { Err(impossible(node, because::KEPT)) } else { Ok(()) };
        }
        match at {
            Some(at) if had && !has && node != t.requester => {
                if !std::mem::replace(&mut t.told, true) {
                    // What was written before is nothing that these copies missed.
                    self.caches.tell_writes(t.block, &t.record);
                }
                self.caches.lose(t.block, holder, at, MissStatus::Invalidated);
                t.record.lose(holder);
            }
            // Also if the state stays: permissions may have been withdrawn to see this reference.
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

    /// An event at the home's controller.
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
        } else if t.asker == from {
            Sender::Requester
        } else if self.entries.lists(t.number, from) {
            Sender::Sharer
        } else {
            Sender::Other
        };
        let (actions, next) = match self.table.home_cell(head.state, event, sender) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => return Err(impossible(from, because::WAITS)),
            ControllerCell::Impossible(why) => return Err(impossible(from, why)),
        };
        let first = self.observed();
        let does = ObservedController::Home(event, sender, actions);
        self.observe(t, (t.home, Some(message)), does, (head.state, next));
        if matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade) {
            t.asker = from;
        }
        self.entries.set_state(t.number, next);
        let mut due = 0;
        for &action in actions {
            self.home_action(t, (action, message), &mut due)?;
        }
        if self.table.home.rests(next) {
            t.asker = NO_NODE;
        }
        self.observe_entry(t.number, first);
        Ok(())
    }

    /// Does an action of the home's controller. `due` counts those that will acknowledge.
    fn home_action(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        (action, message): (HomeAction, &SentMessage),
        due: &mut i32,
    ) -> Result<(), CheckError> {
        let (home, number) = (t.home, t.number);
        let owner = self.entries.head(number).owner;
        let known = |node: u16| {
            if node == NO_NODE { Err(impossible(message.from, because::NOBODY)) } else { Ok(node) }
        };
        match action {
            HomeAction::TakeData => {
                if let (Some(shadow), Some(at)) = (&mut self.caches.shadow, message.frame) {
                    shadow.update_memory(at, number);
                }
            }
            HomeAction::Own => self.entries.own(number, t.asker),
            HomeAction::Disown => self.entries.disown(number),
            HomeAction::ListOwner => {
                self.entries.list(number, known(owner)?);
                self.entries.disown(number);
            }
            HomeAction::ListRequester => self.entries.list(number, known(t.asker)?),
            HomeAction::Reply(message) => {
                let (to, due) = (known(t.asker)?, *due);
                self.post(t, SentMessage { message, from: home, to, due, frame: None });
            }
            HomeAction::Forward(message) => {
                let to = known(owner)?;
                self.post(t, SentMessage { message, from: home, to, due: 0, frame: None });
            }
            HomeAction::Invalidate => *due = self.invalidate(t, known(t.asker)?)?,
        }
        Ok(())
    }

    /// Tells all that may have a copy; returns how many will acknowledge it.
    fn invalidate(
        &mut self,
        t: &mut DirectoryTransaction<W, WORDS>,
        requester: u16,
    ) -> Result<i32, CheckError> {
        let mut due = 0;
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        told.extend(self.entries.told(t.number).filter(|&node| node != requester));
        for &to in &told {
            if to == t.home {
                self.at_cache(t, (to, CacheEvent::Invalidate), None)?;
            } else {
                due += 1;
                let (message, from) = (Message::Invalidate, t.home);
                self.post(t, SentMessage { message, from, to, due: 0, frame: None });
            }
        }
        self.told = told;
        Ok(due)
    }

    /// Sends a message, and counts it if it goes from one node to another.
    fn post(&mut self, t: &DirectoryTransaction<W, WORDS>, sent: SentMessage) {
        self.sent.add_if(sent.message, t.way(&sent) == MessageWay::Network);
        self.queue.send(sent);
    }
}
