//! Machines whose nodes have a directory of their part of memory each.

mod checked;
mod clock;
mod config;
mod outcome;
mod plan;
mod protocols;
mod run;

pub use config::{Consistency, DirectoryConfig, MeasuredFrom};
pub use outcome::{
    CountedMessages, DirectoryMachineRecord, DirectoryOutcome, DirectoryProvenance, DirectoryStudy,
    DirectoryTimes,
};
pub use protocols::{
    DirectoryParameterRow, DirectoryProtocolReport, DirectoryProtocolRow, HomeRow, ReplicationRow,
    check_directory_protocols, directory_protocol_rows, home_rows, replication_rows,
};
pub use run::simulate_directory;
