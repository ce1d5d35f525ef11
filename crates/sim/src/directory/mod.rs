//! Machines whose nodes each have a directory for their part of memory.

mod allocations;
mod config;
mod controllers;
mod engine;
mod first_run;
mod outcome;
mod plan;
mod protocols;
mod run;
mod uses;

pub(crate) use controllers::buffer_reads;
pub(crate) use engine::ENGINE;
pub(crate) use plan::DirectoryPlan;

pub use config::{DirectoryConfig, PageMapping};
pub use protocols::{check_directory_protocols, directory_protocol_rows};
