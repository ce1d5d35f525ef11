//! A page protocol as plain data, explored by the model checker and followed by the simulators.

use homenode_protocol::Labelled;

use crate::cell::ControllerCell;
use crate::cell::ControllerTable;
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PagePermission, PageSender,
    ReleaseAction, ReleaseEvent,
};

/// A page protocol as its file writes it: total matches over its own states.
pub trait PagedRules {
    /// States of a page in a node's page table; the first one is that of a page that is not mapped.
    type Mapping: Labelled;
    /// States of what a node owes for what it wrote to a page; the first one is that of nothing.
    type Release: Labelled;
    /// States of a page at its home; the first one is that in which no node maps it.
    type Home: Labelled;

    /// The accesses that a state of the mapping permits.
    fn permission(state: Self::Mapping) -> PagePermission;

    /// Whether the node's next acquire unmaps the page.
    fn is_noticed(state: Self::Mapping) -> bool;

    /// Whether the home has announced the number of acknowledgements.
    fn knows_due(state: Self::Release) -> bool;

    /// Whether the page is on the weak list.
    fn is_weak(state: Self::Home) -> bool;

    /// Whether no transaction is in progress in this state.
    fn mapping_rests(state: Self::Mapping) -> bool;

    /// Whether nothing is owed in this state.
    fn release_rests(state: Self::Release) -> bool;

    /// The cell of a node's mapping.
    fn mapping(
        state: Self::Mapping,
        event: MappingEvent,
    ) -> ControllerCell<MappingAction, Self::Mapping>;

    /// The cell of a node's release.
    fn release(
        state: Self::Release,
        event: ReleaseEvent,
    ) -> ControllerCell<ReleaseAction, Self::Release>;

    /// The cell of the home's controller.
    fn home(
        state: Self::Home,
        event: PageHomeEvent,
        sender: PageSender,
    ) -> ControllerCell<PageHomeAction, Self::Home>;
}

/// A cell of a mapping.
pub type MappingCell = ControllerCell<MappingAction, u8>;
/// A cell of a release.
pub type ReleaseCell = ControllerCell<ReleaseAction, u8>;
/// A cell of the controller of a page's home.
pub type PageHomeCell = ControllerCell<PageHomeAction, u8>;

/// Every cell of a page protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagedTable {
    /// The page in a node's page table.
    pub mapping: ControllerTable<MappingAction>,
    /// What a node owes for what it wrote to the page.
    pub release: ControllerTable<ReleaseAction>,
    /// The controller of the page's home.
    pub home: ControllerTable<PageHomeAction>,
    permissions: Vec<PagePermission>,
    noticed: Vec<bool>,
    knows_due: Vec<bool>,
    weak: Vec<bool>,
}

impl PagedTable {
    /// Writes down every cell of the rules.
    #[must_use]
    pub fn of<R: PagedRules>() -> Self {
        let mapping =
            |state| MappingEvent::ALL.iter().map(|&event| R::mapping(state, event)).collect();
        let release =
            |state| ReleaseEvent::ALL.iter().map(|&event| R::release(state, event)).collect();
        let home = |state| {
            let events = PageHomeEvent::ALL.iter().flat_map(|&event| {
                PageSender::ALL.iter().map(move |&sender| R::home(state, event, sender))
            });
            events.collect()
        };
        let columns = PageHomeEvent::ALL.len() * PageSender::ALL.len();
        Self {
            mapping: ControllerTable::of(R::mapping_rests, MappingEvent::ALL.len(), mapping),
            release: ControllerTable::of(R::release_rests, ReleaseEvent::ALL.len(), release),
            // A home answers at once; a message that waits there counts as in flight.
            home: ControllerTable::of(|_| true, columns, home),
            permissions: R::Mapping::ALL.iter().map(|&state| R::permission(state)).collect(),
            noticed: R::Mapping::ALL.iter().map(|&state| R::is_noticed(state)).collect(),
            knows_due: R::Release::ALL.iter().map(|&state| R::knows_due(state)).collect(),
            weak: R::Home::ALL.iter().map(|&state| R::is_weak(state)).collect(),
        }
    }

    /// The accesses that a state of a mapping permits.
    #[inline]
    #[must_use]
    pub fn permission(&self, mapping: u8) -> PagePermission {
        self.permissions[usize::from(mapping)]
    }

    /// Whether the node's next acquire unmaps the page.
    #[must_use]
    pub fn is_noticed(&self, mapping: u8) -> bool {
        self.noticed[usize::from(mapping)]
    }

    /// Whether home has said how many nodes will acknowledge, in this state of a release.
    #[must_use]
    pub fn knows_due(&self, release: u8) -> bool {
        self.knows_due[usize::from(release)]
    }

    /// Whether a page is on the weak list in this state of its home.
    #[must_use]
    pub fn is_weak(&self, home: u8) -> bool {
        self.weak[usize::from(home)]
    }

    /// The cell of a node's mapping.
    #[inline]
    #[must_use]
    pub fn mapping_cell(&self, state: u8, event: MappingEvent) -> MappingCell {
        self.mapping.cell(self.mapping_cell_index(state, event))
    }

    /// The cell of a node's release.
    #[inline]
    #[must_use]
    pub fn release_cell(&self, state: u8, event: ReleaseEvent) -> ReleaseCell {
        self.release.cell(self.release_cell_index(state, event))
    }

    /// The cell of a home's controller.
    #[inline]
    #[must_use]
    pub fn home_cell(&self, state: u8, event: PageHomeEvent, sender: PageSender) -> PageHomeCell {
        self.home.cell(self.home_cell_index(state, event, sender))
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_mapping_cell(&mut self, state: u8, event: MappingEvent, cell: MappingCell) {
        let at = self.mapping_cell_index(state, event);
        self.mapping.set_cell(at, cell);
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_release_cell(&mut self, state: u8, event: ReleaseEvent, cell: ReleaseCell) {
        let at = self.release_cell_index(state, event);
        self.release.set_cell(at, cell);
    }

    /// Changes a cell, to plant bugs in tests.
    pub fn set_home_cell(
        &mut self,
        state: u8,
        event: PageHomeEvent,
        sender: PageSender,
        cell: PageHomeCell,
    ) {
        let at = self.home_cell_index(state, event, sender);
        self.home.set_cell(at, cell);
    }

    /// Position of a cell, below the controller's [`ControllerTable::cell_count`].
    pub(crate) fn mapping_cell_index(&self, state: u8, event: MappingEvent) -> usize {
        self.mapping.at(state, usize::from(event.index()))
    }

    /// The same for a release.
    pub(crate) fn release_cell_index(&self, state: u8, event: ReleaseEvent) -> usize {
        self.release.at(state, usize::from(event.index()))
    }

    /// The same for the home's controller.
    pub(crate) fn home_cell_index(
        &self,
        state: u8,
        event: PageHomeEvent,
        sender: PageSender,
    ) -> usize {
        let column =
            usize::from(event.index()) * PageSender::ALL.len() + usize::from(sender.index());
        self.home.at(state, column)
    }
}
