//! Invariants of a list, and those at rest.

use homenode_protocol::{Labelled, ProtocolModel};

use super::model::ListModel;
use super::pointer::Pointer;
use super::situation::{Asked, Chain, ListNode, ListSituation, ListedMessage, no_data, stale};
use crate::cell::CopyRole;
use crate::finding::{
    Data, DirectoryFindingKind as Kind, NODES_MAX, Promised, broken, lost, not_done, number,
    two_writers,
};
use crate::linked::vocabulary::ListMessage;

impl ListModel<'_> {
    /// Checks the invariants, and those at rest.
    pub(super) fn check(&self, situation: &ListSituation) -> Promised<()> {
        let nodes = || 0..self.nodes;
        let role = |node: usize| self.table.role(situation.nodes[node].state);
        for node in nodes().filter(|&node| role(node) != CopyRole::None) {
            match situation.nodes[node].data {
                Data::Latest => {}
                Data::Old => return stale(node),
                Data::None => return no_data(node),
            }
        }
        let comes = |node: usize| has_data_on_the_way(situation, node);
        let mut writers = nodes().filter(|&node| role(node) == CopyRole::Writable);
        if let Some(node) = writers.next() {
            if let Some(other) = writers.next() {
                return two_writers(node, other);
            }
            let has = |&other: &usize| role(other) != CopyRole::None || comes(other);
            if let Some(other) = nodes().filter(|&other| other != node).find(has) {
                let has = format!("node {other} has a copy, or one is on its way there");
                return broken(
                    Kind::NotAlone,
                    format!("node {node} may write the block, but {has}"),
                );
            }
        }
        if situation.home.owner.is_none() && situation.home.memory != Data::Latest {
            let message = "the block has no owner, but memory does not have the last write";
            return broken(Kind::StaleMemory, message);
        }
        let found = Reached::from_head(situation);
        for node in nodes() {
            let copy = role(node) != CopyRole::None && !found.copies[node];
            if copy || (comes(node) && !found.requests[node]) {
                let message = format!(
                    "node {node} has a copy, or one is on its way there, to which nothing leads \
                     from the head of the list: no write would take it away"
                );
                return broken(Kind::UnlistedCopy, message);
            }
        }
        let keeps = |&node: &usize| {
            let node = &situation.nodes[node];
            self.table.copy.rests(node.state) && node.chain != Chain::default()
        };
        if let Some(node) = nodes().find(keeps) {
            let waits = format!("node {node} waits for nothing");
            let kept = "has not handed the block on to its clients";
            return broken(Kind::NotDone, format!("{waits}, and {kept}"));
        }
        if self.is_at_rest(situation) { self.check_at_rest(situation) } else { Ok(()) }
    }

    fn check_at_rest(&self, situation: &ListSituation) -> Promised<()> {
        let nodes = &situation.nodes[..self.nodes];
        let latest = |node: &ListNode| node.data == Data::Latest;
        if situation.home.memory != Data::Latest && !nodes.iter().any(latest) {
            return lost();
        }
        let waits = |node: &ListNode| node.asked != Asked::Nothing || node.request.is_some();
        match nodes.iter().position(waits) {
            Some(node) => not_done(node),
            None => Ok(()),
        }
    }
}

fn is(message: &ListedMessage, kind: ListMessage) -> bool {
    message.message == kind.index()
}

/// Whether a copy is in flight to a node.
fn has_data_on_the_way(situation: &ListSituation, node: usize) -> bool {
    let mut messages = situation.messages.iter();
    // Relayed data count for the requester even on their way to the proxy.
    let for_node = |message: &ListedMessage| message.requester.node == number(node);
    messages.any(|message| is(message, ListMessage::Data) && for_node(message))
}

/// The copies and requests that a walk down the list, begun now, reaches eventually.
///
/// A walk goes from a copy to the one behind it. It waits for a copy in flight, which names the
/// copy behind it; for data requested from an owner; and at a node that has left the list,
/// for the end of the walk from there.
struct Reached<'a> {
    situation: &'a ListSituation,
    copies: [bool; NODES_MAX],
    requests: [bool; NODES_MAX],
}

impl<'a> Reached<'a> {
    fn from_head(situation: &'a ListSituation) -> Self {
        let mut found =
            Self { situation, copies: [false; NODES_MAX], requests: [false; NODES_MAX] };
        found.follow(situation.home.head);
        found
    }

    /// Follows a pointer. One to a former copy leads nowhere.
    fn follow(&mut self, pointer: Option<Pointer>) {
        let Some(Pointer { node, tag }) = pointer else { return };
        let at = usize::from(node);
        let Some(found) = self.situation.nodes.get(at) else { return };
        if found.copy == Some(tag) {
            self.copy(at);
        } else if found.request == Some(tag) {
            self.request(at);
        }
    }

    fn copy(&mut self, at: usize) {
        if std::mem::replace(&mut self.copies[at], true) {
            return;
        }
        let node = &self.situation.nodes[at];
        self.follow(node.behind);
        if node.request.is_none() {
            self.walk_for(at);
        }
    }

    fn request(&mut self, at: usize) {
        if std::mem::replace(&mut self.requests[at], true) {
            return;
        }
        self.walk_for(at);
        let situation = self.situation;
        for message in &situation.messages {
            let to = message.to == number(at);
            let by = message.requester.node == number(at);
            if by && is(message, ListMessage::Data) {
                self.follow(message.about);
            } else if to && is(message, ListMessage::Permission) {
                self.follow(situation.nodes[at].behind);
            } else if by && is_forward(message) {
                let owner = usize::from(message.to);
                self.copy(owner);
                self.request(owner);
            }
        }
        self.handed_on_to(at);
    }

    /// Relayed data arrive from the client behind the node, which has them or will. Other data
    /// arrive from the node ahead, and no pointer leads here before they are sent.
    fn handed_on_to(&mut self, at: usize) {
        let situation = self.situation;
        let is_this = |pointer: Option<Pointer>| pointer.is_some_and(|it| it.node == number(at));
        for (client, node) in situation.nodes.iter().enumerate() {
            let follows = |message: &ListedMessage| {
                let to_client = message.to == number(client);
                to_client && is(message, ListMessage::Follower) && is_this(message.about)
            };
            if is_this(node.chain.first) || situation.messages.iter().any(follows) {
                let own = |tag| Pointer { node: number(client), tag };
                self.follow(node.copy.or(node.request).map(own));
            }
        }
    }

    /// A walk whose end a node waits for.
    fn walk_for(&mut self, at: usize) {
        let situation = self.situation;
        for message in &situation.messages {
            if message.requester.node == number(at) && is(message, ListMessage::Invalidate) {
                self.follow(message.about);
            }
        }
    }
}

fn is_forward(message: &ListedMessage) -> bool {
    is(message, ListMessage::ForwardRead) || is(message, ListMessage::ForwardWrite)
}
