//! Machines with a directory: each block of memory has a home, whose controller knows who has
//! copies of it, and nodes send each other messages.
//!
//! A protocol is a table for the controller of a cache and one for that of a home, with states in
//! which messages are under way ([`DirectoryTable`]), or, if software keeps pages coherent, tables
//! for handlers of an operating system ([`PagedTable`]). [`check`] explores them in every order of
//! messages; the simulators follow them.
#![forbid(unsafe_code)]

mod check;
mod clock;
mod counts;
mod driver;
mod entries;
pub mod home;
mod list_table;
mod list_vocabulary;
mod page_driver;
mod page_table;
mod page_vocabulary;
mod protocol;
mod proxies;
mod replication;
mod setup;
mod sheet;
mod table;
mod trace_order;
mod vocabulary;
pub mod walk;

pub use check::{
    DirectoryCheckReport, DirectoryFinding, DirectoryFindingKind, NODES_MAX, check, check_blocks,
    check_lists, check_pages,
};
pub use clock::{
    ClockedDirectoryResult, DirectoryClock, DirectoryClockSetup, DirectoryTiming, DistanceCost,
    HomeLoad, ListClockSetup, ListCounts, ListLatency, MeshShape, MissLatency, PageMessageCounts,
    QueueLoad,
};
pub use counts::{DirectoryCounts, MessageCounts};
pub use home::{
    HomeCost, HomeError, HomePolicy, HomeSetup, HomeSpec, MessageCost, NodeDemand, PageDemand,
    PageDemands, PageUsage, ServedBlocks,
};
pub use homenode_cache::{CheckError, ClockError, MissCounts, MissRule};
pub use homenode_protocol::ProtocolError;
pub use list_table::{CopyCell, ListHomeCell, ListRules, ListTable};
pub use list_vocabulary::{
    CopyAction, CopyEvent, CopyMatter, ListHomeAction, ListHomeEvent, ListMessage, ListMessageKind,
    ListSender,
};
pub use page_driver::{PageAnswer, PageDriver, PageEffect, PageEnd, PageFault, SentPageMessage};
pub use page_table::{MappingCell, PageHomeCell, PagedRules, PagedTable, ReleaseCell};
pub use page_vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PagePermission,
    PageSender, ReleaseAction, ReleaseEvent,
};
pub use protocol::{CoherenceTable, DirectoryProtocol, Entry, TABLE};
pub use proxies::{PROXIES, ProxyAllocation, ProxyEntry, ProxySetup, ProxyUse};
pub use replication::{PageReplication, REPLICATIONS, ReplicationEntry};
pub use setup::{
    DemandCollection, DirectorySetup, DirectorySetupError, HEADER_BYTES, MACHINE_NODES_MAX,
};
pub use sheet::{
    ControllerSheet, ControllerSheetCell, ControllerState, DirectorySheet, SheetAction,
    SheetMessage,
};
pub use table::{CacheCell, ControllerTable, DirectoryRules, DirectoryTable, HomeCell};
pub use trace_order::{DirectoryResult, DirectorySimulation};
pub use vocabulary::{
    CacheAction, CacheEvent, ControllerCell, CopyRole, HomeAction, HomeEvent, Message, MessageKind,
    MessageWay, Recipient, Sender,
};
