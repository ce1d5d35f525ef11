//! Machines whose processors have coherent caches on a bus or with links.

mod config;
mod engine;
mod outcome;
mod plan;
mod protocols;
mod run;

pub(crate) use engine::ENGINE;
pub(crate) use plan::BusPlan;

pub use config::{BusConfig, BusPoint, Contention};
pub use engine::simulate_bus;
pub use homenode_clock::critical_point;
pub use outcome::{BusOutcome, BusSimulation, WaitTotals};
pub use protocols::{check_protocols, protocol_rows};
