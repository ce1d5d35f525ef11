//! Faults of a page protocol.

use std::fmt;

use crate::finding::DirectoryFindingKind;

/// An invariant broken by one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrokenPagePromise {
    Stale { node: usize, word: usize },
    Lost { word: usize },
    NotPermitted { node: usize },
    NotUnmapped { node: usize },
    WrongNotice { node: usize },
    NotWritten { node: usize },
    NotReleased { node: usize },
    NotAcknowledged { node: usize },
    NotListed { node: usize },
    NotMapped { node: usize },
    NotWeak,
    WeakAlone,
    Impossible { what: String, why: &'static str },
    NoRecipient { what: String },
    Flood,
}

impl BrokenPagePromise {
    pub(super) fn kind(&self) -> DirectoryFindingKind {
        match self {
            Self::Stale { .. } => DirectoryFindingKind::StaleRead,
            Self::Lost { .. } => DirectoryFindingKind::LostWrite,
            Self::NotPermitted { .. } => DirectoryFindingKind::NotPermitted,
            Self::NotUnmapped { .. } | Self::WrongNotice { .. } | Self::NotWritten { .. } => {
                DirectoryFindingKind::WrongRecord
            }
            Self::NotReleased { .. } | Self::NotAcknowledged { .. } => {
                DirectoryFindingKind::NotDone
            }
            Self::NotListed { .. } | Self::NotMapped { .. } => DirectoryFindingKind::WrongList,
            Self::NotWeak | Self::WeakAlone => DirectoryFindingKind::WrongWeakList,
            Self::Impossible { .. } => DirectoryFindingKind::NotImpossible,
            Self::NoRecipient { .. } => DirectoryFindingKind::NoRecipient,
            Self::Flood => DirectoryFindingKind::Flood,
        }
    }
}

impl fmt::Display for BrokenPagePromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { node, word } => write!(
                f,
                "node {node} reads an old value of word {word}, whose last write was released \
                 before the node's acquire"
            ),
            Self::Lost { word } => write!(
                f,
                "everything is released, and memory has not got what was written last to word \
                 {word}"
            ),
            Self::NotPermitted { node } => {
                write!(f, "node {node} may do more with the page than home has answered it may")
            }
            Self::NotUnmapped { node } => {
                write!(f, "node {node} acquires and maps a page for which a notice has come")
            }
            Self::WrongNotice { node } => write!(
                f,
                "node {node} believes that a notice has come for what it maps, or has forgotten one"
            ),
            Self::NotWritten { node } => {
                write!(f, "node {node} believes that it has written the page, and has not")
            }
            Self::NotReleased { node } => {
                write!(f, "node {node} has released everything and has dirty words")
            }
            Self::NotAcknowledged { node } => write!(
                f,
                "a release of node {node} has taken effect, and a notice is not acknowledged"
            ),
            Self::NotListed { node } => {
                write!(f, "node {node} maps the page and is not listed")
            }
            Self::NotMapped { node } => {
                write!(f, "nothing is under way, node {node} is listed and does not map the page")
            }
            Self::NotWeak => f.write_str(
                "several nodes map the page, one of them read-write, and it is not weak",
            ),
            Self::WeakAlone => f.write_str(
                "the page is weak, but since it was last unmapped no two nodes have mapped it, \
                 one of them read-write",
            ),
            Self::Impossible { what, why } => write!(f, "{what}: declared impossible ({why})"),
            Self::NoRecipient { what } => write!(f, "{what}: no node waits for it"),
            Self::Flood => f.write_str("more and more messages are under way"),
        }
    }
}
