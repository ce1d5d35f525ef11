//! What can be wrong with a protocol.

use std::fmt;

use serde::Serialize;

/// A promise broken by one step.
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
    Nobody { what: String },
    Flood,
}

/// Kinds of finding. The names are a public contract (`docs/directory.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryFindingKind {
    /// An operation finds a value older than the last one that all nodes have learned of.
    StaleRead,
    /// Two nodes may write the block.
    TwoWriters,
    /// A node may write the block, everything is acknowledged, and another one has a copy.
    NotAlone,
    /// Nothing is under way, and nobody has what was written last.
    LostWrite,
    /// Home says that memory has what was written last, and it has not.
    StaleMemory,
    /// A copy to which nothing leads from the head of its list: no write would take it away.
    UnlistedCopy,
    /// An operation completes without the data.
    NoData,
    /// An operation never takes place.
    NotDone,
    /// A replacement leaves the copy.
    NotReplaced,
    /// A page's mapping permits what home has not been told of.
    NotPermitted,
    /// A node has forgotten a notice that has come for a page that it maps, or remembers one that
    /// has not come, or a write that has not taken place.
    WrongRecord,
    /// A home's list of those that map a page is wrong.
    WrongList,
    /// A page is on the weak list and should not be, or the other way round.
    WrongWeakList,
    /// Something happens that is declared impossible.
    NotImpossible,
    /// A message has nobody to go to.
    NoRecipient,
    /// More and more messages are under way.
    Flood,
    /// A cell or state that nothing leads to.
    Unreached,
    /// From here the system never comes to rest: somebody waits for ever.
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
            Self::Nobody { .. } => DirectoryFindingKind::NoRecipient,
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
            Self::Nobody { what } => write!(f, "{what}: there is nobody to send it to"),
            Self::Flood => f.write_str("more and more messages are under way"),
        }
    }
}
