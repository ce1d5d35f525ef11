//! Findings of the model checkers, and the parts that their models share.

use std::fmt::Display;

use homenode_protocol::{ProtocolFinding, ProtocolModel, Search};
use serde::Serialize;

/// A fault of a protocol with a directory.
pub type DirectoryFinding = ProtocolFinding<DirectoryFindingKind>;

/// Explores a model of `nodes` nodes up to its first fault. `kind` classifies faults of steps.
pub(crate) fn first_fault<M: ProtocolModel>(
    search: &mut Search<M>,
    nodes: usize,
    kind: impl Fn(&M::Fault) -> DirectoryFindingKind,
) -> Option<DirectoryFinding>
where
    M::Fault: Display,
{
    let (kind, message, steps) = match search.explore() {
        Err(broken) => (kind(&broken.fault), broken.fault.to_string(), broken.steps),
        Ok(()) => {
            let message = "from here a node waits forever".to_owned();
            (DirectoryFindingKind::Deadlock, message, search.stuck()?)
        }
    };
    Some(DirectoryFinding { kind, message, steps: search.tell(&steps), caches: nodes })
}

/// The finding of a possible cell that was not reached.
pub(crate) fn unreached(name: &str, nodes_max: usize) -> DirectoryFinding {
    DirectoryFinding {
        kind: DirectoryFindingKind::Unreached,
        message: format!("{name} never happens: declare it so"),
        steps: Vec::new(),
        caches: nodes_max,
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryCheckReport {
    /// Most nodes explored.
    pub nodes: usize,
    /// Distinct situations with that number of nodes; for linked lists also those of three nodes
    /// with bounded buffers.
    pub situations: usize,
    /// Steps tried.
    pub steps: usize,
    /// Number of states of all controllers.
    pub states: usize,
    /// Possible cells of all tables; each was reached unless a finding says otherwise.
    pub cells: usize,
    /// Cells that are declared impossible.
    pub impossible: usize,
    /// The faults found.
    pub findings: Vec<DirectoryFinding>,
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

/// Largest number of nodes explored.
pub const NODES_MAX: usize = 4;

/// Data, abstracted to whether they are the last write: a protocol never looks at values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Data {
    /// None.
    #[default]
    None,
    /// Older than the last write.
    Old,
    /// The last write.
    Latest,
}

impl Data {
    /// The data after another node's write.
    pub(crate) fn outdated(self) -> Self {
        if self == Self::None { Self::None } else { Self::Old }
    }
}

/// All orders of `nodes` nodes.
pub(crate) fn orders(nodes: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for next in 0..nodes {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=next).map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
    }
    orders
}
