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
pub use scheduler::{AgingUnit, Dispatch, SchedulerModel};

pub(crate) use cache::Caches;
pub(crate) use clock::NodeClock;
pub(crate) use memory::MemoryModel;
pub(crate) use sourced::without_sources;

/// Most cycles of one operation: the sum of 2^30 of them still fits into 64 bits.
const CYCLES_MAX: u64 = 1 << 32;

/// Checks that numbers of cycles, each with its name in files, can be added up.
pub(crate) fn within_cycles(all: &[(&str, u64)]) -> Result<(), String> {
    match all.iter().find(|(_, cycles)| *cycles > CYCLES_MAX) {
        None => Ok(()),
        Some((what, cycles)) => Err(format!("{what} is {cycles}: expected at most {CYCLES_MAX}")),
    }
}

/// Checks numbers, each with its name in files, that are from 1 to a greatest one.
pub(crate) fn within(all: &[(&str, u64, u64)]) -> Result<(), String> {
    match all.iter().find(|(_, value, most)| !(1..=*most).contains(value)) {
        None => Ok(()),
        Some((what, value, most)) => Err(format!("{what} is {value}: expected 1 to {most}")),
    }
}
