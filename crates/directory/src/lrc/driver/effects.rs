//! Effects of an access, a synchronisation or a message.

use crate::lrc::vocabulary::PageMessage;
use homenode_protocol::Labelled;

/// A sender or receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEnd {
    /// The page's home.
    Home,
    /// A node as one that uses the page, also the one that is its home.
    Node(u16),
}

/// A message in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPageMessage {
    /// Its kind.
    pub message: PageMessage,
    /// The page.
    pub page: u32,
    /// The sender.
    pub from: PageEnd,
    /// The receiver.
    pub to: PageEnd,
    /// The node whose request it serves; for a write notice, the node to which it is acknowledged.
    pub requester: u16,
    /// Number of acknowledgements that it announces.
    pub due: i32,
}

/// An effect that the caller has to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEffect {
    /// Deliver the message. The messages of caches ([`PageMessage::Fetch`],
    /// [`PageMessage::WriteBack`]) are sent by the caller itself.
    Send(SentPageMessage),
    /// The node's access proceeds to its cache; a write is reported when it takes place there.
    Complete {
        /// The node.
        node: u16,
        /// The page.
        page: u32,
    },
    /// The page's lines are flushed from the node's cache, and their dirty words sent home.
    Flush {
        /// The node.
        node: u16,
        /// The page.
        page: u32,
    },
    /// The dirty words of the page in the node's cache are sent home; the lines stay.
    WriteBack {
        /// The node.
        node: u16,
        /// The page.
        page: u32,
    },
    /// Memory stores the dirty words of the delivered message.
    TakeWords {
        /// The page.
        page: u32,
    },
    /// The node's release takes effect.
    Released {
        /// The node.
        node: u16,
    },
}

/// Whether an event was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAnswer {
    /// It was.
    Done,
    /// It has to wait and be tried again.
    Waits,
}

/// A fault: the table is wrong, or the caller breaks a rule of [`crate::PageDriver`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageFault {
    /// An event that a table declares impossible.
    #[error(
        "{event} at page {page}, of node {node}, in state {state}: declared impossible ({why})"
    )]
    Impossible {
        /// The node where it happens, or that sent it.
        node: u16,
        /// The page's number.
        page: u32,
        /// The event.
        event: &'static str,
        /// State of the controller.
        state: &'static str,
        /// Why the table declares it impossible.
        why: &'static str,
    },
    /// A message without a recipient.
    #[error("{message} of page {page} has no recipient")]
    NoRecipient {
        /// The message.
        message: &'static str,
        /// The page's number.
        page: u32,
    },
}

impl PageFault {
    /// Why it is a fault.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Impossible { why, .. } => why,
            Self::NoRecipient { .. } => "a message has no recipient",
        }
    }

    pub(super) fn no_recipient(sent: &SentPageMessage) -> Self {
        Self::NoRecipient { message: sent.message.name(), page: sent.page }
    }
}
