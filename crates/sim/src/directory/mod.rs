//! Machines whose nodes each have a directory for their part of memory.

mod clock;
mod config;
mod controllers;
mod live;
mod outcome;
mod plan;
mod protocols;
mod run;
mod uses;

pub(crate) use clock::{DirectoryClock, clock_setup, splitter};
pub(crate) use controllers::buffer_reads;
pub(crate) use plan::DirectoryPlan;

pub use config::{Consistency, DirectoryConfig, MeasuredFrom, PageMapping};
pub use live::run_directory;
pub use outcome::{
    CountedMessages, DirectoryMachineRecord, DirectoryOutcome, DirectoryProvenance, DirectoryStudy,
    DirectoryTimes,
};
pub use protocols::{
    ChoiceRow, DirectoryParameterRow, DirectoryProtocolReport, DirectoryProtocolRow, HomeRow,
    check_directory_protocols, directory_protocol_rows, home_rows, proxy_rows, replication_rows,
};
pub(crate) use run::marks_init_done;
pub use run::simulate_directory;
pub use uses::PageUseColumns;
