//! Machines whose nodes have a directory of their part of memory each.

mod clock;
mod config;
mod outcome;
mod plan;
mod protocols;
mod run;

pub use config::{Consistency, DirectoryConfig, MeasuredFrom};
pub use outcome::{
    DirectoryMachineRecord, DirectoryOutcome, DirectoryProvenance, DirectoryStudy, DirectoryTimes,
};
pub use protocols::{
    DirectoryParameterRow, DirectoryProtocolReport, DirectoryProtocolRow, HomeRow,
    check_directory_protocols, directory_protocol_rows, home_rows,
};
pub use run::simulate_directory;
