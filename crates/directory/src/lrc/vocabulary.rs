//! The vocabulary of protocols that keep pages coherent in software: messages, and events and
//! actions of the controllers of a node and of a home.
//!
//! The controllers are handlers of an operating system. A node has two independent ones for a page:
//! its *mapping* is the page's entry in the node's page table, its *release* what the node owes to
//! others for what it has written. Caches fetch lines from the memory of the page's home, remote or
//! not, and have a dirty bit for each word.

use homenode_protocol::{Labelled, labelled};

use crate::counts::{CountedMessage, SentMessages};

labelled! {
    /// A message about a page from one node to another. The names are a public contract
    /// (`docs/directory.md`).
    pub enum PageMessage {
        ReadFault = "read fault": "reports that the sender maps the page read-only",
        WriteFault = "write fault": "reports that the sender maps the page read-write",
        Upgrade = "upgrade": "reports that the sender, which maps the page, will write it",
        Mapped = "mapped": "the node is listed, and may use the page",
        Unmap = "unmap": "reports that the sender no longer maps the page",
        Fetch = "fetch": "requests a line from home",
        Line = "line": "brings a line from memory",
        WriteBack = "write-back": "brings the dirty words of a line to memory",
        WrittenBack = "written back": "memory has the words",
        Modified = "modified": "reports that the sender releases its writes to the page",
        WriteNotice = "write notice": "another node releases what it wrote to the page",
        NoticesSent = "notices sent": "number of acknowledgements that the releasing node will get",
        Acknowledge = "acknowledge": "confirms a write notice to the releasing node",
    }
}

impl PageMessage {
    /// Its event at the controller of a home, if it goes to a home.
    #[must_use]
    pub const fn event_at_home(self) -> Option<PageHomeEvent> {
        Some(match self {
            Self::ReadFault => PageHomeEvent::ReadFault,
            Self::WriteFault => PageHomeEvent::WriteFault,
            Self::Upgrade => PageHomeEvent::Upgrade,
            Self::Unmap => PageHomeEvent::Unmap,
            Self::Fetch => PageHomeEvent::Fetch,
            Self::WriteBack => PageHomeEvent::WriteBack,
            Self::Modified => PageHomeEvent::Modified,
            Self::Mapped
            | Self::Line
            | Self::WrittenBack
            | Self::WriteNotice
            | Self::NoticesSent
            | Self::Acknowledge => return None,
        })
    }

    /// Its event at the mapping, if it has one. Messages of the cache are not events there.
    #[must_use]
    pub const fn event_at_mapping(self) -> Option<MappingEvent> {
        Some(match self {
            Self::Mapped => MappingEvent::Mapped,
            Self::WriteNotice => MappingEvent::WriteNotice,
            Self::ReadFault
            | Self::WriteFault
            | Self::Upgrade
            | Self::Unmap
            | Self::Fetch
            | Self::Line
            | Self::WriteBack
            | Self::WrittenBack
            | Self::Modified
            | Self::NoticesSent
            | Self::Acknowledge => return None,
        })
    }

    /// Its event at the release, if it has one: `due` says how many acknowledgements are then still
    /// due, less those that arrived before home announced their number, `known` whether home has
    /// announced it.
    #[must_use]
    pub const fn event_at_release(self, due: i32, known: bool) -> Option<ReleaseEvent> {
        Some(match self {
            Self::NoticesSent if due == 0 => ReleaseEvent::NoticesSent,
            Self::NoticesSent => ReleaseEvent::NoticesSentDue,
            Self::Acknowledge if due == 0 && known => ReleaseEvent::LastAcknowledge,
            Self::Acknowledge => ReleaseEvent::Acknowledge,
            Self::ReadFault
            | Self::WriteFault
            | Self::Upgrade
            | Self::Mapped
            | Self::Unmap
            | Self::Fetch
            | Self::Line
            | Self::WriteBack
            | Self::WrittenBack
            | Self::Modified
            | Self::WriteNotice => return None,
        })
    }

    /// The change of the number of acknowledgements due at a release, if it announces `announced`.
    #[must_use]
    pub const fn acknowledgements(self, announced: i32) -> i32 {
        if matches!(self, Self::NoticesSent) {
            announced
        } else if matches!(self, Self::Acknowledge) {
            -1
        } else {
            0
        }
    }
}

/// Messages of a protocol that keeps pages coherent.
pub type PageMessageCounts = SentMessages<PageMessage, { PageMessage::ALL.len() }>;

