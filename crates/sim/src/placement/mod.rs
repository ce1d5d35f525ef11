//! The placement engine over a matrix of machines, policies and block sizes.
//!
//! A simulation is a matrix: machines x policies x block sizes over one trace. [`run`] checks the
//! whole matrix before it reads a reference, makes as few passes over the trace as memory allows,
//! walks every history once per distinct policy, and prices the counts.
//!
//! Invariant: the outcomes do not depend on the number of threads or on the memory budget, because
//! counts are integers that merge by addition and blocks are independent.

mod config;
mod counted;
mod engine;
mod outcome;
mod plan;
mod policies;
mod realign;
mod run;
mod walk;
mod worst;

pub(crate) use counted::{CountedReferences, on_counted};
pub(crate) use engine::ENGINE;
pub(crate) use outcome::{assemble, nanoseconds, provenance};
pub(crate) use plan::{MatrixPlan, SizePlan};
pub(crate) use walk::SizeCounts;
pub(crate) use walk::ranges;

pub use config::SimConfig;
pub use outcome::{PlacementOutcome, PlacementProvenance, PlacementSimulation};
pub use policies::{POLICIES, PolicyRow, policy_rows};
pub use run::{run, run_policies};
pub use worst::{WorstBlocks, worst_blocks};
