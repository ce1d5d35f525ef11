//! Protocols that keep pages coherent in software, such as lazy release consistency.

mod check;
mod clock;
mod driver;
pub(crate) mod protocol;
mod sheet;
mod table;
mod vocabulary;

pub use check::check_pages;
pub(crate) use clock::LrcMemory;
pub use clock::{
    LineView, PageView, PagedScene, PagedWalk, PagedWalkStep, PagedWalkTotals, walk_pages,
};
pub use table::{MappingTable, PageHomeTable, PagedRules, PagedTable, ReleaseTable};
pub use vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PageMessageCounts,
    PagePermission, PageSender, ReleaseAction, ReleaseEvent,
};