impl CountedMessage for PageMessage {
    fn kind(self) -> &'static str {
        match self {
            Self::ReadFault => "read_fault",
            Self::WriteFault => "write_fault",
            Self::Upgrade => "upgrade",
            Self::Mapped => "mapped",
            Self::Unmap => "unmap",
            Self::Fetch => "fetch",
            Self::Line => "line",
            Self::WriteBack => "write_back",
            Self::WrittenBack => "written_back",
            Self::Modified => "modified",
            Self::WriteNotice => "write_notice",
            Self::NoticesSent => "notices_sent",
            Self::Acknowledge => "acknowledge",
        }
    }
}

labelled! {
    /// Events at the mapping of a page at a node, from its processor, its cache, or a message.
    pub enum MappingEvent {
        Load = "load": "the processor reads",
        Store = "store": "the processor writes",
        Acquire = "acquire": "the processor acquires",
        WrittenBack = "written back": "no write-back of the page is in flight any more",
        Mapped = "mapped": "home has listed the node",
        WriteNotice = "write notice": "another node has written the page and releases",
    }
}

impl MappingEvent {
    /// Whether the processor does it.
    #[must_use]
    pub const fn is_of_processor(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Acquire)
    }
}

labelled! {
    /// Events at the release of a page at a node.
    pub enum ReleaseEvent {
        Store = "store": "a write of the processor takes place",
        Release = "release": "the processor releases",
        WrittenBack = "written back": "no write-back of the page is in flight any more",
        NoticesSent = "notices sent": "home has sent the notices, and no acknowledgement is due",
        NoticesSentDue = "notices sent, acks due": "home has sent the notices, and \
            acknowledgements are due",
        Acknowledge = "acknowledge": "a notice has arrived; others, or home's answer, are due",
        LastAcknowledge = "last acknowledge": "all notices have arrived",
    }
}

impl ReleaseEvent {
    /// Whether the processor does it.
    #[must_use]
    pub const fn is_of_processor(self) -> bool {
        matches!(self, Self::Store | Self::Release)
    }
}

labelled! {
    /// Events at the controller of a page's home: messages.
    pub enum PageHomeEvent {
        ReadFault = "read fault": "a node maps the page, read-only",
        WriteFault = "write fault": "a node maps the page, read-write",
        Upgrade = "upgrade": "a node that maps the page will write it",
        Unmap = "unmap": "a node no longer maps the page",
        Fetch = "fetch": "a cache needs a line",
        WriteBack = "write-back": "a cache has dirty words for memory",
        Modified = "modified": "a node releases what it wrote to the page",
        ModifiedEarly = "modified, write-backs due": "the same, and write-backs of the node have \
            not arrived",
    }
}

impl PageHomeEvent {
    /// The event if write-backs of the sender have not arrived.
    #[must_use]
    pub const fn before_write_backs(self) -> Self {
        if matches!(self, Self::Modified) { Self::ModifiedEarly } else { self }
    }
}

labelled! {
    /// The sender of a message to a home, as far as it matters.
    pub enum PageSender {
        Only = "only": "the only listed node",
        Sharer = "sharer": "one of several listed nodes",
        Other = "other": "a node that is not listed",
    }
}

/// What a node does about the mapping of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingAction {
    /// Tells home.
    SendHome(PageMessage),
    /// Tells the releasing node that its write notice has arrived.
    Acknowledge,
    /// The processor's access goes on to the cache, which fetches the line if it lacks it.
    Complete,
    /// The page's lines leave the cache; their dirty words are written back. Once none is under way
    /// the mapping sees [`MappingEvent::WrittenBack`].
    Flush,
}

/// What a node does about the release of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseAction {
    /// The dirty words of the page's lines are written back; the lines stay. Once none is under way
    /// the release sees [`ReleaseEvent::WrittenBack`].
    WriteBack,
    /// Tells home.
    SendHome(PageMessage),
}

/// What the home's controller does about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageHomeAction {
    /// The sender is listed.
    List,
    /// The sender is no longer listed.
    Unlist,
    /// Answers the sender.
    Reply(PageMessage),
    /// Sends a write notice to every other listed node; they acknowledge it to the sender.
    Notify,
    /// Memory takes the dirty words, and no others.
    TakeWords,
}

/// What a state of a mapping lets the processor do without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PagePermission {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    Write,
}

impl PagePermission {
    /// What an access needs.
    pub(crate) const fn needed(store: bool) -> Self {
        if store { Self::Write } else { Self::Read }
    }
}
