//! Effects of an access, a synchronisation or a message.

use crate::lrc::vocabulary::PageMessage;

/// A sender or receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageEnd {
    Home,
    /// A node as one that uses the page, also the one that is its home.
    Node(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentPageMessage {
    pub(crate) message: PageMessage,
    pub(crate) page: u32,
    pub(crate) from: PageEnd,
    pub(crate) to: PageEnd,
    /// The node whose request it serves; for a write notice, the node to which it is acknowledged.
    pub(crate) requester: u16,
    /// Number of acknowledgements that it announces.
    pub(crate) due: i32,
}

impl SentPageMessage {
    pub(crate) const fn to_home(node: u16, page: u32, message: PageMessage) -> Self {
        let (from, to) = (PageEnd::Node(node), PageEnd::Home);
        Self { message, page, from, to, requester: node, due: 0 }
    }

    /// A message of the page's home to a node that requested it.
    pub(crate) const fn to_node(node: u16, page: u32, message: PageMessage) -> Self {
        let (from, to) = (PageEnd::Home, PageEnd::Node(node));
        Self { message, page, from, to, requester: node, due: 0 }
    }
}

/// An effect that the caller has to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageEffect {
    /// Deliver the message. The messages of caches ([`PageMessage::Fetch`],
    /// [`PageMessage::WriteBack`]) are sent by the caller itself.
    Send(SentPageMessage),
    /// The node's access to the page proceeds to its cache; a write is reported when it takes place
    /// there.
    Complete(u16, u32),
    /// The page's lines are flushed from the node's cache, and their dirty words sent home.
    Flush(u16, u32),
    /// The dirty words of the page in the node's cache are sent home; the lines stay.
    WriteBack(u16, u32),
    /// Memory stores the dirty words of the delivered message.
    TakeWords,
    /// The node's release takes effect.
    Released(u16),
}

/// Whether an event was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageAnswer {
    Done,
    /// It has to wait and be tried again.
    Waits,
}

/// An answer, or why there can be none: the table is wrong, or the caller breaks a rule of
/// [`super::PageDriver`].
pub(crate) type Answered = Result<PageAnswer, &'static str>;

/// A message was sent where nothing receives it.
pub(super) const NO_RECIPIENT: &str = "a message has no recipient";
