//! What walks through a few references have in common, whatever keeps the caches coherent: the
//! references and the blocks they go to, what is to be seen of caches and memory, and why a copy
//! was not there.
//!
//! An engine has a recorder of its own, which writes down what its protocol does; what does not
//! depend on the protocol is written down here, so that all walks show it alike.

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
