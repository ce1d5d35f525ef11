//! A page protocol as plain data, explored by the model checker and followed by the simulators.

use homenode_protocol::Labelled;

use crate::cell::{AnySender, ControllerStates as StatesOf, ControllerTable};
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PagePermission, PageSender,
    ReleaseAction, ReleaseEvent,
};
use crate::sheet::{HOME, MAPPING, RELEASE};

/// A page in a node's page table; the first state is that of a page that is not mapped.
pub type MappingTable = ControllerTable<MappingEvent, AnySender, MappingAction>;
/// What a node owes for what it wrote to a page; the first state is that of nothing.
pub type ReleaseTable = ControllerTable<ReleaseEvent, AnySender, ReleaseAction>;
/// A page at its home; the first state is that in which no node maps it.
pub type PageHomeTable = ControllerTable<PageHomeEvent, PageSender, PageHomeAction>;

/// What a page protocol says of its states besides their cells.
pub trait PagedRules {
    /// States of a page in a node's page table.
    type Mapping: StatesOf<Event = MappingEvent, Sender = AnySender, Action = MappingAction>;
    /// States of what a node owes for what it wrote to a page.
    type Release: StatesOf<Event = ReleaseEvent, Sender = AnySender, Action = ReleaseAction>;
    /// States of a page at its home.
    type Home: StatesOf<Event = PageHomeEvent, Sender = PageSender, Action = PageHomeAction>;

    /// The accesses that a state of the mapping permits.
    fn permission(state: Self::Mapping) -> PagePermission;

    /// Whether the node's next acquire unmaps the page.
    fn is_noticed(state: Self::Mapping) -> bool;

    /// Whether the home has announced the number of acknowledgements.
    fn knows_due(state: Self::Release) -> bool;

    /// Whether the page is on the weak list.
    fn is_weak(state: Self::Home) -> bool;

    /// Whether a release notifies the home without waiting for the acknowledgements of its
    /// write-backs, so that `modified` may arrive before them.
    #[must_use]
    fn modified_overtakes() -> bool {
        false
    }
}

/// Every cell of a page protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagedTable {
    /// The page in a node's page table.
    pub mapping: MappingTable,
    /// What a node owes for what it wrote to the page.
    pub release: ReleaseTable,
    /// The controller of the page's home.
    pub home: PageHomeTable,
    permissions: Vec<PagePermission>,
    noticed: Vec<bool>,
    knows_due: Vec<bool>,
    weak: Vec<bool>,
    modified_overtakes: bool,
}

impl PagedTable {
    /// Writes down every cell of the rules.
    #[must_use]
    pub fn of<R: PagedRules>() -> Self {
        Self {
            mapping: ControllerTable::of::<R::Mapping>(MAPPING),
            release: ControllerTable::of::<R::Release>(RELEASE),
            home: ControllerTable::of::<R::Home>(HOME),
            permissions: R::Mapping::ALL.iter().map(|&state| R::permission(state)).collect(),
            noticed: R::Mapping::ALL.iter().map(|&state| R::is_noticed(state)).collect(),
            knows_due: R::Release::ALL.iter().map(|&state| R::knows_due(state)).collect(),
            weak: R::Home::ALL.iter().map(|&state| R::is_weak(state)).collect(),
            modified_overtakes: R::modified_overtakes(),
        }
    }

    /// The accesses that a state of a mapping permits.
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

    /// Whether `modified` may arrive before write-backs that its sender sent earlier.
    #[must_use]
    pub const fn modified_overtakes(&self) -> bool {
        self.modified_overtakes
    }
}
