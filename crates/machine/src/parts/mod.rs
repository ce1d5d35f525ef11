//! The parts of machines: each with its numbers, as files give them.

mod cache;
mod clock;
mod kernel;
mod memory;
mod processor;
mod scheduler;
mod sourced;

pub use cache::CacheShape;
pub use kernel::KernelModel;
pub use processor::ProcessorModel;
pub use scheduler::{Dispatch, SchedulerModel};

pub(crate) use cache::{Caches, LastLevel};
pub(crate) use clock::NodeClock;
pub(crate) use memory::MemoryModel;
pub(crate) use sourced::{Sourced, sourced, sourced_optional};

/// Most cycles of one operation: the sum of 2^30 of them still fits into 64 bits.
const CYCLES_MAX: u64 = 1 << 32;

/// Checks that a number of cycles can be added up.
pub(crate) fn within_cycles(what: &str, cycles: u64) -> Result<(), String> {
    if cycles <= CYCLES_MAX {
        return Ok(());
    }
    Err(format!("{what} is {cycles}: expected at most {CYCLES_MAX}"))
}
