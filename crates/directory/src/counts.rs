//! Counts. The names of the fields are a public contract (`docs/directory.md`).

use homenode_cache::MissCounts;
use homenode_protocol::{Labelled, labelled};
use serde::Serialize;

labelled! {
    /// Kinds of messages as they are counted. The names are a public contract
    /// (`docs/directory.md`).
    pub enum MessageKind {
        Request = "request": "read, write and upgrade",
        Reply = "reply": "data, exclusive and permission",
        Forward = "forward": "forwarded read and write",
        Invalidate = "invalidate": "a copy has to go",
        Ack = "ack": "a copy is gone",
        SharingWriteBack = "sharing_write_back": "a dirty copy becomes a shared one",
        OwnershipTransfer = "ownership_transfer": "a dirty copy goes to another node",
        WriteBack = "write_back": "a dirty copy is replaced",
        Refuse = "refuse": "an owner cannot supply a block now",
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

/// Messages between different nodes, by kind ([`MessageKind`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageCounts {
    /// See [`MessageKind::Request`].
    pub request: u64,
    /// See [`MessageKind::Reply`].
    pub reply: u64,
    /// See [`MessageKind::Forward`].
    pub forward: u64,
    /// See [`MessageKind::Invalidate`].
    pub invalidate: u64,
    /// See [`MessageKind::Ack`].
    pub ack: u64,
    /// See [`MessageKind::SharingWriteBack`].
    pub sharing_write_back: u64,
    /// See [`MessageKind::OwnershipTransfer`].
    pub ownership_transfer: u64,
    /// See [`MessageKind::WriteBack`].
    pub write_back: u64,
    /// See [`MessageKind::Refuse`].
    pub refuse: u64,
}

impl MessageCounts {
    /// Messages of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        MessageKind::ALL.iter().map(|&kind| self.get(kind)).sum()
    }

    /// Messages of one kind.
    #[must_use]
    pub const fn get(&self, kind: MessageKind) -> u64 {
        match kind {
            MessageKind::Request => self.request,
            MessageKind::Reply => self.reply,
            MessageKind::Forward => self.forward,
            MessageKind::Invalidate => self.invalidate,
            MessageKind::Ack => self.ack,
            MessageKind::SharingWriteBack => self.sharing_write_back,
            MessageKind::OwnershipTransfer => self.ownership_transfer,
            MessageKind::WriteBack => self.write_back,
            MessageKind::Refuse => self.refuse,
        }
    }

    pub(crate) const fn of_kind(&mut self, kind: MessageKind) -> &mut u64 {
        match kind {
            MessageKind::Request => &mut self.request,
            MessageKind::Reply => &mut self.reply,
            MessageKind::Forward => &mut self.forward,
            MessageKind::Invalidate => &mut self.invalidate,
            MessageKind::Ack => &mut self.ack,
            MessageKind::SharingWriteBack => &mut self.sharing_write_back,
            MessageKind::OwnershipTransfer => &mut self.ownership_transfer,
            MessageKind::WriteBack => &mut self.write_back,
            MessageKind::Refuse => &mut self.refuse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_message_is_counted_under_its_name() {
        for &kind in MessageKind::ALL {
            let mut counts = MessageCounts::default();
            *counts.of_kind(kind) = 3;
            assert_eq!((counts.get(kind), counts.total()), (3, 3));
        }
    }
}
