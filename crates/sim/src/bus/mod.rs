//! Machines whose processors share a bus.

mod cache;
mod clock;
mod config;
mod outcome;
mod plan;
mod protocols;
mod run;
mod trace_order;

pub(crate) use cache::{private_areas, resized};

pub use config::{Addresses, Areas, BusConfig, BusPoint, Included, Order};
pub use homenode_snoop::critical_point;
pub use outcome::{
    BusMachineRecord, BusOutcome, BusProvenance, BusSimulation, KernelActivity, Scalability, Work,
};
pub use protocols::{
    ProtocolParameter, ProtocolReport, ProtocolRow, check_protocols, protocol_rows,
};
pub use run::simulate_bus;
