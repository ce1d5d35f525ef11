//! The controller of a block's home: its response to messages.

use homenode_cache::{CacheArrays, ClockError, WordMask};

use super::ListMemory;
use super::posted::{ListPointer, ListPost};
use super::service::{Service, StoreAccess};
use crate::cell::ControllerCell;
use crate::entries::NO_PAGE;
use crate::linked::vocabulary::{ListHomeAction, ListHomeEvent, ListMessage, ListSender};

/// Faults of a protocol.
mod because {
    pub(super) const NO_HEAD: &str = "a message is for the head of a list that is empty";
    pub(super) const NO_OWNER: &str = "a message is for an owner, and there is none";
}

/// The home's entry of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct HomeEntry {
    state: u8,
    /// The number of its page, or [`NO_PAGE`] before the first reference.
    pub(super) page: u32,
    /// Whether its reads use proxies under `basic`.
    pub(super) marked: bool,
    /// Whether it was written since writes were last passed to nodes that lost it.
    pub(super) written: bool,
    head: u64,
    /// The copy whose data memory lacks.
    owner: u64,
}

impl HomeEntry {
    /// The state of the home's controller, the head and the owner.
    pub(super) fn known(&self) -> (u8, Option<ListPointer>, Option<ListPointer>) {
        (self.state, ListPointer::unpack(self.head), ListPointer::unpack(self.owner))
    }
}

const NEW: HomeEntry =
    HomeEntry { state: 0, page: NO_PAGE, marked: false, written: false, head: 0, owner: 0 };

/// An entry for each block, by its number in the table of holders. It does not contain the home,
/// so that it stays the same when the page moves.
#[derive(Debug, Default)]
pub(super) struct HomeEntries(Vec<HomeEntry>);

impl HomeEntries {
    pub(super) fn of(&mut self, number: u32) -> &mut HomeEntry {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if at >= self.0.len() {
            self.0.resize((at + 1).next_power_of_two(), NEW);
        }
        &mut self.0[at]
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A message has arrived at a block's home, which handles it and those that waited for it.
    pub(super) fn at_home(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
    ) -> Result<(), ClockError> {
        let number = post.number;
        if !self.home_event(service, post)? {
            self.at_homes.entry(number).or_default().push_back(*post);
            return Ok(());
        }
        if self.at_homes.is_empty() {
            return Ok(());
        }
        let Some(mut waiting) = self.at_homes.remove(&number) else { return Ok(()) };
        while let Some(next) = waiting.front() {
            if !self.home_event(service, next)? {
                self.at_homes.insert(number, waiting);
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
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
    ) -> Result<bool, ClockError> {
        let Some(event) = post.message.event_at_home() else { return Ok(true) };
        let HomeEntry { state, head, owner, .. } = *self.entries.of(post.number);
        // The sender of a read or a write has no copy that the home could know.
        let known = if matches!(event, ListHomeEvent::Read | ListHomeEvent::Write) {
            None
        } else {
            post.about
        };
        let about = ListPointer::pack(known);
        let sender = match about {
            0 => ListSender::Other,
            _ if about == owner => ListSender::Owner,
            _ if about == head => ListSender::Head,
            _ => ListSender::Other,
        };
        let (actions, next) = match self.table.home.cell_by(state, event, sender) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => {
                self.use_memory(service, StoreAccess::Lookup);
                return Ok(false);
            }
            ControllerCell::Impossible(why) => {
                return Err(self.failed(service.requesters.now(), post.block, post.from, why));
            }
        };
        self.entries.of(post.number).state = next;
        let moves_line = |action: &ListHomeAction| {
            use ListHomeAction as A;
            matches!(action, A::ReplyData | A::ReplyExclusive | A::ReplyExclusiveDue | A::TakeData)
        };
        let line = actions.iter().any(moves_line);
        let access = if line { StoreAccess::LookupAndLine } else { StoreAccess::Lookup };
        self.use_memory(service, access);
        for &action in actions {
            self.home_action(service, action, post)?;
        }
        self.observe(service.node, post, false, |table| {
            table.home.used((event, sender), actions.iter().copied(), [state, next])
        });
        Ok(true)
    }

    fn home_action(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        action: ListHomeAction,
        post: &ListPost,
    ) -> Result<(), ClockError> {
        use ListHomeAction as A;
        let HomeEntry { head, owner, .. } = *self.entries.of(post.number);
        let (from, to, requester) = (service.node, self.receiver(post), post.requester);
        let reply = |message, about, more| ListPost { message, from, to, about, more, ..*post };
        match action {
            A::ReplyData => {
                let data = reply(ListMessage::Data, ListPointer::unpack(head), 0);
                self.send_from_memory(service, data);
            }
            A::ReplyExclusive | A::ReplyExclusiveDue => {
                let due = u16::from(action == A::ReplyExclusiveDue);
                let data = reply(ListMessage::Exclusive, None, due);
                self.send_from_memory(service, data);
            }
            A::Reply(message) => {
                let answer = ListPost { to: post.from, ..reply(message, post.about, 0) };
                self.send(service, answer);
            }
            A::Forward(message) => {
                let to = self.known(owner, post, because::NO_OWNER, service.requesters.now())?;
                let forward = ListPost { to: to.node, ..reply(message, Some(to), 0) };
                self.send(service, forward);
            }
            A::InvalidateHead => {
                let to = self.known(head, post, because::NO_HEAD, service.requesters.now())?;
                let invalidate =
                    ListPost { to: to.node, ..reply(ListMessage::Invalidate, Some(to), 0) };
                self.send(service, invalidate);
            }
            A::PutAtHead => self.entries.of(post.number).head = ListPointer::pack(Some(requester)),
            A::OwnByHead => self.entries.of(post.number).owner = head,
            A::TakeData => {
                self.entries.of(post.number).owner = 0;
                self.values.store::<W>(&post.carried(), &mut self.caches.shadow, post.number);
            }
            A::Clear => self.entries.of(post.number).head = 0,
        }
        Ok(())
    }

    fn known(
        &self,
        pointer: u64,
        post: &ListPost,
        why: &'static str,
        now: u64,
    ) -> Result<ListPointer, ClockError> {
        ListPointer::unpack(pointer).ok_or_else(|| self.failed(now, post.block, post.from, why))
    }

    /// The controller sends a block that is in memory.
    fn send_from_memory(&mut self, service: &mut Service<'_, '_, Self>, post: ListPost) {
        self.values.send_memory(post.carried(), &mut self.caches.shadow, post.number);
        self.send(service, post);
    }
}
