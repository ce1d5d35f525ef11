//! Chapter 7: the cost of false sharing at every block size on every machine, and its location.

mod config;
mod outcome;
mod run;
mod walk;

pub use config::SharingConfig;
pub use outcome::SharingReport;
pub use run::sharing;
