//! The state of the model of a block with a list of copies: the nodes, the home, and the messages
//! in flight.

use std::hash::{Hash, Hasher};

use super::pointer::{Pointer, Tags};
use crate::finding::{
    Data, DirectoryFindingKind as Kind, HOME, NODES_MAX, Promised, SituationKey, broken, fields,
    renumbered,
};

/// Largest number of messages in flight; a protocol that exceeds it floods the network.
pub(super) const MESSAGES_MAX: usize = 4 * NODES_MAX;
/// The home, two numbers for each node, and the messages.
type ListKey = SituationKey<{ 1 + 2 * NODES_MAX + MESSAGES_MAX }>;

/// The clients to which a node hands the block on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) first: Option<Pointer>,
    /// The last client, if proxies know it.
    pub(super) last: Option<Pointer>,
    pub(super) clients: u8,
    /// Whether the next client is ahead of this copy in the list, not behind it.
    pub(super) ahead: bool,
}

/// An operation that has yet to take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    Nothing,
    Load,
    Store,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListNode {
    pub(super) state: u8,
    /// The request that fetched its copy.
    pub(super) copy: Option<u8>,
    /// The outstanding request.
    pub(super) request: Option<u8>,
    pub(super) reads: bool,
    pub(super) behind: Option<Pointer>,
    pub(super) chain: Chain,
    pub(super) data: Data,
    /// Which operation the processor waits for.
    pub(super) asked: Asked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListedMessage {
    /// Index of its kind.
    pub(super) message: u8,
    pub(super) to: u8,
    /// The node whose request it serves, and the request.
    pub(super) requester: Pointer,
    /// The copy that it is about: the one behind, the one to invalidate, the next client, or the
    /// sender's.
    pub(super) about: Option<Pointer>,
    /// Number of clients to hand the block on to.
    pub(super) further: u8,
    /// Whether other copies have to be invalidated first.
    pub(super) due: bool,
    /// Whether data are relayed by the requester's proxy, which keeps no copy.
    pub(super) relayed: bool,
    pub(super) data: Data,
    /// Whether it is in the receiver's buffer.
    pub(super) arrived: bool,
}

/// The home, which is not one of the nodes: a node at the home behaves like one whose reads never
/// bounce and use no proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListHome {
    pub(super) state: u8,
    pub(super) head: Option<Pointer>,
    pub(super) owner: Option<Pointer>,
    pub(super) memory: Data,
}

/// The symmetry of the nodes.
pub(super) struct Alike {
    /// All nodes from this one on are interchangeable, for any numbers of the others.
    pub(super) fixed: usize,
    /// All orders of the nodes that preserve their behaviour.
    pub(super) orders: Vec<Vec<usize>>,
}

/// One block in some nodes. Situations are equal if they differ only by a renumbering of
/// interchangeable nodes.
#[derive(Clone, Debug)]
pub(super) struct ListSituation {
    pub(super) nodes: [ListNode; NODES_MAX],
    pub(super) home: ListHome,
    pub(super) messages: Vec<ListedMessage>,
    key: ListKey,
}

impl PartialEq for ListSituation {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for ListSituation {}

impl Hash for ListSituation {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key.hash(hasher);
    }
}

impl ListSituation {
    /// No node has a copy.
    pub(super) fn start(alike: &Alike) -> Self {
        let home = ListHome { state: 0, head: None, owner: None, memory: Data::Latest };
        let mut start = Self {
            nodes: [ListNode::default(); NODES_MAX],
            home,
            messages: Vec::new(),
            key: ListKey::EMPTY,
        };
        start.settle(alike);
        start
    }

    pub(super) fn take(&mut self, message: &ListedMessage) {
        if let Some(at) = self.messages.iter().position(|other| other == message) {
            self.messages.remove(at);
        }
    }

    /// A node writes: all other data become old.
    pub(super) fn write(&mut self, node: usize) {
        self.nodes.iter_mut().for_each(|node| node.data = node.data.outdated());
        self.home.memory = self.home.memory.outdated();
        self.messages.iter_mut().for_each(|m| m.data = m.data.outdated());
        self.nodes[node].data = Data::Latest;
    }

    /// Renumbers requests, and sets the key by which situations are compared: the least description
    /// over all renumberings of nodes.
    pub(super) fn settle(&mut self, alike: &Alike) {
        self.number_requests();
        let codes = std::array::from_fn(|node| self.node_code(node));
        // Interchangeable nodes are sorted by their codes; only equal ones can change places.
        let sorted = |order: &&Vec<usize>| {
            order[alike.fixed..].windows(2).all(|pair| codes[pair[0]] <= codes[pair[1]])
        };
        let orders = alike.orders.iter().filter(sorted);
        let least = orders.map(|order| self.description(order, &codes)).min();
        self.key = least.unwrap_or(ListKey::EMPTY);
    }

    /// Renumbers requests: only equality of their numbers matters.
    fn number_requests(&mut self) {
        let mut tags = Tags::new(&mut self.nodes);
        tags.name_at_home(&mut self.home.owner);
        tags.name_at_home(&mut self.home.head);
        for message in &mut self.messages {
            message.requester = tags.named(message.requester);
            if message.to == HOME {
                tags.name_at_home(&mut message.about);
            } else {
                message.about = message.about.map(|about| tags.named(about));
            }
        }
        for node in &mut self.nodes {
            for pointer in [&mut node.behind, &mut node.chain.first, &mut node.chain.last] {
                *pointer = pointer.map(|pointer| tags.named(pointer));
            }
        }
    }

    fn description(&self, order: &[usize], codes: &[u32; NODES_MAX]) -> ListKey {
        let number = renumbered(order);
        let pointer = |pointer: Option<Pointer>| {
            (pointer.map_or(0, |it| it.code(number[usize::from(it.node)])), 6)
        };
        let home = &self.home;
        let (state, memory) = ((u32::from(home.state), 4), (home.memory as u32, 2));
        let mut key = ListKey::EMPTY;
        key.push(fields(&[state, memory, pointer(home.head), pointer(home.owner)]));
        for &at in order {
            let node = &self.nodes[at];
            let Chain { first, last, .. } = node.chain;
            key.push(codes[at]);
            key.push(fields(&[node.behind, first, last].map(pointer)));
        }
        key.extend_sorted(self.messages.iter().map(|m| {
            fields(&[
                (u32::from(m.message), 5),
                (u32::from(number[usize::from(m.to)]), 3),
                pointer(Some(m.requester)),
                pointer(m.about),
                (u32::from(m.further), 3),
                (u32::from(m.due), 1),
                (u32::from(m.relayed), 1),
                (u32::from(m.arrived), 1),
                (m.data as u32, 2),
            ])
        }));
        key
    }

    /// The state of a node, independent of the numbers of nodes.
    fn node_code(&self, at: usize) -> u32 {
        let node = &self.nodes[at];
        fields(&[
            (u32::from(node.state), 4),
            (u32::from(node.copy.is_some()), 1),
            (u32::from(node.request.is_some()), 1),
            (u32::from(node.reads), 1),
            (u32::from(node.chain.clients), 3),
            (u32::from(node.chain.ahead), 1),
            (node.data as u32, 2),
            (node.asked as u32, 2),
        ])
    }
}

pub(super) fn no_data<T>(node: usize) -> Promised<T> {
    broken(Kind::NoData, format!("node {node} is to use or send data and has none"))
}

pub(super) fn stale<T>(node: usize) -> Promised<T> {
    broken(Kind::StaleRead, format!("the copy of node {node} is old"))
}
