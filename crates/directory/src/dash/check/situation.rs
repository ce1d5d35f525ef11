//! The state of the model: the controllers, and the messages in flight.

use crate::dash::vocabulary::Message;
use crate::finding::{Data, NODES_MAX};

/// Largest number of messages in flight; a protocol that exceeds it floods the network.
pub(super) const MESSAGES_MAX: usize = 4 * NODES_MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CheckedCache {
    pub(super) state: u8,
    pub(super) data: Data,
    /// Acknowledgements due; negative if some arrived before their number was known.
    pub(super) due: i8,
    /// Whether an operation of the processor is outstanding.
    pub(super) asked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CheckedMessage {
    /// Index of its kind.
    pub(super) message: u8,
    pub(super) from: u8,
    pub(super) to: u8,
    /// The node whose request it serves.
    pub(super) requester: u8,
    /// Number of acknowledgements that it announces.
    pub(super) due: i8,
    pub(super) data: Data,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CheckedHome {
    pub(super) state: u8,
    pub(super) owner: Option<u8>,
    /// The requester of the transaction in progress.
    pub(super) requester: Option<u8>,
    /// A bit for each node that is listed.
    pub(super) listed: u8,
    /// Whether more nodes have copies than can be listed.
    pub(super) overflow: bool,
    pub(super) memory: Data,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Situation {
    pub(super) caches: [CheckedCache; NODES_MAX],
    pub(super) home: CheckedHome,
    /// Sorted, so that the order of messages does not distinguish situations.
    pub(super) messages: Vec<CheckedMessage>,
}

impl Situation {
    pub(super) fn start() -> Self {
        let home = CheckedHome {
            state: 0,
            owner: None,
            requester: None,
            listed: 0,
            overflow: false,
            memory: Data::Latest,
        };
        Self { caches: [CheckedCache::default(); NODES_MAX], home, messages: Vec::new() }
    }

    pub(super) fn send(&mut self, message: CheckedMessage) {
        let at = self.messages.partition_point(|other| *other < message);
        self.messages.insert(at, message);
    }

    /// A node writes: all other data become old.
    pub(super) fn write(&mut self, node: usize) {
        self.caches.iter_mut().for_each(|cache| cache.data = cache.data.outdated());
        self.home.memory = self.home.memory.outdated();
        self.messages.iter_mut().for_each(|m| m.data = m.data.outdated());
        self.messages.sort_unstable();
        self.caches[node].data = Data::Latest;
    }

    /// Whether a write is in progress that not all nodes have seen.
    pub(super) fn is_writing(&self) -> bool {
        let invalidation =
            |m: &CheckedMessage| usize::from(m.message) == Message::Invalidate as usize;
        self.caches.iter().any(|cache| cache.due > 0) || self.messages.iter().any(invalidation)
    }
}
