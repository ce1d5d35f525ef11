//! Transforms: new traces from traces, chunk by chunk in bounded memory.
//!
//! The provenance of a written trace gets the transform, its parameters and the checksum of its
//! input.
#![forbid(unsafe_code)]

mod entry;
mod error;
mod kind;
mod output;
mod param;
mod queue;
pub mod realign;
mod report;
mod run;
mod values;

pub use entry::Entry;
pub use error::TransformError;
pub use kind::{CacheFilterShape, TABLE, filter_temporarily, find};
pub use param::TransformParam;
pub use report::{
    AreaReferences, FilterReport, FrameReport, MergeReport, MergedProcess, Mix, MixPages,
    MixProcess, NextOfWrites, OmittedFromMix, ReferenceTotals, Switches, TransformReport,
};
pub use run::{WrittenTrace, transform_file, transform_files};
