//! What the counts mean for a program: the worst blocks, their objects and source lines.
//!
//! [`worst_blocks`] simulates one policy at one block size, finds the blocks that cost most, and
//! says of each who uses it, how it is shared word by word, which objects lie in it and which
//! source lines touch it; and of each object of the program, what all its blocks cost together.
//!
//! The trace is read twice: once for histories (more often if they do not fit the memory budget),
//! once to look at the chosen blocks. Memory is bounded by that budget, the number of blocks asked
//! for, and the names in the trace's metadata.
//!
//! [`picture`](fn@picture) says who references which stretch of memory when.
//!
//! [`Footprint`] counts what groups of processes touch and share.
//!
//! [`sharing`] holds chapter 7 of the thesis: what false sharing costs, and who shares what.
//!
//! Invariant: the costs of all objects add up to the cost of all blocks, exactly.

mod detail;
mod error;
mod footprint;
mod labels;
mod map;
mod objects;
mod picture;
mod rank;
mod report;
pub mod sharing;
mod survey;
pub mod synthetic;

pub use error::AnalysisError;
pub use footprint::{Footprint, FootprintCounts};
pub use labels::labels;
pub use map::{MapRow, SharingMap};
pub use objects::{Names, Object, ObjectKind, ObjectSegment, SourceSite};
pub use picture::{PictureFrame, SharingPicture, picture};
pub use rank::WorstQuery;
pub use report::{
    BlockMisses, ByClass, CostReport, LineUse, ObjectCost, ObjectUse, SharingPattern, ThreadUse,
    WorstBlock, worst_blocks,
};

use std::ops::ControlFlow;

/// Called now and then with the references seen and how many there are to see. `Break` ends the
/// analysis with [`AnalysisError::Interrupted`].
pub type AnalysisProgress<'a> = &'a mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>;
