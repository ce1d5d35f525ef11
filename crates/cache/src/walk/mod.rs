//! The parts of walks through a few references that do not depend on the protocol: references and
//! their blocks, snapshots of caches and memory, and classes of misses.
//!
//! Each engine has its own recorder for the steps of its protocol.

mod example;
mod misses;
mod pieces;
mod scene;
mod written;

pub use example::Example;
pub use misses::{MissJournal, WalkCopy, WalkMiss};
pub use pieces::{WalkBlock, kind_name, pieces, touched_words};
pub use scene::{BlockSnapshot, CopySnapshot};
pub use written::{WrittenReferenceError, WrittenStep, written_references, written_steps};
