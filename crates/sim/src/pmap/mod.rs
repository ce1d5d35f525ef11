//! The ACE page manager over a trace.

mod config;
mod freed;
mod outcome;
mod run;
mod totals;

pub use config::PmapConfig;
pub use outcome::PmapReport;
pub use outcome::pmap_actions;
pub use run::pmap;
