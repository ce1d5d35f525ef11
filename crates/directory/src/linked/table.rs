//! A linked-list protocol as plain data, explored by the model checker and followed by the
//! simulator.

use crate::cell::{AnySender, ControllerStates, ControllerTable, CopyRole};
use crate::linked::vocabulary::{CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListSender};
use crate::sheet::{COPY, HOME};

/// The controller of a node's copies; its first state is that without a copy.
pub type CopyTable = ControllerTable<CopyEvent, AnySender, CopyAction>;
/// The controller of a block's home; its first state is that in which no node has a copy.
pub type ListHomeTable = ControllerTable<ListHomeEvent, ListSender, ListHomeAction>;

/// What a linked-list protocol says of the states of a copy besides its cells.
pub trait CopyStates:
    ControllerStates<Event = CopyEvent, Sender = AnySender, Action = CopyAction>
{
    /// The role of a state.
    fn role(self) -> CopyRole;

    /// Whether the block has left the node's cache in this state, and only the node's controller
    /// handles it.
    fn is_leaving(self) -> bool;
}

/// Every cell of a linked-list protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTable {
    /// The controller of a node's copies.
    pub copy: CopyTable,
    /// The controller of a block's home.
    pub home: ListHomeTable,
    roles: Vec<CopyRole>,
    leaving: Vec<bool>,
}

impl ListTable {
    /// Writes down every cell of the controllers with states `C` and `H`.
    #[must_use]
    pub fn of<C, H>() -> Self
    where
        C: CopyStates,
        H: ControllerStates<Event = ListHomeEvent, Sender = ListSender, Action = ListHomeAction>,
    {
        Self {
            copy: ControllerTable::of::<C>(COPY),
            home: ControllerTable::of::<H>(HOME),
            roles: C::ALL.iter().map(|&state| state.role()).collect(),
            leaving: C::ALL.iter().map(|&state| state.is_leaving()).collect(),
        }
    }

    /// The role of a state of a copy.
    #[must_use]
    pub fn role(&self, state: u8) -> CopyRole {
        self.roles[usize::from(state)]
    }

    /// Whether a state has a copy that the processor may use.
    #[must_use]
    pub fn has_copy(&self, state: u8) -> bool {
        self.role(state) != CopyRole::None
    }

    /// Whether a block in this state is out of the node's cache.
    #[must_use]
    pub fn is_leaving(&self, state: u8) -> bool {
        self.leaving[usize::from(state)]
    }
}
