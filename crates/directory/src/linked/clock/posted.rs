//! Messages, and their counts.

use homenode_cache::BlockRef;
use homenode_protocol::Labelled;
use serde::Serialize;

use crate::counts::SentMessages;
use crate::linked::vocabulary::ListMessage;

/// A copy, perhaps in transit: its node, and the request that fetches it. The proxy cache of a node
/// counts as a node of its own, with a number after those of all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPointer {
    pub(super) node: u16,
    pub(super) tag: u32,
}

impl ListPointer {
    /// As one word, which is 0 for none.
    pub(super) fn pack(pointer: Option<Self>) -> u64 {
        pointer.map_or(0, |it| (u64::from(it.node) + 1) << 32 | u64::from(it.tag))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the fields of a word")]
    pub(super) fn unpack(word: u64) -> Option<Self> {
        (word != 0).then(|| Self { node: ((word >> 32) - 1) as u16, tag: word as u32 })
    }
}

/// A message of the protocol about one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPost {
    pub(super) message: ListMessage,
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) block: u64,
    /// The block's number.
    pub(super) number: u32,
    /// The copy that is requested, or that waits for an acknowledgement.
    pub(super) requester: ListPointer,
    /// Data: the copy behind. Upgrade, write-back and the like: the sender's copy. Invalidation:
    /// its target. Follower: the next client.
    pub(super) about: Option<ListPointer>,
    /// Data: number of clients to hand them on to. Exclusive: 1 if other copies have to be
    /// invalidated. Bounce: 1 if the read had been sent to a proxy.
    pub(super) more: u16,
    /// Whether the data are relayed by the requester's proxy, which keeps no copy.
    pub(super) relayed: bool,
}

/// The identity of a message that carries a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CarriedCopy {
    pub(super) message: ListMessage,
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) number: u32,
}

impl ListPost {
    /// A read that a node addresses to itself, as which its processor's requests are handled.
    pub(super) fn within(requester: ListPointer, block: BlockRef) -> Self {
        let (message, from, to) = (ListMessage::Read, requester.node, requester.node);
        let BlockRef { block, number } = block;
        let (about, more, relayed) = (None, 0, false);
        Self { message, from, to, block, number, requester, about, more, relayed }
    }

    /// The identity under which its values are stored.
    pub(super) fn carried(&self) -> CarriedCopy {
        CarriedCopy { message: self.message, from: self.from, to: self.to, number: self.number }
    }
}

/// Messages between different nodes, and counts of reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListCounts {
    /// Messages, by kind.
    #[serde(flatten)]
    pub sent: SentMessages<ListMessage, { ListMessage::ALL.len() }>,
    /// Reads sent back by full buffers and sent again.
    #[serde(skip)]
    pub retried: u64,
    /// Client reads combined with an outstanding read of a proxy.
    #[serde(skip)]
    pub combined: u64,
}
