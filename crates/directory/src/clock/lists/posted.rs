//! Messages under way, and how many there were.

use homenode_protocol::{Labelled, labels};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::list_vocabulary::{ListMessage, ListMessageKind};

/// A copy, or one that is on its way: the node that has it, and the request that brings it. The
/// proxy cache of a node, if it has one, counts as a node of its own, with a number after those of
/// all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::clock) struct ListPointer {
    pub(super) node: u16,
    pub(super) tag: u32,
}

impl ListPointer {
    /// As one word, which is 0 for none.
    #[inline]
    pub(super) fn pack(pointer: Option<Self>) -> u64 {
        pointer.map_or(0, |it| (u64::from(it.node) + 1) << 32 | u64::from(it.tag))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the fields of a word")]
    pub(super) fn unpack(word: u64) -> Option<Self> {
        (word != 0).then(|| Self { node: ((word >> 32) - 1) as u16, tag: word as u32 })
    }
}

/// A message about a block.
#[derive(Clone, Copy, Debug)]
pub(in crate::clock) struct ListPost {
    pub(super) message: ListMessage,
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) block: u64,
    /// The block's number.
    pub(super) number: u32,
    /// Whose copy is asked for, or who is to be told that others are gone.
    pub(super) requester: ListPointer,
    /// Data: the copy behind. An upgrade, a write-back and their like: the sender's copy. An
    /// invalidation: the copy that is meant. To a follower: the client behind.
    pub(super) about: Option<ListPointer>,
    /// Data: clients to whom they are to be handed on. The only copy: 1 if others have to go. A
    /// read that comes back: 1 if it had gone to a proxy.
    pub(super) more: u16,
    /// Whether the data come, or are to come, by the requester's proxy, which keeps no copy.
    pub(super) relayed: bool,
}

/// A message that carries a block: what it says, from whom to whom, and the block's number.
pub(super) type CarriedCopy = (ListMessage, u16, u16, u32);

impl ListPost {
    /// What tells its values from others under way.
    pub(super) fn carried(&self) -> CarriedCopy {
        (self.message, self.from, self.to, self.number)
    }
}

/// Messages between different nodes, by what they say; and how reads went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    sent: [u64; ListMessage::ALL.len()],
    /// Reads that came back from full buffers and were sent again.
    pub retried: u64,
    /// Clients whose read joined one that a proxy had under way.
    pub combined: u64,
}

impl ListCounts {
    /// Counts one.
    #[inline]
    pub(super) fn add(&mut self, message: ListMessage) {
        self.sent[usize::from(message.index())] += 1;
    }

    /// Those that say this.
    #[must_use]
    pub fn get(&self, message: ListMessage) -> u64 {
        self.sent[usize::from(message.index())]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sent.iter().sum()
    }

    /// Bytes of all: a header each, and the block in those that carry one.
    pub(super) fn bytes(&self, header_bytes: u64, block_bytes: u64) -> u64 {
        let of = |(&message, &sent): (&ListMessage, &u64)| {
            sent * (header_bytes + if message.carries_block() { block_bytes } else { 0 })
        };
        ListMessage::ALL.iter().zip(&self.sent).map(of).sum()
    }
}

/// By kind.
impl Serialize for ListCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kinds = labels::<ListMessageKind>();
        let mut map = serializer.serialize_map(Some(kinds.len()))?;
        for (&kind, label) in ListMessageKind::ALL.iter().zip(&kinds) {
            let of = ListMessage::ALL.iter().filter(|message| message.kind() == kind);
            map.serialize_entry(label.name, &of.map(|&message| self.get(message)).sum::<u64>())?;
        }
        map.end()
    }
}
