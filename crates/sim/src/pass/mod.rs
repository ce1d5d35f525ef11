//! Passes over a trace: sources of references, windows decoded ahead, worker threads, memory budget
//! and progress.

mod histories;
mod preparation;
mod progress;
mod resources;
mod source;
mod up_to_mark;
mod user_areas;
mod windows;

pub(crate) use histories::{PassSink, Unchanged, WithinBudget, build_histories};
pub(crate) use preparation::{behind_caches, in_words};
pub(crate) use progress::{PassProgress, ProgressMeter, part_of, report};
pub(crate) use resources::{MemoryBudget, budget_bytes, events_budget_bytes};
pub(crate) use resources::{check_threads, thread_pool};
pub(crate) use source::{processor_counts, processors};
pub(crate) use up_to_mark::UpToMark;
pub(crate) use user_areas::WithUserAreas;
pub(crate) use windows::{ReadPiece, WindowReader, for_each_piece, for_each_window};
pub(crate) use windows::{for_each_stream_window, forecast};

pub use preparation::CacheFilterRecord;
pub use progress::Progress;
pub use source::TraceSource;
