//! A protocol as plain data, explored by the model checker and followed by the simulators.

use homenode_protocol::Labelled;

use crate::cell::{ControllerCell, ControllerTable, CopyRole};
use crate::dash::vocabulary::{CacheAction, CacheEvent, HomeAction, HomeEvent, Sender};

/// A protocol as its file writes it: total matches over its own states.
pub trait DirectoryRules {
    /// States of a block in a cache's controller; the first one is that without a copy.
    type Cache: Labelled;
    /// States of a block at its home; the first one is that in which no node has a copy.
    type Home: Labelled;

    /// The role of a state of the cache's controller.
    fn role(state: Self::Cache) -> CopyRole;

    /// Whether no transaction is in progress in this state.
    fn cache_rests(state: Self::Cache) -> bool;

    /// The same for the home's controller.
    fn home_rests(state: Self::Home) -> bool;

    /// The cell of the cache's controller.
    fn cache(state: Self::Cache, event: CacheEvent) -> ControllerCell<CacheAction, Self::Cache>;

    /// The cell of the home's controller.
    fn home(
        state: Self::Home,
        event: HomeEvent,
        sender: Sender,
    ) -> ControllerCell<HomeAction, Self::Home>;
}

/// A cell of a cache's controller.
pub type CacheCell = ControllerCell<CacheAction, u8>;
/// A cell of a home's controller.
pub type HomeCell = ControllerCell<HomeAction, u8>;

/// Every cell of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryTable {
    /// The controller of a cache.
    pub cache: ControllerTable<CacheAction>,
    /// The controller of a block's home.
    pub home: ControllerTable<HomeAction>,
    roles: Vec<CopyRole>,
}

impl DirectoryTable {
    /// Writes down every cell of the rules.
    #[must_use]
    pub fn of<R: DirectoryRules>() -> Self {
        let cache = |state| CacheEvent::ALL.iter().map(|&event| R::cache(state, event)).collect();
        let home = |state| {
            let events = HomeEvent::ALL.iter().flat_map(|&event| {
                Sender::ALL.iter().map(move |&sender| R::home(state, event, sender))
            });
            events.collect()
        };
        let columns = HomeEvent::ALL.len() * Sender::ALL.len();
        Self {
            cache: ControllerTable::of(R::cache_rests, CacheEvent::ALL.len(), cache),
            home: ControllerTable::of(R::home_rests, columns, home),
            roles: R::Cache::ALL.iter().map(|&state| R::role(state)).collect(),
        }
    }

    /// The role of a state of the cache's controller.
    #[must_use]
    pub fn role(&self, state: u8) -> CopyRole {
        self.roles[usize::from(state)]
    }

    /// The cell of a cache's controller.
    #[inline]
    #[must_use]
    pub fn cache_cell(&self, state: u8, event: CacheEvent) -> CacheCell {
        self.cache.cell(self.cache_cell_index(state, event))
    }

    /// The cell of a home's controller.
    #[inline]
    #[must_use]
    pub fn home_cell(&self, state: u8, event: HomeEvent, sender: Sender) -> HomeCell {
        self.home.cell(self.home_cell_index(state, event, sender))
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_cache_cell(&mut self, state: u8, event: CacheEvent, cell: CacheCell) {
        let at = self.cache_cell_index(state, event);
        self.cache.set_cell(at, cell);
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_home_cell(&mut self, state: u8, event: HomeEvent, sender: Sender, cell: HomeCell) {
        let at = self.home_cell_index(state, event, sender);
        self.home.set_cell(at, cell);
    }

    /// Position of a cell, below the controller's [`ControllerTable::cell_count`].
    pub(crate) fn cache_cell_index(&self, state: u8, event: CacheEvent) -> usize {
        self.cache.at(state, usize::from(event.index()))
    }

    /// The same for the home's controller.
    pub(crate) fn home_cell_index(&self, state: u8, event: HomeEvent, sender: Sender) -> usize {
        let column = usize::from(event.index()) * Sender::ALL.len() + usize::from(sender.index());
        self.home.at(state, column)
    }
}
