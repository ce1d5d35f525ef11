//! What follows from an access, a synchronisation or a message.

use crate::page_vocabulary::PageMessage;
use homenode_protocol::Labelled;

/// A sender or receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEnd {
    /// The page's home.
    Home,
    /// A node as one that uses the page, also the one that is its home.
    Node(u16),
}

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPageMessage {
    /// What it says.
    pub message: PageMessage,
    /// The page.
    pub page: u32,
    /// Who sends it.
    pub from: PageEnd,
    /// Whom it goes to.
    pub to: PageEnd,
    /// The node on whose behalf it is sent: of a notice, whom it is acknowledged to.
    pub requester: u16,
    /// Acknowledgements that it announces.
    pub due: i32,
}

/// What the caller has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageEffect {
    /// Take the message to where it goes. Those of caches ([`PageMessage::Fetch`],
    /// [`PageMessage::WriteBack`]) the caller sends itself.
    Send(SentPageMessage),
    /// The node's access goes on to its cache. A write is told when it takes place there.
    Complete {
        /// The node.
        node: u16,
        /// The page.
        page: u32,
    },
    /// The page's lines leave the node's cache, their dirty words are sent home.
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
    /// Memory takes the dirty words that the delivered message brings.
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

/// Whether something took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAnswer {
    /// It did.
    Done,
    /// It has to be tried again later.
    Waits,
}

/// Something that the protocol has no answer to: the table is wrong, or the caller does what
/// [`crate::PageDriver`] says it must not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageFault {
    /// What a table calls impossible.
    #[error(
        "{event} at page {page}, of node {node}, in state {state}: declared impossible ({why})"
    )]
    Impossible {
        /// The node that does it, or has sent it.
        node: u16,
        /// The page's number.
        page: u32,
        /// What happens.
        event: &'static str,
        /// State of the controller.
        state: &'static str,
        /// Why that should never happen.
        why: &'static str,
    },
    /// A message with nobody to go to.
    #[error("{message} of page {page} has nobody to go to")]
    Nobody {
        /// The message.
        message: &'static str,
        /// The page's number.
        page: u32,
    },
}

impl PageFault {
    /// Why it should never happen.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Impossible { why, .. } => why,
            Self::Nobody { .. } => "a message has nobody to go to",
        }
    }

    pub(super) fn nobody(sent: &SentPageMessage) -> Self {
        Self::Nobody { message: sent.message.name(), page: sent.page }
    }
}
