//! Splits a trace into one stream of operations per process.

mod conditions;
mod episodes;
mod events;
mod excluded;
mod forecast;
mod generations;
mod kernel_model;
mod live;
mod operation;
mod packed;
mod pending;
mod per_cpu_areas;
mod portions;
mod split;
mod system_calls;
mod turn;

pub use forecast::StreamForecast;
pub use kernel_model::ModelledKernel;
pub use operation::{OPEN, OpKind, Operation};
pub use pending::{PendingOperations, ThreadStreams};
pub use per_cpu_areas::{PROCESSOR_RELATIVE, SimulatedAreas};
pub use portions::{Portion, PortionPool};
pub use split::StreamSplitter;
