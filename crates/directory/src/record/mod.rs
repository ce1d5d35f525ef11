//! Walks through a few references: the actions of controllers at each, for readers.
//!
//! A recorder pushes one reference at a time into an engine that also counts, and records the table
//! cells used and the state of caches, memory and directory. It makes no decisions.

mod recorder;
mod scene;

use homenode_cache::ClockError;

pub(crate) use recorder::{DirectoryRecorder, DoneReference, RecordedWalk, WalkedEngine};
pub use scene::{
    ActCause, ControllerAct, DirectoryEntry, DirectoryScene, DirectoryWalk, DirectoryWalkStep,
    DirectoryWalkTotals, WalkMessage,
};

use crate::setup::DirectorySetupError;

/// Why a walk failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PagedWalkError {
    /// The configuration is invalid.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks an invariant.
    #[error(transparent)]
    Check(#[from] ClockError),
    /// A step never ends.
    #[error("step {number}: the protocol never lets node {node} go on")]
    Stuck {
        /// Its number, from 1.
        number: usize,
        /// Its node.
        node: u16,
    },
}
