//! A walk through a few references: the actions of controllers at each, for readers.
//!
//! The recorder pushes one reference at a time into the engine that also counts
//! ([`crate::DirectorySimulation`]; for linked lists the timed memory system), and records the
//! table cells used and the state of caches, memory and directory. It makes no decisions.

mod engine;
mod lists;
mod pages;
mod recorder;
mod scene;

pub use lists::{WalkedReference, list_demands, walk_lists};

pub use pages::{
    LineView, PageAct, PageEntry, PageView, PagedScene, PagedWalk, PagedWalkError, PagedWalkStep,
    PagedWalkTotals, WalkPage, page_demands, walk_pages,
};
pub use scene::{
    ActCause, ControllerAct, DirectoryEntry, DirectoryScene, DirectoryWalk, DirectoryWalkStep,
    DirectoryWalkTotals, WalkMessage,
};

use homenode_base::Access;
use homenode_cache::CheckError;

use crate::home::HomePolicy;
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::table::DirectoryTable;
use engine::ObservedDirectory;
use recorder::DirectoryRecorder;

/// Why a walk failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryWalkError {
    /// The configuration is invalid.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks an invariant.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in order. Values are always checked, regardless of the setup.
/// Instruction fetches are not references here.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk(
    setup: &DirectorySetup,
    table: &DirectoryTable,
    homes: Box<dyn HomePolicy>,
    references: &[Access],
) -> Result<DirectoryWalk, DirectoryWalkError> {
    let engine = ObservedDirectory::new(setup, table, homes)?;
    let recorder = DirectoryRecorder::new(engine, setup.nodes);
    let (walk, _) = recorder.record(references)?;
    Ok(walk)
}
