//! A protocol of lists as plain data: what the model checker explores and the simulator follows.

use homenode_protocol::Labelled;

use crate::list_vocabulary::{CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListSender};
use crate::table::ControllerTable;
use crate::vocabulary::{ControllerCell, CopyRole};

/// A protocol of lists as its file writes it: total matches over its own states.
pub trait ListRules {
    /// States of a block at a node; the first one is that without a copy.
    type Copy: Labelled;
    /// States of a block at its home; the first one is that in which nobody has a copy.
    type Home: Labelled;

    /// What a state promises.
    fn role(state: Self::Copy) -> CopyRole;

    /// Whether nothing is under way in this state.
    fn copy_rests(state: Self::Copy) -> bool;

    /// Whether the block is in no frame of the node's cache in this state, and only the node's
    /// controller has to do with it.
    fn is_leaving(state: Self::Copy) -> bool;

    /// Whether nothing is under way in this state.
    fn home_rests(state: Self::Home) -> bool;

    /// What a node's controller does.
    fn copy(state: Self::Copy, event: CopyEvent) -> ControllerCell<CopyAction, Self::Copy>;

    /// What the home's controller does.
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

/// Every cell of a protocol of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTable {
    /// The controller of a node, for a block that it may have a copy of.
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

    /// What a state of a copy promises.
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

    /// What a node's controller does.
    #[inline]
    #[must_use]
    pub fn copy_cell(&self, state: u8, event: CopyEvent) -> CopyCell {
        self.copy.cell(self.copy_cell_index(state, event))
    }

    /// What a home's controller does.
    #[inline]
    #[must_use]
    pub fn home_cell(&self, state: u8, event: ListHomeEvent, sender: ListSender) -> ListHomeCell {
        self.home.cell(self.home_cell_index(state, event, sender))
    }

    /// Changes a cell: how tests plant bugs.
    pub fn set_copy_cell(&mut self, (state, event): (u8, CopyEvent), cell: CopyCell) {
        let at = self.copy_cell_index(state, event);
        self.copy.set_cell(at, cell);
    }

    /// Changes a cell: how tests plant bugs.
    pub fn set_home_cell(
        &mut self,
        (state, event, sender): (u8, ListHomeEvent, ListSender),
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
