//! Faults of a block protocol.

use std::fmt;

use serde::Serialize;

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

/// Kinds of finding. The names are a public contract (`docs/directory.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryFindingKind {
    /// An operation returns a value older than the last one that all nodes have seen.
    StaleRead,
    /// Two nodes may write the block.
    TwoWriters,
    /// A node may write the block with all acknowledgements in, and another node has a copy.
    NotAlone,
    /// At rest, no node has the last write.
    LostWrite,
    /// By the home's state memory has the last write, but it does not.
    StaleMemory,
    /// A copy not reachable from the head of its list, so that no write would invalidate it.
    UnlistedCopy,
    /// An operation completes without the data.
    NoData,
    /// An operation never takes place.
    NotDone,
    /// A replacement leaves the copy.
    NotReplaced,
    /// A page's mapping permits an access that the home has not granted.
    NotPermitted,
    /// A node has lost the record of a notice for a page that it maps, or records a notice or a
    /// write that did not happen.
    WrongRecord,
    /// A home's list of nodes that map a page is wrong.
    WrongList,
    /// A page is wrongly on the weak list, or wrongly not on it.
    WrongWeakList,
    /// A cell declared impossible is reached.
    NotImpossible,
    /// A message has no recipient.
    NoRecipient,
    /// The number of messages in flight grows without bound.
    Flood,
    /// A cell that is never reached.
    Unreached,
    /// From here the system never comes to rest: a node waits forever.
    Deadlock,
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
