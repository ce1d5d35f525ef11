//! The registry of engines, and [`run`]`(config, trace)`.
//!
//! A room for each engine and study, with the same steps in it: what a user asks for (`config`),
//! the same checked (`plan`), the simulation (`run`), and the results as they are printed
//! (`outcome`). Passes over the trace, with threads, memory and progress, are in `pass`.

mod advise;
mod bus;
mod error;
mod explain;
mod footprint;
mod machines;
mod optimal;
mod pass;
mod picture;
mod placement;
mod pmap;
mod ratio;
mod sharing;
mod tlb;

pub use advise::{AdviceConfig, AdvicePoint, AdviceReport, AdviceRow, Side, advise};
pub use bus::{
    Addresses, Areas, BusConfig, BusMachineRecord, BusOutcome, BusPoint, BusProvenance,
    BusSimulation, Included, KernelActivity, Order, ProtocolParameter, ProtocolReport, ProtocolRow,
    Scalability, Work, check_protocols, critical_point, protocol_rows, simulate_bus,
};
pub use error::SimError;
pub use explain::{ExplainConfig, Explained, Explanation, TracePart, explain, explain_examples};
pub use footprint::{FootprintConfig, footprint};
pub use machines::{BusModel, MachineRow, RowModel, RowPrices, are_on_bus, machine_rows};
pub use optimal::{
    Certified, CurvePiece, CurveReport, Format as PlacementFormat, MoveBin, Moves, OptimalConfig,
    OptimalReport, OptimalRow, Output as PlacementOutput, optimal,
};
pub use pass::{Progress, TraceSource};
pub use picture::{PictureConfig, sharing_picture};
pub use placement::{
    Columns, Latency, Outcome, POLICIES, PolicyRow, PriceRecord, Provenance, SimConfig, Simulation,
    Traffic, WorstBlocks, policy_rows, run, worst_blocks,
};
pub use pmap::{
    ActionRow, PageConfig, PagePolicyRow, PageRecord, PageReport, action_table, manage_pages,
    page_policy_rows,
};
pub use sharing::{CostRow, SharingConfig, SharingReport, SizeRow, sharing};
pub use tlb::{
    Corrected, Correction, Counted, TlbConfig, TlbOutcome, TlbProvenance, TlbRow, TlbStudy,
    tlb_misses, tlb_rows,
};
