//! Traces of multiprogrammed servers, made from the statistics that a publication prints.
//!
//! A file states for each group of processes how many references it makes, which shares of them
//! fetch and write, how many blocks it touches and shares ([`Statistics`]). From these and a seed
//! follows a trace ([`write()`]), reference by reference; memory does not grow with its length.
//!
//! Source: the idea is that of Trace Factory (Giorgi, Prete, Prina and Ricciardi 1997; Foglia,
//! Giorgi and Prete 2004, section 4), which combines traces of processes into a workload. Here the
//! traces of the processes are made as well.
//!
//! # Deviations
//! Trace Factory's processes are recorded, and its scheduler is part of the tool; here processes
//! take turns of equal length, and a simulation schedules them.

mod areas;
mod error;
mod odds;
mod plan;
mod presets;
mod process;
mod rules;
mod session;
mod sourced;
mod statistics;
mod walk;
mod writer;
mod zipf;

pub use error::ServersError;
pub use plan::{GroupPlan, Plan};
pub use presets::{StatisticsPreset, TABLE, find};
pub use statistics::{
    Group, Kernel, Lengths, Overrides, Sessions, Statistics, TraceShape, WalkLocality,
};
pub use writer::{ServersProgress, write};
