//! Attribution of cost to a program: the worst blocks, their objects and source lines.
//!
//! [`worst_blocks`] simulates one policy at one block size and finds the blocks that cost most; for
//! each block the threads that use it, how it is shared word by word, its objects and the source
//! lines that reference it; and for each object of the program, the cost of all its blocks.
//!
//! The trace is read twice: once for histories (more often if they do not fit the memory budget),
//! once for the detail of the worst blocks. Memory is bounded by that budget, the number of blocks
//! asked for, and the names in the trace's metadata.
//!
//! [`picture`](fn@picture) samples which processors reference which part of memory over time.
//!
//! [`Footprint`] counts what groups of processes touch and share.
//!
//! [`sharing`] is chapter 7 of the thesis: the cost of false sharing, and where it is.
//!
//! Invariant: the costs of all objects add up to the cost of all blocks, exactly.

mod detail;
mod error;
mod fields;
mod footprint;
mod identity;
mod labels;
mod last_write;
mod map;
mod objects;
mod picture;
mod rank;
mod report;
mod segments;
pub mod sharing;
mod source;
mod stack_variable;
mod survey;
pub mod synthetic;

pub use error::AnalysisError;
pub use footprint::{Footprint, FootprintCounts};
pub use identity::{Object, ObjectKind};
pub use labels::labels;
pub use map::{MapRow, SharingMap};
pub use objects::Names;
pub use picture::{PictureFrame, SharingPicture, picture};
pub use rank::WorstQuery;
pub use report::{
    BlockMisses, ByClass, CostReport, LineUse, ObjectCost, ObjectUse, SharingPattern, ThreadUse,
    WorstBlock, worst_blocks,
};
pub use segments::ObjectSegment;
pub use source::SourceSite;
pub use stack_variable::StackVariable;

use std::ops::ControlFlow;

/// Called at intervals with the references read and the total to read. `Break` ends the analysis
/// with [`AnalysisError::Interrupted`].
pub type AnalysisProgress<'a> = &'a mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>;
