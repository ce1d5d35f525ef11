//! The vocabulary of linked-list protocols: messages, and events and actions of the controllers of
//! a copy and of a home.
//!
//! The home stores the *head* of a block's list, and each copy the one *behind* it. A pointer names
//! a node and the request that fetched its copy, so that an old pointer is not taken for a copy
//! fetched again after a replacement.
//!
//! A read may use a *proxy*, a node that sends one request to the home for all its *clients*. While
//! it waits, its clients form a chain, and it stores one end; the block is handed down the chain. A
//! proxy may *relay* reads: it sends the request of its first client to the home, hands on the
//! reply, and keeps no copy.

use homenode_protocol::labelled;

use crate::counts::CountedMessage;

labelled! {
    /// A message about a block from one node to another.
    pub enum ListMessage {
        Read = "read": "requests a copy from home",
        ProxyRead = "proxy read": "requests a copy from a proxy",
        Write = "write": "requests the only copy from home",
        Upgrade = "upgrade": "requests that home make the sender's copy the only one",
        Bounce = "bounce": "a read comes back from a node whose buffer is full",
        Data = "data": "brings a copy, and says who is behind it in the list",
        Exclusive = "exclusive": "brings the only copy, and says whether others have to go first",
        Permission = "permission": "the copy is the head of the list: those behind it have to go, \
            then it is the only one",
        ForwardRead = "forwarded read": "from home: the owner sends a copy",
        ForwardWrite = "forwarded write": "from home: the owner sends the only copy",
        Invalidate = "invalidate": "the copy has to go, and those behind it",
        Acknowledge = "acknowledge": "the last copy of the list is gone",
        Follower = "follower": "a proxy says to which client the block is to be handed on",
        SharingWriteBack = "sharing write-back": "the owner updates memory, and keeps a copy",
        WriteBack = "write-back": "a replaced copy's data go to memory",
        WrittenBack = "written back": "memory has the data",
        WrittenBackLate = "written back, forwarded": "home does not need the data: a request was \
            forwarded to the sender before",
    }
}

impl ListMessage {
    /// Its event at the controller of a home, if it goes to a home.
    #[must_use]
    pub const fn event_at_home(self) -> Option<ListHomeEvent> {
        Some(match self {
            Self::Read => ListHomeEvent::Read,
            Self::Write => ListHomeEvent::Write,
            Self::Upgrade => ListHomeEvent::Upgrade,
            Self::SharingWriteBack => ListHomeEvent::SharingWriteBack,
            Self::WriteBack => ListHomeEvent::WriteBack,
            Self::ProxyRead
            | Self::Bounce
            | Self::Data
            | Self::Exclusive
            | Self::Permission
            | Self::ForwardRead
            | Self::ForwardWrite
            | Self::Invalidate
            | Self::Acknowledge
            | Self::Follower
            | Self::WrittenBack
            | Self::WrittenBackLate => return None,
        })
    }

    /// Its event at the controller of a copy, if it goes to one.
    #[must_use]
    pub const fn event_at_copy(self, about: CopyMatter) -> Option<CopyEvent> {
        Some(match self {
            Self::ProxyRead if about.relays => CopyEvent::ProxyReadToRelay,
            Self::ProxyRead => CopyEvent::ProxyRead,
            Self::Bounce => CopyEvent::Bounce,
            Self::Data if about.more => CopyEvent::DataToHandOn,
            Self::Data => CopyEvent::Data,
            Self::Exclusive if about.more => CopyEvent::ExclusiveDue,
            Self::Exclusive => CopyEvent::Exclusive,
            Self::Permission if about.behind => CopyEvent::PermissionDue,
            Self::Permission => CopyEvent::Permission,
            Self::ForwardRead => CopyEvent::ForwardRead,
            Self::ForwardWrite => CopyEvent::ForwardWrite,
            Self::Invalidate if about.current => CopyEvent::Invalidate,
            Self::Invalidate => CopyEvent::StaleInvalidate,
            Self::Acknowledge => CopyEvent::Acknowledge,
            Self::Follower => CopyEvent::Follower,
            Self::WrittenBack => CopyEvent::WrittenBack,
            Self::WrittenBackLate => CopyEvent::WrittenBackLate,
            Self::Read | Self::Write | Self::Upgrade | Self::SharingWriteBack | Self::WriteBack => {
                return None;
            }
        })
    }

    /// Whether a node whose buffer is full sends it back.
    #[must_use]
    pub const fn may_bounce(self) -> bool {
        matches!(self, Self::Read | Self::ProxyRead)
    }

    /// Whether it carries the block.
    #[must_use]
    pub const fn carries_block(self) -> bool {
        matches!(self, Self::Data | Self::Exclusive | Self::SharingWriteBack | Self::WriteBack)
    }
}

impl CountedMessage for ListMessage {
    fn kind(self) -> &'static str {
        match self {
            Self::Read | Self::Write | Self::Upgrade => "request",
            Self::ProxyRead => "proxy_read",
            Self::Bounce => "bounce",
            Self::Data | Self::Exclusive | Self::Permission => "reply",
            Self::ForwardRead | Self::ForwardWrite => "forward",
            Self::Invalidate => "invalidate",
            Self::Acknowledge => "ack",
            Self::Follower => "follower",
            Self::SharingWriteBack => "sharing_write_back",
            Self::WriteBack => "write_back",
            Self::WrittenBack | Self::WrittenBackLate => "written_back",
        }
    }
}

