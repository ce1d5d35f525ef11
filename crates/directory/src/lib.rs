//! Machines with a directory: each block of memory has a home, whose controller knows which nodes
//! have copies of it, and nodes send each other messages.
//!
//! A protocol is a table for the controller of a cache and one for that of a home, with states in
//! which messages are under way ([`DirectoryTable`]), or, if software keeps pages coherent, tables
//! for handlers of an operating system ([`PagedTable`]). [`check`] explores them in every order of
//! messages; the simulators follow them.
#![forbid(unsafe_code)]

mod acts;
mod cell;
mod check;
mod clock;
mod counts;
mod dash;
mod entries;
mod entry;
mod finding;
pub mod home;
mod linked;
mod lrc;
mod mesh;
mod protocol;
mod replication;
mod setup;
mod sheet;

pub use cell::{
    AnySender, ControllerCell, ControllerStates, ControllerTable, CopyRole, MessageWay,
};
pub use check::check;
pub use clock::{directory_clock, linked_clock};
pub use counts::{CountedMessage, DirectoryCounts, MessageCounts, SentMessages};
pub use dash::{
    CacheAction, CacheEvent, CacheTable, DirectoryResult, DirectorySimulation, DirectoryTable,
    HomeAction, HomeEvent, HomeTable, Message, Recipient, Sender, check_blocks,
};
pub use finding::{DirectoryCheckReport, DirectoryFinding, DirectoryFindingKind, NODES_MAX};
pub use home::{
    HomeCost, HomeError, HomePolicy, HomeSetup, HomeSpec, MessageCost, NodeDemand, PageAllocators,
    PageDemand, PageDemands, PageUsage, ServedBlocks,
};
pub use homenode_cache::{CheckError, ClockError, MissCounts, MissRule};
pub use homenode_protocol::ProtocolError;
pub use linked::{
    CopyAction, CopyEvent, CopyMatter, CopyStates, CopyTable, ListClockSetup, ListCounts,
    ListHomeAction, ListHomeEvent, ListHomeTable, ListLatency, ListMessage, ListSender, ListTable,
    PROXIES, ProxyAllocation, ProxyEntry, ProxySetup, ProxyUse, check_linked,
};
pub use lrc::{
    MappingAction, MappingEvent, MappingTable, PageHomeAction, PageHomeEvent, PageHomeTable,
    PageMessage, PageMessageCounts, PagePermission, PageSender, PagedRules, PagedTable,
    ReleaseAction, ReleaseEvent, ReleaseTable, check_pages,
};
pub use mesh::{
    ClockedDirectoryResult, DirectoryClockSetup, DirectoryTiming, DistanceCost, HomeLoad,
    MeshShape, MissLatency, QueueLoad,
};
pub use protocol::{CoherenceTable, DirectoryProtocol, Entry, TABLE};
pub use replication::{PageReplication, REPLICATIONS, ReplicationEntry};
pub use setup::{
    DemandCollection, DirectorySetup, DirectorySetupError, HEADER_BYTES, MACHINE_NODES_MAX,
};
pub use sheet::{
    ControllerSheet, ControllerSheetCell, ControllerState, DirectorySheet, SheetAction,
    SheetMessage,
};

/// Walks through a few references, for readers.
pub mod walk {
    pub use crate::acts::{
        ActCause, ControllerAct, DirectoryEntry, DirectoryScene, DirectoryWalk, DirectoryWalkStep,
        DirectoryWalkTotals, PageEntry, PagedWalkError, UsedCell, WalkMessage,
    };
    pub use crate::dash::{DirectoryWalkError, walk};
    pub use crate::linked::walk_linked;
    pub use crate::lrc::{
        LineView, PageView, PagedScene, PagedWalk, PagedWalkStep, PagedWalkTotals, walk_pages,
    };
}
