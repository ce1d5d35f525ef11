//! Machines whose processors have coherent caches on a bus or with links.

mod clock;
mod config;
mod live;
mod outcome;
mod plan;
mod protocols;
mod run;

pub(crate) use clock::{clock_of, splitter};
pub(crate) use plan::BusPlan;

pub use config::{AddressSpace, BusConfig, BusPoint, Contention, ReferenceOrder};
pub use homenode_clock::critical_point;
pub use live::run_bus;
pub use outcome::{
    BusMachineRecord, BusOutcome, BusProvenance, BusSimulation, KernelActivity, ProcessorWork,
    Scalability, WaitTotals,
};
pub use protocols::{
    ProtocolParameterRow, ProtocolReport, ProtocolRow, check_protocols, protocol_rows,
};
pub use run::simulate_bus;
