//! Live programs: a program is run piece by piece as a simulation of a machine needs to know what
//! it does next.

mod config;
mod drive;
mod source;

pub use config::{LiveEnd, RunConfig, RunError};
pub(crate) use config::{check_config, processes};
pub(crate) use drive::{Pace, drive};
pub(crate) use source::LiveSource;
