//! Everything that decides what may happen next: the controllers, and the messages under way.

use crate::vocabulary::Message;

/// Most nodes that are explored.
pub const NODES_MAX: usize = 4;

/// Messages under way at most; a protocol that needs more of one block floods the network.
pub(super) const MESSAGES_MAX: usize = 4 * NODES_MAX;

/// The block in a node's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CheckedCache {
    pub(super) state: u8,
    /// Whether there are data, and whether they are what was written last.
    pub(super) data: Data,
    /// Acknowledgements that are due, less those that came before that was known.
    pub(super) due: i8,
    /// Whether the processor waits for its operation to take place.
    pub(super) asked: bool,
}

/// Data, abstracted to whether they are what was written last: a protocol never looks at values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Data {
    /// None.
    #[default]
    None,
    /// Older than the last write.
    Old,
    /// What was written last.
    Latest,
}

impl Data {
    /// The same after another node's write.
    pub(super) fn outdated(self) -> Self {
        if self == Self::None { Self::None } else { Self::Old }
    }
}

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CheckedMessage {
    /// Its index among all kinds.
    pub(super) message: u8,
    pub(super) from: u8,
    pub(super) to: u8,
    /// The node on whose behalf it is sent.
    pub(super) requester: u8,
    /// Acknowledgements that it announces.
    pub(super) due: i8,
    pub(super) data: Data,
}

/// The home of the block, which is at node 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CheckedHome {
    pub(super) state: u8,
    pub(super) owner: Option<u8>,
    /// For whom a transaction is under way.
    pub(super) requester: Option<u8>,
    /// A bit for each node that is listed.
    pub(super) listed: u8,
    /// Whether there were more than can be listed.
    pub(super) overflow: bool,
    pub(super) memory: Data,
}

/// One block in some nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Situation {
    pub(super) caches: [CheckedCache; NODES_MAX],
    pub(super) home: CheckedHome,
    /// In order, so that situations that differ only in the order of messages are one.
    pub(super) messages: Vec<CheckedMessage>,
}

impl Situation {
    /// Nobody has a copy.
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

    /// A node writes: whatever others have is old now.
    pub(super) fn write(&mut self, node: usize) {
        self.caches.iter_mut().for_each(|cache| cache.data = cache.data.outdated());
        self.home.memory = self.home.memory.outdated();
        self.messages.iter_mut().for_each(|m| m.data = m.data.outdated());
        self.messages.sort_unstable();
        self.caches[node].data = Data::Latest;
    }

    /// Whether a write is under way that not all nodes have learned of.
    pub(super) fn is_writing(&self) -> bool {
        let invalidation =
            |m: &CheckedMessage| usize::from(m.message) == Message::Invalidate as usize;
        self.caches.iter().any(|cache| cache.due > 0) || self.messages.iter().any(invalidation)
    }
}
