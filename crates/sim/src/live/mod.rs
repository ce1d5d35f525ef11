//! Live programs: the program runs in turns, as the simulation needs its next operations.

mod config;
mod drive;
mod source;

pub use config::{LiveEnd, RunConfig, RunError};
pub(crate) use config::{check_config, processes};
pub(crate) use drive::{Pace, drive};
pub(crate) use source::LiveSource;
