//! Cells and tables of controllers, for all protocols.

use std::marker::PhantomData;

use homenode_protocol::{Labelled, TableLabel, labelled, labels};
use serde::Serialize;

/// One cell of a controller's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerCell<A: 'static, S = u8> {
    /// What the controller does, and its next state for the block.
    Does(&'static [A], S),
    /// The event waits for a change of state.
    Waits,
    /// The event is impossible, and why.
    Impossible(&'static str),
}

impl<A, S> ControllerCell<A, S> {
    pub(crate) const fn is_possible(&self) -> bool {
        !matches!(self, Self::Impossible(_))
    }

    /// The same cell with its state in another type.
    pub(crate) fn map_state<T>(self, state: impl FnOnce(S) -> T) -> ControllerCell<A, T> {
        match self {
            Self::Does(actions, next) => ControllerCell::Does(actions, state(next)),
            Self::Waits => ControllerCell::Waits,
            Self::Impossible(why) => ControllerCell::Impossible(why),
        }
    }
}

/// The role of a state of a cache's controller, verified by the model checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyRole {
    /// No copy that the processor may use.
    None,
    /// A copy that may be read.
    Readable,
    /// The only copy, once all acknowledgements are in: it may be written.
    Writable,
}

/// How a message reaches its destination; only messages across the network count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageWay {
    /// From one node to another.
    Network,
    /// Between the cache and the home of one node.
    Within,
    /// With another message that goes the same way.
    WithReply,
}

labelled! {
    /// The sender of what a controller sees, where it does not matter.
    pub enum AnySender {
        Any = "any": "any node",
    }
}

/// The states of one controller as a protocol's file writes them, the first one at rest and without
/// a copy; what it does is a total match.
pub trait ControllerStates: Labelled {
    /// What it sees.
    type Event: Labelled;
    /// Who sent it, as far as it matters.
    type Sender: Labelled;
    /// What it does.
    type Action: Copy;

    /// Whether no transaction is in progress in this state.
    fn rests(self) -> bool;

    /// The cell of an event.
    fn cell(self, event: Self::Event, sender: Self::Sender) -> ControllerCell<Self::Action, Self>;
}

/// The table of one controller, whose events `E` come from senders `B`. States are numbers in the
/// order of their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerTable<E, B, A: 'static> {
    /// What walks, printed tables and findings call the controller.
    pub(crate) name: &'static str,
    states: Vec<TableLabel>,
    rests: Vec<bool>,
    cells: Vec<ControllerCell<A>>,
    columns: PhantomData<(E, B)>,
}

impl<E: Labelled, B: Labelled, A: Copy> ControllerTable<E, B, A> {
    pub(crate) fn of<S>(name: &'static str) -> Self
    where
        S: ControllerStates<Event = E, Sender = B, Action = A>,
    {
        let numbered = |cell: ControllerCell<A, S>| cell.map_state(Labelled::index);
        let row = |&state: &S| Self::columns().map(move |(event, by)| state.cell(event, by));
        Self {
            name,
            states: labels::<S>(),
            rests: S::ALL.iter().map(|&state| state.rests()).collect(),
            cells: S::ALL.iter().flat_map(row).map(numbered).collect(),
            columns: PhantomData,
        }
    }

    /// Every event of every sender, in the order of the cells of a state.
    fn columns() -> impl Iterator<Item = (E, B)> {
        E::ALL.iter().flat_map(|&event| B::ALL.iter().map(move |&by| (event, by)))
    }

    /// The states.
    #[must_use]
    pub fn states(&self) -> &[TableLabel] {
        &self.states
    }

    pub(crate) fn state_numbers(&self) -> impl Iterator<Item = u8> + use<E, B, A> {
        (0..=u8::MAX).take(self.states.len())
    }

    /// Name of a state.
    #[must_use]
    pub fn name(&self, state: u8) -> &'static str {
        self.states[usize::from(state)].name
    }

    /// Whether no transaction is in progress in a state.
    #[must_use]
    pub fn rests(&self, state: u8) -> bool {
        self.rests[usize::from(state)]
    }

    pub(crate) fn cells(&self) -> &[ControllerCell<A>] {
        &self.cells
    }

    /// Every cell in words, with its position, event and whether it is possible.
    pub(crate) fn described(&self) -> impl Iterator<Item = (String, E, bool)> {
        let cells = self.states.iter().flat_map(|state| Self::columns().map(move |it| (state, it)));
        cells.zip(&self.cells).map(|((state, (event, by)), cell)| {
            let by = if is_any::<B>() { String::new() } else { format!(" by {}", by.name()) };
            let (event_name, state, of) = (event.name(), state.name, self.name);
            let words = format!("{event_name}{by} in state {state} of a {of}");
            (words, event, cell.is_possible())
        })
    }

    /// Position of a cell in [`Self::cells`].
    pub(crate) fn at(&self, state: u8, event: E, by: B) -> usize {
        let row = usize::from(state) * E::ALL.len() + usize::from(event.index());
        row * B::ALL.len() + usize::from(by.index())
    }

    /// The cell of an event that a node of this kind has sent.
    #[must_use]
    pub fn cell_by(&self, state: u8, event: E, by: B) -> ControllerCell<A> {
        self.cells[self.at(state, event, by)]
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_cell_by(&mut self, state: u8, event: E, by: B, cell: ControllerCell<A>) {
        let at = self.at(state, event, by);
        self.cells[at] = cell;
    }
}

impl<E: Labelled, A: Copy> ControllerTable<E, AnySender, A> {
    /// The cell of an event.
    #[must_use]
    pub fn cell(&self, state: u8, event: E) -> ControllerCell<A> {
        self.cell_by(state, event, AnySender::Any)
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_cell(&mut self, state: u8, event: E, cell: ControllerCell<A>) {
        self.set_cell_by(state, event, AnySender::Any, cell);
    }
}

/// Whether senders of this kind do not matter.
pub(crate) fn is_any<B: Labelled>() -> bool {
    B::ALL.len() == 1
}
