//! The controller of a node's copies: its response to messages.

use homenode_cache::{BlockRef, CacheArrays, CacheFrame, ClockError, MissStatus, WordMask};

use super::ListMemory;
use super::leaving::LeavingBlock;
use super::posted::{ListPointer, ListPost};
use super::service::{Service, StoreAccess};
use crate::cell::{ControllerCell, CopyRole};
use crate::linked::vocabulary::{CopyAction, CopyEvent, CopyMatter, ListMessage};

/// Faults of a protocol or of this engine.
mod because {
    pub(super) const NO_FRAME: &str = "a node gets a copy and has no frame for it";
    pub(super) const NONE_BEHIND: &str = "a message is for the copy behind, and there is none";
}

/// Where a node stores the state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyPlace {
    /// In a frame of its second level.
    Frame(usize),
    /// Among the blocks that it has replaced or relays.
    Leaving(usize),
    None,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// Where a node has a block, and its state there.
    pub(super) fn place(&self, node: u16, block: u64) -> (CopyPlace, u8) {
        let leaving = &self.nodes[usize::from(node)].leaving;
        if let Some(at) = leaving.iter().position(|leaving| leaving.block == block) {
            return (CopyPlace::Leaving(at), leaving[at].state);
        }
        let frames = &self.caches.frames;
        let found = frames.find(frames.set_of(usize::from(node), block), block);
        found.map_or((CopyPlace::None, 0), |at| (CopyPlace::Frame(at), frames.all()[at].state))
    }

    /// The request that brought, or will bring, a node's copy.
    pub(super) fn tag(&self, node: u16, place: CopyPlace) -> u32 {
        match place {
            CopyPlace::Frame(at) => self.tags[at],
            CopyPlace::Leaving(at) => self.nodes[usize::from(node)].leaving[at].tag,
            CopyPlace::None => 0,
        }
    }

    pub(super) fn behind(&self, node: u16, place: CopyPlace) -> Option<ListPointer> {
        match place {
            CopyPlace::Frame(at) => ListPointer::unpack(self.behind[at]),
            CopyPlace::Leaving(at) => self.nodes[usize::from(node)].leaving[at].behind,
            CopyPlace::None => None,
        }
    }

    pub(super) fn set_behind(&mut self, node: u16, place: CopyPlace, behind: Option<ListPointer>) {
        match place {
            CopyPlace::Frame(at) => self.behind[at] = ListPointer::pack(behind),
            CopyPlace::Leaving(at) => self.nodes[usize::from(node)].leaving[at].behind = behind,
            CopyPlace::None => {}
        }
    }

    /// A message has arrived at a node that has, or had, a copy.
    pub(super) fn at_copy(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
    ) -> Result<(), ClockError> {
        let node = service.node;
        let (place, state) = self.place(node, post.block);
        let meant = post.about.map(|about| about.tag);
        let matter = CopyMatter {
            more: post.more > 0,
            behind: self.behind(node, place).is_some(),
            current: state != 0 && meant == Some(self.tag(node, place)),
            relays: state == 0 && self.proxies.relay(),
        };
        let Some(event) = post.message.event_at_copy(matter) else { return Ok(()) };
        let answers = event == CopyEvent::ProxyRead && self.answers_clients(state);
        self.price(service, event, place, answers);
        if event == CopyEvent::ProxyRead && !answers {
            self.own_client_waits(service, post);
        }
        if event == CopyEvent::ProxyReadToRelay {
            let (block, state, tag, behind) = (post.block, 0, 0, None);
            let relayed = LeavingBlock { block, state, tag, behind };
            self.nodes[usize::from(node)].leaving.push(relayed);
        }
        if event == CopyEvent::ProxyRead && state == 0 && !self.takes_frame(service, post)? {
            self.ask_for(service, post);
            return Ok(());
        }
        let (actions, next) = match self.table.copy.cell(state, event) {
            ControllerCell::Does(actions, next) => (actions, next),
            ControllerCell::Waits => {
                self.nodes[usize::from(node)].waiting.push(*post);
                return Ok(());
            }
            ControllerCell::Impossible(why) => {
                return Err(self.failed(service.requesters.now(), post.block, node, why));
            }
        };
        if event == CopyEvent::Invalidate {
            // Also if the node is writing the block, and its state does not change.
            self.forget_first_level(usize::from(node), post.block);
        }
        self.perform_actions(service, post, actions, next)?;
        self.observe_copy(node, post, event, actions, [state, next]);
        if next != state {
            self.changed(service, post.block)?;
        }
        Ok(())
    }

    /// Whether a proxy with a copy in this state answers its clients with that copy.
    fn answers_clients(&self, state: u8) -> bool {
        match self.table.copy.cell(state, CopyEvent::ProxyRead) {
            ControllerCell::Does(actions, _) => actions.contains(&CopyAction::SupplyClient),
            ControllerCell::Waits | ControllerCell::Impossible(_) => false,
        }
    }

    /// The time of an event at the controller, without the messages that it sends. `answers` says
    /// that a proxy read is answered with the node's own copy.
    fn price(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        event: CopyEvent,
        place: CopyPlace,
        answers: bool,
    ) {
        use CopyEvent as E;
        let access = match event {
            // Relayed data are not stored in a cache.
            E::Data if matches!(place, CopyPlace::Leaving(_)) => return,
            E::Data | E::DataToHandOn | E::Exclusive | E::ExclusiveDue => StoreAccess::Line,
            E::ForwardRead | E::ForwardWrite => StoreAccess::LookupAndLine,
            E::ProxyRead if answers => StoreAccess::LookupAndLine,
            E::Permission
            | E::PermissionDue
            | E::Acknowledge
            | E::Invalidate
            | E::StaleInvalidate
            | E::ProxyRead
            | E::ProxyReadToRelay => StoreAccess::Lookup,
            // These need no access of a cache.
            E::Load
            | E::Store
            | E::Replace
            | E::ReplaceAhead
            | E::Bounce
            | E::Follower
            | E::WrittenBack
            | E::WrittenBackLate => return,
        };
        self.use_second_level(service, access);
    }

    /// The controller performs the actions of its table for a message, or for its processor.
    pub(super) fn perform_actions(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
        actions: &'static [CopyAction],
        next: u8,
    ) -> Result<(), ClockError> {
        let node = service.node;
        let (place, state) = self.place(node, post.block);
        if let CopyPlace::Frame(at) = place {
            if post.message.carries_block() {
                self.values.arrive(&post.carried(), &mut self.caches.shadow, at);
            }
            if post.message == ListMessage::Data {
                self.behind[at] = ListPointer::pack(post.about);
                if post.more > 0 {
                    self.keep_clients(node, post);
                }
            }
        }
        // The processor continues before the controller sends messages.
        let ready = service.time;
        for &action in actions {
            if action != CopyAction::Complete {
                self.copy_action(service, action, post, place)?;
            }
        }
        self.change(node, place, post, [state, next], service.requesters.now())?;
        if actions.contains(&CopyAction::Complete) {
            self.complete(node, post.block, ready, service.requesters)?;
        }
        Ok(())
    }

    /// Performs an action of a copy's controller, other than the processor's own operation.
    fn copy_action(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        action: CopyAction,
        post: &ListPost,
        place: CopyPlace,
    ) -> Result<(), ClockError> {
        use CopyAction as A;
        match action {
            A::Complete => {}
            A::Ask => {
                let block = BlockRef { block: post.block, number: post.number };
                self.ask(service, block);
            }
            A::AskAgain => self.ask_again(service, post),
            A::AskFor => self.ask_for(service, post),
            A::AskToRelay => self.ask_to_relay(service, post),
            A::Chain => self.chain(service, post),
            A::KeepFollower => self.keep_follower(service.node, post),
            A::HandOn => self.hand_on(service, post),
            A::Relay => self.relay(service, post),
            A::SupplyClient => self.supply_client(service, post),
            A::SendHome(_)
            | A::Supply
            | A::SupplyLast
            | A::HandOver
            | A::InvalidateBehind
            | A::PassOn
            | A::Acknowledge => {
                let sent = self.message_of(action, post, service.node, place);
                let Some(sent) = sent else {
                    let (now, node) = (service.requesters.now(), service.node);
                    return Err(self.failed(now, post.block, node, because::NONE_BEHIND));
                };
                self.values_sent(&sent, place);
                self.send(service, sent);
            }
        }
        Ok(())
    }

    /// The message that an action sends; none if it has no recipient.
    fn message_of(
        &mut self,
        action: CopyAction,
        post: &ListPost,
        node: u16,
        place: CopyPlace,
    ) -> Option<ListPost> {
        use CopyAction as A;
        let own = ListPointer { node, tag: self.tag(node, place) };
        let behind = self.behind(node, place);
        let receiver = self.receiver(post);
        let message =
            |to: u16, message, about| ListPost { message, from: node, to, about, more: 0, ..*post };
        let answer = |kind, about| message(receiver, kind, about);
        let on = |behind: ListPointer| message(behind.node, ListMessage::Invalidate, Some(behind));
        if matches!(action, A::InvalidateBehind | A::PassOn) {
            self.set_behind(node, place, None);
        }
        Some(match (action, behind) {
            (A::SendHome(kind), _) => {
                let tag = self.request_tag(node, post.block);
                let home = self.home_of(post.number);
                let (requester, relayed) = (ListPointer { node, tag }, false);
                ListPost { requester, relayed, ..message(home, kind, Some(own)) }
            }
            (A::Supply, _) => answer(ListMessage::Data, Some(own)),
            (A::SupplyLast, _) => answer(ListMessage::Data, None),
            (A::HandOver, _) => answer(ListMessage::Exclusive, None),
            (A::InvalidateBehind, Some(behind)) => ListPost { requester: own, ..on(behind) },
            (A::PassOn, Some(behind)) => on(behind),
            (A::PassOn | A::Acknowledge, _) => answer(ListMessage::Acknowledge, None),
            _ => return None,
        })
    }

    /// The state of a block changes at a node.
    fn change(
        &mut self,
        node: u16,
        place: CopyPlace,
        post: &ListPost,
        [before, next]: [u8; 2],
        now: u64,
    ) -> Result<(), ClockError> {
        let at = match place {
            CopyPlace::Frame(at) => at,
            CopyPlace::Leaving(at) => {
                let leaving = &mut self.nodes[usize::from(node)].leaving;
                if next == 0 {
                    leaving.remove(at);
                } else {
                    leaving[at].state = next;
                }
                return Ok(());
            }
            CopyPlace::None if next == 0 => return Ok(()),
            CopyPlace::None => {
                return Err(self.failed(now, post.block, node, because::NO_FRAME));
            }
        };
        let holder = usize::from(node);
        let (had, has) = (self.table.has_copy(before), self.table.has_copy(next));
        if next == 0 {
            self.lose(holder, at, post);
            return Ok(());
        }
        self.set_state(at, next);
        if self.table.role(next) == CopyRole::Writable
            && self.table.role(before) != CopyRole::Writable
        {
            // The pointers to the old copy are gone with the list.
            self.tags[at] = self.request_tag(node, post.block);
            self.behind[at] = 0;
        }
        if has && !had {
            self.caches.holders.add_holder(post.number, holder);
        }
        Ok(())
    }

    /// Passes the writes of a block to nodes that lost it, for the classification of their misses.
    /// Skipped if nothing was written since the last time: a block may have copies on a thousand
    /// nodes, which are invalidated one by one.
    pub(super) fn tell_writes(&mut self, block: u64, number: u32) {
        if std::mem::take(&mut self.entries.of(number).written) {
            let record = self.caches.holders.get(number);
            self.caches.tell_writes(block, &record);
        }
    }

    /// Another processor's write, or a replacement ahead in the list, takes a copy away.
    fn lose(&mut self, holder: usize, at: usize, post: &ListPost) {
        // This copy has not missed the writes so far.
        self.tell_writes(post.block, post.number);
        self.caches.lose(post.block, holder, at, MissStatus::Invalidated);
        self.caches.holders.lose(post.number, holder);
        self.forget_first_level(holder, post.block);
        (self.tags[at], self.behind[at]) = (0, 0);
    }

    /// Sets the state of a frame. It gets no permissions if the page was unmapped meanwhile, or if
    /// values are checked at every reference.
    pub(super) fn set_state(&mut self, at: usize, state: u8) {
        let number = self.caches.frame(at).number;
        let mapped = self.pages.is_mapped_for_all(self.entries.of(number).page);
        let permissions = if mapped && !self.values.are_checked() {
            self.permissions[usize::from(state)]
        } else {
            0
        };
        self.caches.set_state(at, state, permissions);
    }

    /// A block is replaced in a node's second level; its state is kept until the controller is done
    /// with it.
    pub(super) fn leave(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        at: usize,
    ) -> Result<(), ClockError> {
        let (frame, node): (CacheFrame<W>, u16) = (*self.caches.frame(at), service.node);
        let (block, number) = (frame.block(), frame.number);
        let behind = ListPointer::unpack(self.behind[at]);
        let event = if behind.is_some() { CopyEvent::ReplaceAhead } else { CopyEvent::Replace };
        let ControllerCell::Does(actions, next) = self.table.copy.cell(frame.state, event) else {
            return Ok(());
        };
        let tag = self.tags[at];
        let post = ListPost::within(ListPointer { node, tag }, BlockRef { block, number });
        for &action in actions {
            if action == CopyAction::SendHome(ListMessage::WriteBack) {
                self.count_write_back(node, number);
                // The block is read for that.
                self.use_second_level(service, StoreAccess::Line);
            }
            self.copy_action(service, action, &post, CopyPlace::Frame(at))?;
        }
        if next != 0 {
            let behind = None;
            let leaving = LeavingBlock { block, state: next, tag, behind };
            self.nodes[usize::from(node)].leaving.push(leaving);
            self.values_leave(node, number, at);
        }
        self.observe_copy(node, &post, event, actions, [frame.state, next]);
        Ok(())
    }
}
