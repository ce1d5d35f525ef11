//! What each process does, in its own order: a trace taken apart.

mod conditions;
mod episodes;
mod kernel_model;
mod left_out;
mod operation;
mod pending;
mod per_cpu_areas;
mod split;

pub use kernel_model::ModelledKernel;
pub use operation::{OpKind, Operation};
pub use pending::{PendingOperations, ThreadStreams};
pub use per_cpu_areas::{PROCESSOR_RELATIVE, SimulatedAreas};
pub use split::StreamSplitter;
