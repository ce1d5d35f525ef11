//! A protocol as plain data, explored by the model checker and followed by the simulators.

use crate::cell::{AnySender, ControllerStates, ControllerTable, CopyRole};
use crate::dash::vocabulary::{CacheAction, CacheEvent, HomeAction, HomeEvent, Sender};
use crate::sheet::{CACHE, HOME};

/// The controller of a cache; its first state is that without a copy.
pub type CacheTable = ControllerTable<CacheEvent, AnySender, CacheAction>;
/// The controller of a block's home; its first state is that in which no node has a copy.
pub type HomeTable = ControllerTable<HomeEvent, Sender, HomeAction>;

/// Every cell of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryTable {
    /// The controller of a cache.
    pub cache: CacheTable,
    /// The controller of a block's home.
    pub home: HomeTable,
    roles: Vec<CopyRole>,
}

impl DirectoryTable {
    /// Writes down every cell of the controllers with states `C` and `H`.
    #[must_use]
    pub fn of<C, H>(role: fn(C) -> CopyRole) -> Self
    where
        C: ControllerStates<Event = CacheEvent, Sender = AnySender, Action = CacheAction>,
        H: ControllerStates<Event = HomeEvent, Sender = Sender, Action = HomeAction>,
    {
        Self {
            cache: ControllerTable::of::<C>(CACHE),
            home: ControllerTable::of::<H>(HOME),
            roles: C::ALL.iter().map(|&state| role(state)).collect(),
        }
    }

    /// The role of a state of the cache's controller.
    #[must_use]
    pub fn role(&self, state: u8) -> CopyRole {
        self.roles[usize::from(state)]
    }
    /// Whether a state has a copy that the processor may use.
    #[must_use]
    pub fn has_copy(&self, state: u8) -> bool {
        self.role(state) != CopyRole::None
    }
}
