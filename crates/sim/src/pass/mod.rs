//! Passes over a trace: sources of references, windows decoded ahead, worker threads, memory budget
//! and progress.

mod available;
mod histories;
mod memory;
mod misses;
mod pool;
mod processors;
mod progress;
mod source;
mod streams;
mod user_areas;
mod windows;
mod words;

pub(crate) use histories::{PassSink, Unchanged, WithinBudget, build_histories};
pub(crate) use memory::{MemoryBudget, budget_bytes, events_budget_bytes};
pub(crate) use misses::behind_caches;
pub(crate) use pool::{check_threads, thread_pool};
pub(crate) use processors::{processor_counts, processors};
pub(crate) use progress::{PassProgress, ProgressMeter, part_of, report};
pub(crate) use streams::{for_each_stream_window, forecast};
pub(crate) use user_areas::WithUserAreas;
pub(crate) use windows::{WindowReader, for_each_window};
pub(crate) use words::in_words;

pub use misses::CacheFilterRecord;
pub use progress::Progress;
pub use source::TraceSource;
