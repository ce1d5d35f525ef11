//! Findings of the model checkers, and the parts that their models share.

use std::fmt::{Arguments, Write};
use std::hash::{Hash, Hasher};

use homenode_protocol::{BrokenPromise, Labelled, ProtocolFinding, ProtocolModel, Search};
use serde::Serialize;

use crate::cell::{ControllerCell, ControllerTable};

/// A fault of a protocol with a directory.
pub type DirectoryFinding = ProtocolFinding<DirectoryFindingKind>;
pub(crate) type BrokenDirectoryPromise = BrokenPromise<DirectoryFindingKind>;
/// What a check finds where the protocol keeps its promises.
pub(crate) type Promised<T> = Result<T, BrokenDirectoryPromise>;

pub(crate) fn broken<T>(kind: DirectoryFindingKind, message: impl Into<String>) -> Promised<T> {
    Err(BrokenPromise::new(kind, message))
}

pub(crate) fn flood<T>() -> Promised<T> {
    broken(DirectoryFindingKind::Flood, "more and more messages are under way")
}

pub(crate) fn lost<T>() -> Promised<T> {
    let message = "nothing is under way, and what was written last is nowhere";
    broken(DirectoryFindingKind::LostWrite, message)
}

pub(crate) fn not_done<T>(node: usize) -> Promised<T> {
    let what = format!("an operation of node {node} has not taken place");
    broken(DirectoryFindingKind::NotDone, format!("nothing is under way, and {what}"))
}

pub(crate) fn two_writers<T>(node: usize, other: usize) -> Promised<T> {
    let message = format!("nodes {node} and {other} may both write the block");
    broken(DirectoryFindingKind::TwoWriters, message)
}

/// A controller's table as a model follows it, and the cells that it has reached.
pub(crate) struct ReachedTable<E, B, A: 'static> {
    table: ControllerTable<E, B, A>,
    reached: Vec<bool>,
}

impl<E: Labelled, B: Labelled, A: Copy> ReachedTable<E, B, A> {
    pub(crate) fn new(table: &ControllerTable<E, B, A>) -> Self {
        Self { table: table.clone(), reached: vec![false; table.cells().len()] }
    }

    /// The actions of a cell and the next state, if the event need not wait. `what` describes the
    /// event.
    pub(crate) fn follow(
        &mut self,
        state: u8,
        (event, by): (E, B),
        what: impl FnOnce() -> String,
    ) -> Promised<Option<(&'static [A], u8)>> {
        let at = self.table.at(state, event, by);
        self.reached[at] = true;
        match self.table.cells()[at] {
            ControllerCell::Does(actions, next) => Ok(Some((actions, next))),
            ControllerCell::Waits => Ok(None),
            ControllerCell::Impossible(why) => {
                let (what, state) = (what(), self.table.name(state));
                let message = format!("{what} in state {state}: declared impossible ({why})");
                broken(DirectoryFindingKind::NotImpossible, message)
            }
        }
    }

    /// A finding for each possible cell of certain events that was not reached.
    pub(crate) fn gaps(
        &self,
        nodes_max: usize,
        expected: impl Fn(E) -> bool,
    ) -> Vec<DirectoryFinding> {
        let cells = self.table.described().zip(&self.reached);
        let missed = cells
            .filter(|((_, event, possible), reached)| *possible && !**reached && expected(*event));
        let finding = |((name, ..), _): ((String, E, bool), _)| DirectoryFinding {
            kind: DirectoryFindingKind::Unreached,
            message: format!("{name} never happens: declare it so"),
            steps: Vec::new(),
            caches: nodes_max,
        };
        missed.map(finding).collect()
    }
}

/// The description of a step, if requested.
pub(crate) struct StepText(Option<String>);

impl StepText {
    pub(crate) fn new(wanted: bool) -> Self {
        Self(wanted.then(String::new))
    }

    pub(crate) fn log(&mut self, what: Arguments<'_>) {
        if let Some(text) = &mut self.0 {
            let _ = text.write_fmt(what);
        }
    }

    pub(crate) fn add_to(self, story: Option<&mut String>) {
        if let (Some(story), Some(text)) = (story, self.0) {
            story.push_str(&text);
        }
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

impl DirectoryCheckReport {
    /// The report before anything is explored.
    pub(crate) fn new(nodes: usize) -> Self {
        let (situations, steps, states, cells, impossible) = (0, 0, 0, 0, 0);
        let findings = Vec::new();
        Self { nodes, situations, steps, states, cells, impossible, findings }
    }

    /// Explores a model of `nodes` nodes up to its first fault. Returns whether there is none.
    pub(crate) fn explore<M>(&mut self, model: M, nodes: usize) -> bool
    where
        M: ProtocolModel<Fault = BrokenDirectoryPromise>,
    {
        let mut search = Search::new(model);
        let stuck = (DirectoryFindingKind::Deadlock, "from here a node waits forever");
        self.findings.extend(search.finding(nodes, stuck));
        self.situations += search.state_count();
        self.steps += search.step_count();
        self.findings.is_empty()
    }

    /// Begins with more nodes, or with another variant of which only the extent counts.
    pub(crate) fn begin(&mut self, nodes: usize) {
        (self.nodes, self.situations, self.steps) = (nodes, 0, 0);
    }

    /// The same with the states and cells of a table.
    pub(crate) fn with<E: Labelled, B: Labelled, A: Copy>(
        mut self,
        table: &ControllerTable<E, B, A>,
    ) -> Self {
        let possible = table.cells().iter().filter(|cell| cell.is_possible()).count();
        self.states += table.states().len();
        self.cells += possible;
        self.impossible += table.cells().len() - possible;
        self
    }
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

/// The home as a sender or receiver of messages, if it is not one of the nodes.
pub(crate) const HOME: u8 = 7;

/// The number of a node in messages.
pub(crate) fn number(node: usize) -> u8 {
    u8::try_from(node).unwrap_or(HOME)
}

/// A sender or receiver in words.
pub(crate) fn who(number: u8) -> String {
    if number == HOME { "home".to_owned() } else { format!("node {number}") }
}

/// The numbers of some nodes in another order, and of the home.
pub(crate) fn renumbered(order: &[usize]) -> [u8; HOME as usize + 1] {
    let mut numbers = [HOME; HOME as usize + 1];
    for (new, &old) in (0u8..).zip(order) {
        numbers[old] = new;
    }
    numbers
}

/// Fields, each with its bits, as one number.
pub(crate) fn fields(fields: &[(u32, u32)]) -> u32 {
    fields.iter().fold(0, |packed, (value, bits)| packed << bits | value)
}

/// A situation in numbers, at most `N`. Those of equal situations are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SituationKey<const N: usize> {
    length: usize,
    numbers: [u32; N],
}

impl<const N: usize> SituationKey<N> {
    pub(crate) const EMPTY: Self = Self { length: 0, numbers: [0; N] };

    pub(crate) fn push(&mut self, number: u32) {
        self.numbers[self.length] = number;
        self.length += 1;
    }

    /// Appends numbers whose order does not matter.
    pub(crate) fn extend_sorted(&mut self, numbers: impl Iterator<Item = u32>) {
        let first = self.length;
        numbers.for_each(|number| self.push(number));
        self.numbers[first..self.length].sort_unstable();
    }
}

impl<const N: usize> Hash for SituationKey<N> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.numbers[..self.length].hash(hasher);
    }
}

/// Data, abstracted to whether they are the last write: a protocol never looks at values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Data {
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
