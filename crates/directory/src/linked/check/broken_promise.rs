//! Faults of a linked-list protocol.

use std::fmt;

use crate::finding::DirectoryFindingKind;

/// An invariant broken by one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrokenListPromise {
    Stale { node: usize },
    StaleMemory,
    TwoWriters { nodes: [usize; 2] },
    NotAlone { node: usize, other: usize },
    Unlisted { node: usize },
    Lost,
    NoData { node: usize },
    NotDone { node: usize },
    NotHandedOn { node: usize },
    WrongOperation { node: usize },
    NotReplaced { node: usize },
    Impossible { what: String, why: &'static str },
    NoRecipient { what: String },
    Flood,
}

impl BrokenListPromise {
    pub(super) fn kind(&self) -> DirectoryFindingKind {
        match self {
            Self::Stale { .. } => DirectoryFindingKind::StaleRead,
            Self::StaleMemory => DirectoryFindingKind::StaleMemory,
            Self::TwoWriters { .. } => DirectoryFindingKind::TwoWriters,
            Self::NotAlone { .. } => DirectoryFindingKind::NotAlone,
            Self::Unlisted { .. } => DirectoryFindingKind::UnlistedCopy,
            Self::Lost => DirectoryFindingKind::LostWrite,
            Self::NoData { .. } => DirectoryFindingKind::NoData,
            Self::NotDone { .. } | Self::NotHandedOn { .. } | Self::WrongOperation { .. } => {
                DirectoryFindingKind::NotDone
            }
            Self::NotReplaced { .. } => DirectoryFindingKind::NotReplaced,
            Self::Impossible { .. } => DirectoryFindingKind::NotImpossible,
            Self::NoRecipient { .. } => DirectoryFindingKind::NoRecipient,
            Self::Flood => DirectoryFindingKind::Flood,
        }
    }
}

impl fmt::Display for BrokenListPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { node } => write!(f, "the copy of node {node} is old"),
            Self::StaleMemory => {
                f.write_str("the block has no owner, but memory does not have the last write")
            }
            Self::TwoWriters { nodes: [one, other] } => {
                write!(f, "nodes {one} and {other} may both write the block")
            }
            Self::NotAlone { node, other } => write!(
                f,
                "node {node} may write the block, but node {other} has a copy, or one is on its \
                 way there"
            ),
            Self::Unlisted { node } => write!(
                f,
                "node {node} has a copy, or one is on its way there, to which nothing leads from \
                 the head of the list: no write would take it away"
            ),
            Self::Lost => f.write_str("nothing is under way, and what was written last is nowhere"),
            Self::NoData { node } => write!(f, "node {node} is to use or send data and has none"),
            Self::NotDone { node } => write!(
                f,
                "nothing is under way, and an operation of node {node} has not taken place"
            ),
            Self::NotHandedOn { node } => write!(
                f,
                "node {node} waits for nothing, and has not handed the block on to its clients"
            ),
            Self::WrongOperation { node } => write!(
                f,
                "node {node} has got what it asked for, but not for the operation that waits"
            ),
            Self::NotReplaced { node } => write!(f, "the copy of node {node} is still there"),
            Self::Impossible { what, why } => write!(f, "{what}: declared impossible ({why})"),
            Self::NoRecipient { what } => write!(f, "{what}: it has no recipient"),
            Self::Flood => f.write_str("more and more messages are under way"),
        }
    }
}
