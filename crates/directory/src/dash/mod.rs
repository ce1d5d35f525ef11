//! Protocols for blocks with a directory of nodes at each home, such as that of DASH.

mod check;
mod clock;
mod driver;
pub(crate) mod protocol;
mod sheet;
mod table;
mod trace_order;
mod vocabulary;
mod walk;

pub use check::check_blocks;
pub(crate) use clock::DashMemory;
pub use table::{CacheTable, DirectoryTable, HomeTable};
pub use trace_order::{DirectoryResult, DirectorySimulation};
pub use vocabulary::{CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender};
pub use walk::{DirectoryWalkError, walk};
