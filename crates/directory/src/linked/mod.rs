//! Protocols whose directory is a linked list of copies, on nodes with controllers.

mod check;
mod clock;
pub(crate) mod protocol;
mod proxies;
mod sheet;
mod table;
mod vocabulary;

pub use check::check_linked;
pub(crate) use clock::ListMemory;
pub use clock::{ListClockSetup, ListCounts, ListLatency, walk_linked};
pub use proxies::{PROXIES, ProxyAllocation, ProxyEntry, ProxySetup, ProxyUse};
pub use table::{CopyStates, CopyTable, ListHomeTable, ListTable};
pub use vocabulary::{
    CopyAction, CopyEvent, CopyMatter, ListHomeAction, ListHomeEvent, ListMessage, ListSender,
};
