//! A protocol of pages as plain data: what the model checker explores and the simulators follow.

use homenode_protocol::Labelled;

use crate::page_vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PagePermission, PageSender,
    ReleaseAction, ReleaseEvent,
};
use crate::table::ControllerTable;
use crate::vocabulary::ControllerCell;

/// A protocol of pages as its file writes it: total matches over its own states.
pub trait PagedRules {
    /// States of a page in a node's page table; the first one is that of a page that is not mapped.
    type Mapping: Labelled;
    /// States of what a node owes for what it wrote to a page; the first one is that of nothing.
    type Release: Labelled;
    /// States of a page at its home; the first one is that in which nobody maps it.
    type Home: Labelled;

    /// What a state of the mapping lets the processor do.
    fn permission(state: Self::Mapping) -> PagePermission;

    /// Whether the node's next acquire has to be told of the page.
    fn is_noticed(state: Self::Mapping) -> bool;

    /// Whether home has said how many nodes will acknowledge.
    fn knows_due(state: Self::Release) -> bool;

    /// Whether the page is on the weak list.
    fn is_weak(state: Self::Home) -> bool;

    /// Whether nothing is under way in this state.
    fn mapping_rests(state: Self::Mapping) -> bool;

    /// Whether nothing is owed in this state.
    fn release_rests(state: Self::Release) -> bool;

    /// What a node does about its mapping.
    fn mapping(
        state: Self::Mapping,
        event: MappingEvent,
    ) -> ControllerCell<MappingAction, Self::Mapping>;

    /// What a node does about what it owes.
    fn release(
        state: Self::Release,
        event: ReleaseEvent,
    ) -> ControllerCell<ReleaseAction, Self::Release>;

    /// What the home's controller does.
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

/// Every cell of a protocol of pages.
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
            // A home answers at once; what waits there is a message under way.
            home: ControllerTable::of(|_| true, columns, home),
            permissions: R::Mapping::ALL.iter().map(|&state| R::permission(state)).collect(),
            noticed: R::Mapping::ALL.iter().map(|&state| R::is_noticed(state)).collect(),
            knows_due: R::Release::ALL.iter().map(|&state| R::knows_due(state)).collect(),
            weak: R::Home::ALL.iter().map(|&state| R::is_weak(state)).collect(),
        }
    }

    /// What a state of a mapping lets the processor do.
    #[inline]
    #[must_use]
    pub fn permission(&self, mapping: u8) -> PagePermission {
        self.permissions[usize::from(mapping)]
    }

    /// Whether the node's next acquire has to be told of the page.
    #[must_use]
    pub fn is_noticed(&self, mapping: u8) -> bool {
        self.noticed[usize::from(mapping)]
    }

    /// Whether home has said how many nodes will acknowledge, in this state of a release.
    #[must_use]
    pub fn knows_due(&self, release: u8) -> bool {
        self.knows_due[usize::from(release)]
    }

    /// Whether a page is on the weak list in this state at home.
    #[must_use]
    pub fn is_weak(&self, home: u8) -> bool {
        self.weak[usize::from(home)]
    }

    /// What a node does about its mapping.
    #[inline]
    #[must_use]
    pub fn mapping_cell(&self, state: u8, event: MappingEvent) -> MappingCell {
        self.mapping.cell(self.mapping_cell_index(state, event))
    }

    /// What a node does about what it owes.
    #[inline]
    #[must_use]
    pub fn release_cell(&self, state: u8, event: ReleaseEvent) -> ReleaseCell {
        self.release.cell(self.release_cell_index(state, event))
    }

    /// What a home's controller does.
    #[inline]
    #[must_use]
    pub fn home_cell(&self, state: u8, event: PageHomeEvent, sender: PageSender) -> PageHomeCell {
        self.home.cell(self.home_cell_index(state, event, sender))
    }

    /// Changes a cell: how tests plant bugs.
    pub fn set_mapping_cell(&mut self, (state, event): (u8, MappingEvent), cell: MappingCell) {
        let at = self.mapping_cell_index(state, event);
        self.mapping.set_cell(at, cell);
    }

    /// Changes a cell: how tests plant bugs.
    pub fn set_release_cell(&mut self, (state, event): (u8, ReleaseEvent), cell: ReleaseCell) {
        let at = self.release_cell_index(state, event);
        self.release.set_cell(at, cell);
    }

    /// Changes a cell: how tests plant bugs.
    pub fn set_home_cell(
        &mut self,
        (state, event, sender): (u8, PageHomeEvent, PageSender),
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
