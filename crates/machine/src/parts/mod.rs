//! What machines are made of: each part with its numbers, as files give them.

mod cache;
mod kernel;
mod memory;
mod processor;
mod scheduler;
mod sourced;

pub use cache::CacheShape;
pub use kernel::KernelModel;
pub use processor::ProcessorModel;
pub use scheduler::{Dispatch, SchedulerModel};

pub(crate) use cache::Caches;
pub(crate) use memory::MemoryModel;
pub(crate) use sourced::{Sourced, sourced};
