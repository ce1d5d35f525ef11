//! Machines whose processors have coherent caches on a bus or with links.

mod config;
mod engine;
mod outcome;
mod plan;
mod protocols;
mod run;

pub(crate) use engine::ENGINE;
pub(crate) use plan::BusPlan;

pub use config::{AddressSpace, BusConfig, BusPoint, Contention};
pub use engine::simulate_bus;
pub use homenode_clock::critical_point;
pub use outcome::{
    BusMachineRecord, BusOutcome, BusProvenance, BusSimulation, KernelActivity, ProcessorWork,
    Scalability, WaitTotals,
};
pub use protocols::{
    ProtocolParameterRow, ProtocolReport, ProtocolRow, check_protocols, protocol_rows,
};
