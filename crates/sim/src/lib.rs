//! The registry of engines, and [`run`]`(config, trace)`.
//!
//! A simulation is a matrix: machines x policies x block sizes over one trace. [`run`] checks the
//! whole matrix before it reads a reference, passes over the trace as rarely as memory allows,
//! walks every history once per distinct policy, and prices the counts.
//!
//! Invariant: the outcomes are the same on any number of threads and under any memory budget,
//! because counts are integers that merge by addition and blocks are independent.

mod advise;
mod bus;
mod error;
mod explain;
mod footprint;
mod list;
mod optimal;
mod pass;
mod picture;
mod placement;
mod pmap;
mod sharing;
mod tlb;

pub use advise::{AdviceConfig, AdvicePoint, AdviceReport, AdviceRow, Side, advise};
pub use bus::{
    Addresses, Areas, BusConfig, BusMachineRecord, BusOutcome, BusPoint, BusProvenance,
    BusSimulation, Included, KernelActivity, Order, ProtocolParameter, ProtocolReport, ProtocolRow,
    Scalability, Work, are_on_bus, check_protocols, critical_point, protocol_rows, simulate_bus,
};
pub use error::SimError;
pub use explain::{ExplainConfig, Explained, Explanation, TracePart, explain, explain_examples};
pub use footprint::{FootprintConfig, footprint};
pub use list::{BusModel, MachineRow, PolicyRow, RowModel, RowPrices, machine_rows, policy_rows};
pub use optimal::{
    Certified, CurvePiece, CurveReport, Format as PlacementFormat, MoveBin, Moves, OptimalConfig,
    OptimalReport, OptimalRow, Output as PlacementOutput, optimal,
};
pub use pass::source::TraceSource;
pub use picture::{PictureConfig, sharing_picture};
pub use placement::columns::{Columns, Latency, Traffic};
pub use placement::config::SimConfig;
pub use placement::outcome::{Outcome, PriceRecord, Provenance, Simulation};
pub use placement::worst::{WorstBlocks, worst_blocks};
pub use pmap::{
    ActionRow, PageConfig, PagePolicyRow, PageRecord, PageReport, action_table, manage_pages,
    page_policy_rows,
};
pub use sharing::{CostRow, SharingConfig, SharingReport, SizeRow, sharing};
pub use tlb::{
    Corrected, Correction, Counted, TlbConfig, TlbOutcome, TlbProvenance, TlbRow, TlbStudy,
    tlb_misses, tlb_rows,
};

use std::ops::ControlFlow;

use homenode_placement::policy::Entry;

/// All policies the placement engine and the optimum offer, in the order of lists.
pub const POLICIES: &[&[Entry]] =
    &[homenode_optimal::TABLE, homenode_placement::TABLE, homenode_placement::coherence::TABLE];

/// Called now and then with the work done and the total, in units of references simulated.
/// `Break` ends the run with [`SimError::Interrupted`].
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>;

/// Simulates the matrix that the configuration describes. Outcomes come machine by machine, for
/// each policy by policy, for each block size by block size, in the order of the configuration.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn run<T: TraceSource + ?Sized>(
    config: &SimConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<Simulation, SimError> {
    let as_it_is = SimConfig { realign: None, ..config.clone() };
    let plan =
        placement::plan::Plan::new(&as_it_is, trace)?.for_counts().realigned(config.realign)?;
    let counts = placement::run::count(&plan, config, trace, progress)?;
    Ok(placement::outcome::assemble(&plan, &counts, trace))
}
