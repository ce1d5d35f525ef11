//! Cells and tables of controllers, for all protocols.

use homenode_protocol::{Labelled, TableLabel, labels};
use serde::Serialize;

/// One cell of a controller's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerCell<A: 'static, S> {
    /// What the controller does, and its next state for the block.
    Does(&'static [A], S),
    /// The event waits for a change of state.
    Waits,
    /// The event is impossible, and why.
    Impossible(&'static str),
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

/// The table of one controller. States are numbers in the order of their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerTable<A: 'static> {
    states: Vec<TableLabel>,
    rests: Vec<bool>,
    /// Number of cells of each state.
    width: usize,
    cells: Vec<ControllerCell<A, u8>>,
}

impl<A: Copy> ControllerTable<A> {
    pub(crate) fn of<S: Labelled>(
        rests: impl Fn(S) -> bool,
        width: usize,
        row: impl Fn(S) -> Vec<ControllerCell<A, S>>,
    ) -> Self {
        let numbered = |cell| match cell {
            ControllerCell::Does(actions, next) => {
                ControllerCell::Does(actions, Labelled::index(next))
            }
            ControllerCell::Waits => ControllerCell::Waits,
            ControllerCell::Impossible(why) => ControllerCell::Impossible(why),
        };
        Self {
            states: labels::<S>(),
            rests: S::ALL.iter().map(|&state| rests(state)).collect(),
            width,
            cells: S::ALL.iter().flat_map(|&state| row(state)).map(numbered).collect(),
        }
    }

    /// The states.
    #[must_use]
    pub fn states(&self) -> &[TableLabel] {
        &self.states
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

    /// Number of cells.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// The cells, state by state.
    pub(crate) fn cells(&self) -> &[ControllerCell<A, u8>] {
        &self.cells
    }

    /// Position of a cell, below [`Self::cell_count`].
    pub(crate) fn at(&self, state: u8, column: usize) -> usize {
        usize::from(state) * self.width + column
    }

    /// The cell at a position.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> ControllerCell<A, u8> {
        self.cells[at]
    }

    /// Replaces the cell at a position.
    pub(crate) fn set_cell(&mut self, at: usize, cell: ControllerCell<A, u8>) {
        self.cells[at] = cell;
    }
}
