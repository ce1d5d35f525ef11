//! The two controllers of the model, by the table.

use homenode_protocol::Labelled;

use super::model::{Chance, ListHappened, ListModel, ListScene, plain};
use super::pointer::{Pointer, REQUEST};
use super::situation::{Asked, Chain, ListHome, ListNode, ListedMessage, no_data, stale};
use crate::cell::{AnySender, CopyRole};
use crate::finding::{Data, DirectoryFindingKind as Kind, HOME, Promised, broken, number};
use crate::linked::vocabulary::{
    CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListMessage, ListSender,
};

/// An event at a node's controller.
#[derive(Clone, Copy)]
struct CopyStep {
    node: usize,
    event: CopyEvent,
    /// The next state.
    after: u8,
}

impl ListModel<'_> {
    /// A message arrives. Returns false if it has to wait.
    pub(super) fn deliver(
        &mut self,
        scene: &mut ListScene,
        message: &ListedMessage,
    ) -> ListHappened {
        let kind = ListMessage::ALL[usize::from(message.message)];
        if message.to == HOME {
            return match kind.event_at_home() {
                Some(event) => self.home(scene, event, message),
                None => no_recipient(&format!("{} at home", kind.name())),
            };
        }
        let at = usize::from(message.to);
        let node = &scene.next.nodes[at];
        match kind.event_at_copy(self.matter(node, message)) {
            Some(event) => self.copy(scene, at, event, message),
            None => no_recipient(&format!("{} at node {at}", kind.name())),
        }
    }

    /// An event at a node's controller. Returns false if it has to wait.
    pub(super) fn copy(
        &mut self,
        scene: &mut ListScene,
        node: usize,
        event: CopyEvent,
        message: &ListedMessage,
    ) -> ListHappened {
        let before = scene.next.nodes[node].state;
        let (table, seen) = (self.table, (event, AnySender::Any));
        let what = || format!("{} at node {node}", event.name());
        let Some((actions, state)) = self.coverage.copy.follow(before, seen, what)? else {
            return Ok(false);
        };
        if scene.chance == Chance::NoFrame {
            let at = CopyStep { node, event, after: state };
            return self.copy_action(scene, at, CopyAction::AskFor, message);
        }
        let found = &mut scene.next.nodes[node];
        if event == CopyEvent::Load {
            found.asked = Asked::Load;
        } else if event == CopyEvent::Store {
            found.asked = Asked::Store;
        }
        if message.data != Data::None {
            found.data = message.data;
        }
        if matches!(event, CopyEvent::Data | CopyEvent::DataToHandOn) {
            found.behind = message.about;
        }
        if event == CopyEvent::DataToHandOn {
            found.chain.clients = message.further;
            found.chain.ahead = message.relayed && !self.variant.fair;
        }
        for &action in actions {
            self.copy_action(scene, CopyStep { node, event, after: state }, action, message)?;
        }
        let found = &mut scene.next.nodes[node];
        found.state = state;
        let replaced = state == 0 || table.is_leaving(state);
        if matches!(event, CopyEvent::Replace | CopyEvent::ReplaceAhead) {
            if !replaced {
                return broken(
                    Kind::NotReplaced,
                    format!("the copy of node {node} is still there"),
                );
            }
            // The frame has another block now: only what is written back is still there.
            if !actions.contains(&CopyAction::SendHome(ListMessage::WriteBack)) {
                found.data = Data::None;
            }
        }
        if state == 0 {
            (found.copy, found.behind, found.data) = (None, None, Data::None);
        }
        let [before, after] = [before, state].map(|state| table.copy.name(state));
        scene.text.log(format_args!("node {node} {before} -> {after}. "));
        Ok(true)
    }

    fn copy_action(
        &mut self,
        scene: &mut ListScene,
        at: CopyStep,
        action: CopyAction,
        message: &ListedMessage,
    ) -> ListHappened {
        let CopyStep { node, event, after } = at;
        let this = number(node);
        let found = &mut scene.next.nodes[node];
        let requester = message.requester;
        let to_requester = |kind| plain(kind, requester.node, requester);
        let supplied = ListedMessage {
            relayed: message.relayed,
            ..plain(ListMessage::Data, self.receiver(message), requester)
        };
        let copy = found.copy.map(|tag| Pointer { node: this, tag });
        let data = found.data;
        let sent = match action {
            CopyAction::Complete => {
                self.complete(scene, node, event, after)?;
                None
            }
            CopyAction::Ask | CopyAction::AskAgain => {
                (found.request, found.reads) = (Some(REQUEST), true);
                let by = Pointer { node: this, tag: REQUEST };
                Some(if scene.chance == Chance::ByProxy {
                    plain(ListMessage::ProxyRead, number(self.variant.proxy_of(node)), by)
                } else {
                    plain(ListMessage::Read, HOME, by)
                })
            }
            CopyAction::SendHome(kind) => match Self::message_home(found, kind, this) {
                None => return no_data(node),
                sent => sent,
            },
            CopyAction::Supply if copy.is_none() => return no_data(node),
            CopyAction::Supply => Some(ListedMessage { about: copy, data, ..supplied }),
            CopyAction::SupplyLast => Some(ListedMessage { data, ..supplied }),
            CopyAction::HandOver => {
                Some(ListedMessage { data, ..to_requester(ListMessage::Exclusive) })
            }
            CopyAction::Acknowledge => Some(to_requester(ListMessage::Acknowledge)),
            CopyAction::AskFor => Some(plain(ListMessage::Read, HOME, requester)),
            CopyAction::AskToRelay => {
                let read = plain(ListMessage::Read, HOME, requester);
                Some(ListedMessage { relayed: true, ..read })
            }
            CopyAction::InvalidateBehind | CopyAction::PassOn => {
                Self::walk_on(found, action, event, this, requester)?
            }
            CopyAction::SupplyClient | CopyAction::HandOn => {
                Self::hand_on(found, action, this, requester)
            }
            CopyAction::Relay => Self::relay(found, message),
            CopyAction::Chain => self.chain(&mut found.chain, requester),
            CopyAction::KeepFollower => {
                found.chain.first = message.about;
                None
            }
        };
        let Some(mut sent) = sent else { return Ok(true) };
        if ListMessage::ALL[usize::from(sent.message)].carries_block() && sent.data == Data::None {
            return no_data(node);
        }
        // Of a walk, only the node that waits for its end matters.
        let walks = [ListMessage::Invalidate, ListMessage::Acknowledge];
        if walks.contains(&ListMessage::ALL[usize::from(sent.message)]) {
            sent.requester = Pointer::to_node(sent.requester.node);
        }
        self.send(scene, sent).map(|()| true)
    }

    /// A message of a node to the home: a request, or one about its copy, if it has one.
    fn message_home(found: &mut ListNode, kind: ListMessage, this: u8) -> Option<ListedMessage> {
        let about = found.copy.map(|tag| Pointer { node: this, tag });
        if matches!(kind, ListMessage::Write | ListMessage::Upgrade) {
            (found.request, found.reads) = (Some(REQUEST), false);
            let about = if kind == ListMessage::Upgrade { about } else { None };
            let by = Pointer { node: this, tag: REQUEST };
            return Some(ListedMessage { about, ..plain(kind, HOME, by) });
        }
        let data = if kind.carries_block() { found.data } else { Data::None };
        let by = Pointer::to_node(this);
        about.map(|about| ListedMessage { about: Some(about), data, ..plain(kind, HOME, by) })
    }

    /// Invalidates the copy behind this one, or acknowledges the end of the list.
    fn walk_on(
        found: &mut ListNode,
        action: CopyAction,
        event: CopyEvent,
        this: u8,
        requester: Pointer,
    ) -> Promised<Option<ListedMessage>> {
        let passes_on = action == CopyAction::PassOn;
        let for_whom = if passes_on { requester } else { Pointer::to_node(this) };
        match found.behind.take() {
            Some(behind) => {
                let about = Some(behind);
                let invalidate = plain(ListMessage::Invalidate, behind.node, for_whom);
                Ok(Some(ListedMessage { about, ..invalidate }))
            }
            None if passes_on => {
                Ok(Some(plain(ListMessage::Acknowledge, requester.node, requester)))
            }
            None => no_recipient(&format!("{} at node {this}", event.name())),
        }
    }

    /// Sends a copy to a client, or to the first of a chain of clients, which is inserted behind
    /// this node's copy, or is ahead of it.
    fn hand_on(
        found: &mut ListNode,
        action: CopyAction,
        this: u8,
        requester: Pointer,
    ) -> Option<ListedMessage> {
        let (client, further, ahead) = if action == CopyAction::SupplyClient {
            (requester, 0, false)
        } else {
            let Chain { first, clients, ahead, .. } = std::mem::take(&mut found.chain);
            (first?, clients.saturating_sub(1), ahead)
        };
        let own = found.copy.map(|tag| Pointer { node: this, tag });
        let about = if ahead { own } else { found.behind.replace(client) };
        let data = plain(ListMessage::Data, client.node, client);
        Some(ListedMessage { about, further, relayed: ahead, data: found.data, ..data })
    }

    /// Relays the data of a message to the first of a chain of clients.
    fn relay(found: &mut ListNode, message: &ListedMessage) -> Option<ListedMessage> {
        let Chain { first, clients, .. } = std::mem::take(&mut found.chain);
        let client = first?;
        let further = clients.saturating_sub(1);
        let data = plain(ListMessage::Data, client.node, client);
        let (about, relayed) = (message.about, true);
        Some(ListedMessage { about, further, relayed, data: message.data, ..data })
    }

    /// A client joins the chain; the message gives a client its successor.
    fn chain(&self, chain: &mut Chain, client: Pointer) -> Option<ListedMessage> {
        chain.clients += 1;
        let (target, follower) = if self.variant.fair {
            let last = chain.last.replace(client);
            chain.first = chain.first.or(Some(client));
            (last?, client)
        } else {
            (client, chain.first.replace(client)?)
        };
        let about = Some(follower);
        Some(ListedMessage { about, ..plain(ListMessage::Follower, target.node, target) })
    }

    /// A processor's operation takes place; the node's copy gets the tag of its request, if it made
    /// one.
    fn complete(
        &self,
        scene: &mut ListScene,
        node: usize,
        event: CopyEvent,
        after: u8,
    ) -> Promised<()> {
        let found = &mut scene.next.nodes[node];
        let asked = std::mem::take(&mut found.asked);
        if !event.is_of_processor() {
            found.copy = found.request.take();
            found.reads = false;
        }
        let stores = event == CopyEvent::Store
            || (event != CopyEvent::Load && self.table.role(after) == CopyRole::Writable);
        if asked == if stores { Asked::Load } else { Asked::Store } {
            let got = format!("node {node} has received what it requested");
            return broken(Kind::NotDone, format!("{got}, but not for the operation that waits"));
        }
        match found.data {
            Data::None => return no_data(node),
            Data::Old => return stale(node),
            Data::Latest => {}
        }
        if stores {
            scene.next.write(node);
        }
        Ok(())
    }

    /// An event at the home's controller. Returns false if it has to wait.
    fn home(
        &mut self,
        scene: &mut ListScene,
        event: ListHomeEvent,
        message: &ListedMessage,
    ) -> ListHappened {
        let ListHome { state: before, head, owner, .. } = scene.next.home;
        let pointer = match event {
            ListHomeEvent::Read | ListHomeEvent::Write => Some(message.requester),
            ListHomeEvent::Upgrade | ListHomeEvent::SharingWriteBack | ListHomeEvent::WriteBack => {
                message.about
            }
        };
        let sender = if pointer.is_some() && pointer == owner {
            ListSender::Owner
        } else if pointer.is_some() && pointer == head {
            ListSender::Head
        } else {
            ListSender::Other
        };
        let what = || format!("{} by {} at home", event.name(), sender.name());
        let Some((actions, state)) = self.coverage.home.follow(before, (event, sender), what)?
        else {
            return Ok(false);
        };
        scene.next.home.state = state;
        let [before, after] = [before, state].map(|state| self.table.home.name(state));
        scene.text.log(format_args!("home {before} -> {after}. "));
        for &action in actions {
            if self.home_action(scene, action, message)?.is_none() {
                return no_recipient(&format!("{} in state {before}", what()));
            }
        }
        Ok(true)
    }

    /// Performs an action of the home's controller. Returns nothing if it lacks a node to act on.
    fn home_action(
        &mut self,
        scene: &mut ListScene,
        action: ListHomeAction,
        message: &ListedMessage,
    ) -> Promised<Option<()>> {
        let home = &mut scene.next.home;
        let ListHome { head, owner, memory: data, .. } = *home;
        let requester = message.requester;
        let to_requester = |kind| plain(kind, requester.node, requester);
        let exclusive = to_requester(ListMessage::Exclusive);
        let sent = match (action, owner, head) {
            (ListHomeAction::ReplyData, ..) => {
                let receiver = self.receiver(message);
                let relayed = message.relayed;
                let reply = plain(ListMessage::Data, receiver, requester);
                ListedMessage { about: head, relayed, data, ..reply }
            }
            (ListHomeAction::ReplyExclusive, ..) => ListedMessage { data, ..exclusive },
            (ListHomeAction::ReplyExclusiveDue, ..) => {
                ListedMessage { due: true, data, ..exclusive }
            }
            (ListHomeAction::Reply(kind), ..) => to_requester(kind),
            (ListHomeAction::Forward(kind), Some(owner), _) => {
                let relayed = message.relayed;
                ListedMessage { relayed, ..plain(kind, owner.node, requester) }
            }
            (ListHomeAction::InvalidateHead, _, Some(head)) => {
                let for_whom = Pointer::to_node(requester.node);
                let invalidate = plain(ListMessage::Invalidate, head.node, for_whom);
                ListedMessage { about: Some(head), ..invalidate }
            }
            (ListHomeAction::Forward(_), None, _) | (ListHomeAction::InvalidateHead, _, None) => {
                return Ok(None);
            }
            (ListHomeAction::PutAtHead, ..) => {
                home.head = Some(requester);
                return Ok(Some(()));
            }
            (ListHomeAction::OwnByHead, ..) => {
                home.owner = head;
                return Ok(Some(()));
            }
            (ListHomeAction::TakeData, ..) => {
                (home.memory, home.owner) = (message.data, None);
                return Ok(Some(()));
            }
            (ListHomeAction::Clear, ..) => {
                home.head = None;
                return Ok(Some(()));
            }
        };
        self.send(scene, sent).map(Some)
    }
}

fn no_recipient<T>(what: &str) -> Promised<T> {
    broken(Kind::NoRecipient, format!("{what}: it has no recipient"))
}
