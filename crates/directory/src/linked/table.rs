//! A linked-list protocol as plain data, explored by the model checker and followed by the
//! simulator.

use homenode_protocol::Labelled;

use crate::cell::ControllerTable;
use crate::cell::{ControllerCell, CopyRole};
use crate::linked::vocabulary::{CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListSender};

/// A linked-list protocol as its file writes it: total matches over its own states.
pub trait ListRules {
    /// States of a block at a node; the first one is that without a copy.
    type Copy: Labelled;
    /// States of a block at its home; the first one is that in which no node has a copy.
    type Home: Labelled;

    /// The role of a state.
    fn role(state: Self::Copy) -> CopyRole;

    /// Whether no transaction is in progress in this state.
    fn copy_rests(state: Self::Copy) -> bool;

    /// Whether the block has left the node's cache in this state, and only the node's controller
    /// handles it.
    fn is_leaving(state: Self::Copy) -> bool;

    /// Whether no transaction is in progress in this state.
    fn home_rests(state: Self::Home) -> bool;

    /// The cell of a node's controller.
    fn copy(state: Self::Copy, event: CopyEvent) -> ControllerCell<CopyAction, Self::Copy>;

    /// The cell of the home's controller.
    fn home(
        state: Self::Home,
        event: ListHomeEvent,
        sender: ListSender,
    ) -> ControllerCell<ListHomeAction, Self::Home>;
}

/// A cell of a node's controller.
pub type CopyCell = ControllerCell<CopyAction, u8>;
/// A cell of a home's controller.
pub type ListHomeCell = ControllerCell<ListHomeAction, u8>;

/// Every cell of a linked-list protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTable {
    /// The controller of a node's copies.
    pub copy: ControllerTable<CopyAction>,
    /// The controller of a block's home.
    pub home: ControllerTable<ListHomeAction>,
    roles: Vec<CopyRole>,
    leaving: Vec<bool>,
}

impl ListTable {
    /// Writes down every cell of the rules.
    #[must_use]
    pub fn of<R: ListRules>() -> Self {
        let copy = |state| CopyEvent::ALL.iter().map(|&event| R::copy(state, event)).collect();
        let home = |state| {
            let events = ListHomeEvent::ALL.iter().flat_map(|&event| {
                ListSender::ALL.iter().map(move |&sender| R::home(state, event, sender))
            });
            events.collect()
        };
        let columns = ListHomeEvent::ALL.len() * ListSender::ALL.len();
        Self {
            copy: ControllerTable::of(R::copy_rests, CopyEvent::ALL.len(), copy),
            home: ControllerTable::of(R::home_rests, columns, home),
            roles: R::Copy::ALL.iter().map(|&state| R::role(state)).collect(),
            leaving: R::Copy::ALL.iter().map(|&state| R::is_leaving(state)).collect(),
        }
    }

    /// The role of a state of a copy.
    #[inline]
    #[must_use]
    pub fn role(&self, state: u8) -> CopyRole {
        self.roles[usize::from(state)]
    }

    /// Whether a block in this state is out of the node's cache.
    #[inline]
    #[must_use]
    pub fn is_leaving(&self, state: u8) -> bool {
        self.leaving[usize::from(state)]
    }

    /// The cell of a node's controller.
    #[inline]
    #[must_use]
    pub fn copy_cell(&self, state: u8, event: CopyEvent) -> CopyCell {
        self.copy.cell(self.copy_cell_index(state, event))
    }

    /// The cell of a home's controller.
    #[inline]
    #[must_use]
    pub fn home_cell(&self, state: u8, event: ListHomeEvent, sender: ListSender) -> ListHomeCell {
        self.home.cell(self.home_cell_index(state, event, sender))
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_copy_cell(&mut self, state: u8, event: CopyEvent, cell: CopyCell) {
        let at = self.copy_cell_index(state, event);
        self.copy.set_cell(at, cell);
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_home_cell(
        &mut self,
        state: u8,
        event: ListHomeEvent,
        sender: ListSender,
        cell: ListHomeCell,
    ) {
        let at = self.home_cell_index(state, event, sender);
        self.home.set_cell(at, cell);
    }

    /// Position of a cell, below the controller's [`ControllerTable::cell_count`].
    pub(crate) fn copy_cell_index(&self, state: u8, event: CopyEvent) -> usize {
        self.copy.at(state, usize::from(event.index()))
    }

    /// The same for the home's controller.
    pub(crate) fn home_cell_index(
        &self,
        state: u8,
        event: ListHomeEvent,
        sender: ListSender,
    ) -> usize {
        let column =
            usize::from(event.index()) * ListSender::ALL.len() + usize::from(sender.index());
        self.home.at(state, column)
    }
}
