//! Live programs: the program runs in turns, as the simulation needs its next operations.

mod config;
mod drive;
mod run;
mod source;

pub(crate) use config::processes;
pub use config::{LiveEnd, RunConfig, RunError};
pub(crate) use drive::Pace;
pub use run::{LiveParts, LiveRun, run_program};
pub(crate) use source::LiveSource;
