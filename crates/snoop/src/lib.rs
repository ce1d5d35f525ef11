//! The shared-bus multiprocessor (Foglia, Giorgi and Prete 2004): coherence protocols as tables.
//!
//! A protocol is one file in [`protocol`], a total match over states, events and conditions.
//! Its [`ProtocolTable`] is explored by the model checker ([`check()`]), executed by the simulator,
//! and printed for users.
//!
//! ```
//! use homenode_snoop::{ProtocolSpec, check};
//! let mesi = ProtocolSpec::parse("mesi")?;
//! assert_eq!(check(&mesi.table()).findings, []);
//! # Ok::<(), homenode_snoop::ProtocolError>(())
//! ```
#![forbid(unsafe_code)]

mod bus;
mod check;
mod clocked;
mod counts;
mod driver;

pub mod protocol;
mod setup;
mod sheet;
mod table;
mod trace_order;
mod vocabulary;
pub mod walk;

pub use bus::{BusClockSetup, bus_clock};
pub use check::{BusFinding, CACHES_MAX, CheckReport, FindingKind, check};
pub use clocked::{BusResult, ClockedCaches};
pub use counts::{BusCounts, ContextSwitchMisses, OriginCounts, Transactions};
pub use driver::{CheckError, ProtocolDriver};
pub use homenode_cache::{
    ClockError, CoherenceCounts, KernelCounts, MissClass, MissCounts, MissRule, SharingClass,
    WaitCause, Waits, WaitsByCause, WordWaits,
};
pub use homenode_protocol::{Labelled, ProtocolError, ProtocolParameter, TableLabel};

pub use protocol::{Entry, Example, ProtocolSpec, TABLE};
pub use setup::{BusSetup, BusSetupError, PROCESSORS_MAX};
pub use sheet::{BusSheet, SheetReply, SheetRow};
pub use table::{ProtocolRules, ProtocolTable};
pub use trace_order::TraceOrderSimulation;
pub use vocabulary::{
    Action, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction,
};
