//! Machines whose nodes have a directory of their part of memory each.

mod config;
mod outcome;
mod plan;
mod protocols;
mod run;

pub use config::DirectoryConfig;
pub use outcome::{DirectoryMachineRecord, DirectoryOutcome, DirectoryProvenance, DirectoryStudy};
pub use protocols::{
    DirectoryParameterRow, DirectoryProtocolReport, DirectoryProtocolRow, HomeRow,
    check_directory_protocols, directory_protocol_rows, home_rows,
};
pub use run::simulate_directory;
