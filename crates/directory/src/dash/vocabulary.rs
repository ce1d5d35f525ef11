//! The vocabulary of directory protocols for blocks: messages, and events and actions of the
//! controllers of a cache and of a home.

use homenode_protocol::labelled;
use serde::Serialize;

use crate::counts::CountedMessage;

labelled! {
    /// A message from one node to another.
    pub enum Message {
        Read = "read": "requests a copy from home",
        Write = "write": "requests the only copy from home",
        Upgrade = "upgrade": "requests that home make the sender's copy the only one",
        Data = "data": "brings a copy that others may have as well",
        Exclusive = "exclusive": "brings the only copy, and says how many will acknowledge",
        Permission = "permission": "makes a copy the only one, and says the same",
        ForwardRead = "forwarded read": "from home: the owner sends a copy",
        ForwardWrite = "forwarded write": "from home: the owner sends the only copy",
        Invalidate = "invalidate": "the requester is about to write: the copy has to go",
        Acknowledge = "acknowledge": "confirms to the requester that the copy is invalidated",
        SharingWriteBack = "sharing write-back": "the owner updates memory, and keeps a copy",
        OwnershipTransfer = "ownership transfer": "reports to home which node has the only copy",
        WriteBack = "write-back": "a replaced copy's data go to memory",
        Refuse = "refuse": "reports to home that the owner cannot supply the block now",
    }
}

impl Message {
    /// Its event at the controller of a home, if it goes to a home.
    #[must_use]
    pub const fn event_at_home(self) -> Option<HomeEvent> {
        Some(match self {
            Self::Read => HomeEvent::Read,
            Self::Write => HomeEvent::Write,
            Self::Upgrade => HomeEvent::Upgrade,
            Self::SharingWriteBack => HomeEvent::SharingWriteBack,
            Self::OwnershipTransfer => HomeEvent::OwnershipTransfer,
            Self::WriteBack => HomeEvent::WriteBack,
            Self::Refuse => HomeEvent::Refuse,
            Self::Data
            | Self::Exclusive
            | Self::Permission
            | Self::ForwardRead
            | Self::ForwardWrite
            | Self::Invalidate
            | Self::Acknowledge => return None,
        })
    }

    /// What the controller of a cache sees when it comes, if it goes to a cache: `due` says how
    /// many acknowledgements are due then ([`Self::acknowledgements`]), `writable` whether the
    /// reply has come before.
    #[must_use]
    pub const fn event_at_cache(self, due: i32, writable: bool) -> Option<CacheEvent> {
        Some(match self {
            Self::Data => CacheEvent::Data,
            Self::Exclusive if due > 0 => CacheEvent::ExclusiveDue,
            Self::Exclusive => CacheEvent::Exclusive,
            Self::Permission if due > 0 => CacheEvent::PermissionDue,
            Self::Permission => CacheEvent::Permission,
            Self::Acknowledge if due == 0 && writable => CacheEvent::LastAcknowledge,
            Self::Acknowledge => CacheEvent::Acknowledge,
            Self::Invalidate => CacheEvent::Invalidate,
            Self::ForwardRead => CacheEvent::ForwardRead,
            Self::ForwardWrite => CacheEvent::ForwardWrite,
            Self::Read
            | Self::Write
            | Self::Upgrade
            | Self::SharingWriteBack
            | Self::OwnershipTransfer
            | Self::WriteBack
            | Self::Refuse => return None,
        })
    }

    /// The change of the number of acknowledgements due at a cache, if it announces `announced`.
    #[must_use]
    pub const fn acknowledgements(self, announced: i32) -> i32 {
        if matches!(self, Self::Exclusive | Self::Permission) {
            announced
        } else if matches!(self, Self::Acknowledge) {
            -1
        } else {
            0
        }
    }

    /// Whether it carries the block.
    #[must_use]
    pub const fn carries_block(self) -> bool {
        matches!(self, Self::Data | Self::Exclusive | Self::SharingWriteBack | Self::WriteBack)
    }
}

impl CountedMessage for Message {
    fn kind(self) -> &'static str {
        match self {
            Self::Read | Self::Write | Self::Upgrade => "request",
            Self::Data | Self::Exclusive | Self::Permission => "reply",
            Self::ForwardRead | Self::ForwardWrite => "forward",
            Self::Invalidate => "invalidate",
            Self::Acknowledge => "ack",
            Self::SharingWriteBack => "sharing_write_back",
            Self::OwnershipTransfer => "ownership_transfer",
            Self::WriteBack => "write_back",
            Self::Refuse => "refuse",
        }
    }
}

labelled! {
    /// What a cache's controller sees: its processor, or a message.
    pub enum CacheEvent {
        Load = "load": "the processor reads",
        Store = "store": "the processor writes",
        Replace = "replace": "the frame is needed for another block",
        Data = "data": "a copy comes",
        Exclusive = "exclusive": "the only copy comes, nothing is to be acknowledged any more",
        ExclusiveDue = "exclusive, acks due": "the only copy comes before all acknowledgements",
        Permission = "permission": "the copy is the only one, all have acknowledged",
        PermissionDue = "permission, acks due": "the copy will be the only one",
        Acknowledge = "acknowledge": "another copy is gone, acknowledgements or the reply are due",
        LastAcknowledge = "last acknowledge": "all other copies are gone",
        Invalidate = "invalidate": "the copy has to go",
        ForwardRead = "forwarded read": "another node requests a copy",
        ForwardWrite = "forwarded write": "another node requests the only copy",
    }
}

impl CacheEvent {
    /// Whether it is an operation of the cache's own processor, or a replacement for one.
    #[must_use]
    pub const fn is_of_processor(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Replace)
    }
}

labelled! {
    /// What the controller of a block's home sees: a message.
    pub enum HomeEvent {
        Read = "read": "a node requests a copy",
        Write = "write": "a node requests the only copy",
        Upgrade = "upgrade": "a node requests that its copy become the only one",
        SharingWriteBack = "sharing write-back": "the owner has supplied a copy",
        OwnershipTransfer = "ownership transfer": "the owner has handed the block on",
        WriteBack = "write-back": "an owner has replaced the block",
        Refuse = "refuse": "the owner cannot supply the block",
    }
}

labelled! {
    /// Who sent what the home's controller sees, as far as it matters.
    pub enum Sender {
        Owner = "owner": "the node that the directory has as the owner",
        Requester = "requester": "the node for which a transaction is under way",
        Sharer = "sharer": "a node that the directory lists",
        Other = "other": "any other node",
    }
}

/// The receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipient {
    /// The home of the block.
    Home,
    /// The node that requested the block.
    Requester,
}

/// An action of a cache's controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAction {
    /// Sends a message.
    Send(Message, Recipient),
    /// The processor's operation takes place.
    Complete,
}

/// An action of the home's controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeAction {
    /// Answers the requester.
    Reply(Message),
    /// Forwards the request to the owner.
    Forward(Message),
    /// Invalidates the copy of every listed node except the requester; each acknowledges to the
    /// requester, and a copy at the home node is invalidated at once.
    Invalidate,
    /// Memory stores the data.
    TakeData,
    /// Lists the requester.
    ListRequester,
    /// Lists the owner, which owns the block no longer.
    ListOwner,
    /// The requester owns the block; the list is cleared.
    Own,
    /// The block has no owner any more.
    Disown,
}