/// The state on which the event of a message depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyMatter {
    /// Of data: whether they are to be handed on to another client. Of the only copy: whether an
    /// acknowledgement will come.
    pub more: bool,
    /// Whether the node's copy has another one behind it.
    pub behind: bool,
    /// Whether the pointer by which the message came is to the node's present copy.
    pub current: bool,
    /// Of a client's read: whether the node has nothing of the block, and is to keep no copy of it.
    pub relays: bool,
}

labelled! {
    /// What the controller of a copy sees: its processor, or a message.
    pub enum CopyEvent {
        Load = "load": "the processor reads",
        Store = "store": "the processor writes",
        Replace = "replace": "the frame is needed, no copy is behind this one",
        ReplaceAhead = "replace, ahead of others": "the frame is needed, others are behind it",
        ProxyRead = "proxy read": "a client requests a copy",
        ProxyReadToRelay = "proxy read, to relay": "the same, of a node without a copy that keeps \
            none for clients",
        Bounce = "bounce": "a read that the node has sent has come back",
        Data = "data": "a copy comes",
        DataToHandOn = "data to hand on": "a copy comes that other clients wait for as well",
        Follower = "follower": "a proxy says to whom it is to be handed on",
        Exclusive = "exclusive": "the only copy comes, no other has to go",
        ExclusiveDue = "exclusive, ack due": "the only copy comes, an acknowledgement will",
        Permission = "permission": "the copy is the head of the list, no copy is behind it",
        PermissionDue = "permission, ahead of others": "the same, but others are behind it",
        Acknowledge = "acknowledge": "the copies that had to go are gone",
        Invalidate = "invalidate": "this copy has to go, and those behind it",
        StaleInvalidate = "invalidate, stale": "the same of a copy that the node had before",
        ForwardRead = "forwarded read": "another node requests a copy",
        ForwardWrite = "forwarded write": "another node requests the only copy",
        WrittenBack = "written back": "memory has the block",
        WrittenBackLate = "written back, forwarded": "a request was forwarded before",
    }
}

impl CopyEvent {
    /// Whether it is an operation of the node's own processor, or a replacement for one.
    #[must_use]
    pub const fn is_of_processor(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Replace | Self::ReplaceAhead)
    }

    /// Whether it is an operation, which the processor waits for.
    #[must_use]
    pub const fn is_operation(self) -> bool {
        matches!(self, Self::Load | Self::Store)
    }
}

labelled! {
    /// What the controller of a block's home sees: a message.
    pub enum ListHomeEvent {
        Read = "read": "a node requests a copy",
        Write = "write": "a node requests the only copy",
        Upgrade = "upgrade": "a node requests that its copy become the only one",
        SharingWriteBack = "sharing write-back": "the owner has supplied a copy",
        WriteBack = "write-back": "an owner has replaced the block",
    }
}

labelled! {
    /// Whose copy what the home's controller sees is about, as far as it matters.
    pub enum ListSender {
        Head = "head": "the copy that is the head of the list",
        Owner = "owner": "the copy whose data memory lacks",
        Other = "other": "any other copy, or none yet",
    }
}

/// An action of the controller of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyAction {
    /// The processor's operation takes place.
    Complete,
    /// Requests a copy from the home, or from a proxy if the read uses one.
    Ask,
    /// Sends the request again after a bounce.
    AskAgain,
    /// Sends a message to the block's home.
    SendHome(ListMessage),
    /// Sends a copy to the requester, which is ahead of this copy.
    Supply,
    /// The same, but no copy stays here.
    SupplyLast,
    /// Hands the only copy on to the requester.
    HandOver,
    /// Invalidates the copy behind this one; the last copy of the list acknowledges to this node.
    InvalidateBehind,
    /// Passes the invalidation to the copy behind this one; the last copy acknowledges to the
    /// requester.
    PassOn,
    /// Acknowledges to the requester.
    Acknowledge,
    /// Sends a copy to a client, which is inserted behind this one.
    SupplyClient,
    /// Adds a client that waits for the block to the chain.
    Chain,
    /// Forwards the client's read to the home.
    AskFor,
    /// Requests a copy for the client that arrives at this node, which relays it.
    AskToRelay,
    /// Stores the client to which the block is handed on.
    KeepFollower,
    /// Hands the block on to the first client of the chain, if there is one. The client is inserted
    /// behind this copy, or is ahead of it if the block is relayed and the last client gets it
    /// first.
    HandOn,
    /// Relays the block to the first client of the chain, and keeps no copy.
    Relay,
}

/// An action of the home's controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListHomeAction {
    /// Sends the data of memory to the requester, with the head as the copy behind it.
    ReplyData,
    /// Sends the data of memory to the requester, as the only copy.
    ReplyExclusive,
    /// The same, with an acknowledgement due from the list.
    ReplyExclusiveDue,
    /// Answers the sender.
    Reply(ListMessage),
    /// Forwards the request to the owner.
    Forward(ListMessage),
    /// Invalidates the head, and the copies behind it.
    InvalidateHead,
    /// Makes the requester the head of the list.
    PutAtHead,
    /// Makes the head of the list the owner.
    OwnByHead,
    /// Memory stores the data; the block has no owner any more.
    TakeData,
    /// Empties the list.
    Clear,
}
