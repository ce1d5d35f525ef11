//! Faults of a block protocol.

use std::fmt;

use crate::finding::DirectoryFindingKind;

/// An invariant broken by one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrokenDirectoryPromise {
    Stale { node: usize },
    TwoWriters { nodes: [usize; 2] },
    NotAlone { node: usize, other: usize },
    Lost,
    NoData { node: usize },
    NotDone { node: usize },
    NotReplaced { node: usize },
    Impossible { what: String, why: &'static str },
    NoRecipient { what: String },
    Flood,
}

impl BrokenDirectoryPromise {
    pub(super) fn kind(&self) -> DirectoryFindingKind {
        match self {
            Self::Stale { .. } => DirectoryFindingKind::StaleRead,
            Self::TwoWriters { .. } => DirectoryFindingKind::TwoWriters,
            Self::NotAlone { .. } => DirectoryFindingKind::NotAlone,
            Self::Lost => DirectoryFindingKind::LostWrite,
            Self::NoData { .. } => DirectoryFindingKind::NoData,
            Self::NotDone { .. } => DirectoryFindingKind::NotDone,
            Self::NotReplaced { .. } => DirectoryFindingKind::NotReplaced,
            Self::Impossible { .. } => DirectoryFindingKind::NotImpossible,
            Self::NoRecipient { .. } => DirectoryFindingKind::NoRecipient,
            Self::Flood => DirectoryFindingKind::Flood,
        }
    }
}

impl fmt::Display for BrokenDirectoryPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { node } => write!(f, "an operation of node {node} finds an old value"),
            Self::TwoWriters { nodes: [one, other] } => {
                write!(f, "nodes {one} and {other} may both write the block")
            }
            Self::NotAlone { node, other } => write!(
                f,
                "node {node} may write and nothing is to be acknowledged, but node {other} has a \
                 copy"
            ),
            Self::Lost => f.write_str("nothing is under way, and what was written last is nowhere"),
            Self::NoData { node } => {
                write!(f, "an operation of node {node} completes, but it has no data")
            }
            Self::NotDone { node } => {
                write!(
                    f,
                    "nothing is under way, and an operation of node {node} has not taken place"
                )
            }
            Self::NotReplaced { node } => write!(f, "the copy of node {node} is still there"),
            Self::Impossible { what, why } => write!(f, "{what}: declared impossible ({why})"),
            Self::NoRecipient { what } => write!(f, "{what}: it has no recipient"),
            Self::Flood => f.write_str("more and more messages are under way"),
        }
    }
}
