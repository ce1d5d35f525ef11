//! Walks through a few references, for `explain`: the log that every engine fills, the recorder,
//! and what does not depend on the protocol: references and their blocks, snapshots of caches and
//! memory, and classes of misses.

mod example;
mod log;
mod misses;
mod pieces;
mod recorder;
mod scene;
mod synchronised;
mod written;

pub use example::Example;
pub use log::{Shown, ShownScene, StepPage, Walk, WalkPage, WalkStep};
pub use misses::WalkMiss;
pub use pieces::{WalkBlock, batch_of, pieces};
pub use recorder::{StepOf, WalkOf, WalkedEngine, record};
pub use scene::{BlockSnapshot, CopySnapshot};
pub use synchronised::NeededSynchronisation;
pub use written::{WrittenReferenceError, WrittenStep, written_references, written_steps};
