//! Chapter 7: what false sharing costs at every block size on every machine, and who shares what.

mod config;
mod outcome;
mod plan;
mod run;
mod walk;

pub use config::SharingConfig;
pub use outcome::{SharingCostRow, SharingReport, SharingSizeRow};
pub use run::sharing;
