//! Counts. The names of the fields are a public contract (`docs/directory.md`).

use std::marker::PhantomData;

use homenode_cache::MissCounts;
use homenode_protocol::Labelled;
use rustc_hash::FxHashSet;
use serde::{Serialize, Serializer};

use crate::dash::Message;

/// Messages of a protocol that keeps blocks coherent with a directory.
pub type MessageCounts = SentMessages<Message, { Message::ALL.len() }>;

/// A message from one node to another, as it is counted. The names are a public contract
/// (`docs/directory.md`).
pub trait CountedMessage: Labelled {
    /// The name of its kind.
    fn kind(self) -> &'static str;
}

/// Messages between different nodes, of `TYPES` types. Serialised as a field for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessages<M, const TYPES: usize> {
    sent: [u64; TYPES],
    of: PhantomData<M>,
}

impl<M, const TYPES: usize> Default for SentMessages<M, TYPES> {
    fn default() -> Self {
        Self { sent: [0; TYPES], of: PhantomData }
    }
}

impl<M: CountedMessage, const TYPES: usize> SentMessages<M, TYPES> {
    /// Counts a message if it crosses the network.
    pub(crate) fn add_if(&mut self, message: M, crosses: bool) {
        self.sent[usize::from(message.index())] += u64::from(crosses);
    }

    /// Messages of one type.
    #[must_use]
    pub fn of_type(&self, message: M) -> u64 {
        self.sent[usize::from(message.index())]
    }

    /// The kinds, in the order of the fields.
    #[must_use]
    pub fn kinds() -> Vec<&'static str> {
        let mut kinds: Vec<_> = M::ALL.iter().map(|message| message.kind()).collect();
        let mut known = FxHashSet::default();
        kinds.retain(|&kind| known.insert(kind));
        kinds
    }

    /// Messages of one kind.
    #[must_use]
    pub fn of_kind(&self, kind: &str) -> u64 {
        let of = M::ALL.iter().filter(|message| message.kind() == kind);
        of.map(|&message| self.of_type(message)).sum()
    }

    /// All messages.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sent.iter().sum()
    }

    /// Bytes of all messages: a header each, and the block where one is carried.
    pub(crate) fn bytes(&self, header: u64, block: u64, carries_block: fn(M) -> bool) -> u64 {
        let data = |message| if carries_block(message) { block } else { 0 };
        M::ALL.iter().map(|&message| self.of_type(message) * (header + data(message))).sum()
    }
}

impl<M: CountedMessage, const TYPES: usize> Serialize for SentMessages<M, TYPES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Self::kinds().into_iter().map(|kind| (kind, self.of_kind(kind))))
    }
}

/// The counts of one configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryCounts {
    /// Data references in the trace.
    pub references: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// References to blocks without a valid copy, by cause. A reference that straddles blocks
    /// counts for each.
    pub misses: MissCounts,
    /// Writes to blocks with a copy that others might share.
    pub upgrades: u64,
    /// Blocks filled into a cache: one for each miss.
    pub fills: u64,
    /// Fills whose home is the node that missed.
    pub local_fills: u64,
    /// Replaced dirty blocks.
    pub write_backs: u64,
    /// Write-backs whose home is the node that replaced the block.
    pub local_write_backs: u64,
    /// Messages between different nodes, of protocols that keep blocks coherent.
    #[serde(skip)]
    pub messages: MessageCounts,
    /// Bytes in them.
    pub message_bytes: u64,
    /// Moves of pages to another home.
    pub pages_moved: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_header_and_the_block_where_one_is_carried() {
        let mut sent = MessageCounts::default();
        sent.add_if(Message::Data, false);
        for message in [Message::Read, Message::Data, Message::Permission] {
            sent.add_if(message, true);
        }
        let by_kind = ["request", "reply"].map(|kind| sent.of_kind(kind));
        assert_eq!((by_kind, sent.bytes(8, 64, Message::carries_block)), ([1, 2], 3 * 8 + 64));
    }
}
