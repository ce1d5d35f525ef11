//! A walk through a few references: what the controllers do at each, for people to follow.
//!
//! The recorder pushes one reference at a time into the engine that also counts
//! ([`crate::DirectorySimulation`]; with lists of copies the memory system of the clock), and
//! writes down which cells of the tables it used, and what the caches, memory and the directory
//! have then. It decides nothing itself.

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

/// Why there is no walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryWalkError {
    /// There can be no such machine.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks a promise.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in their order, under the protocol with this table and with these
/// homes. Values are always carried along, whatever the setup says. Fetches are no references here.
///
/// # Errors
/// When there can be no such machine, or the protocol breaks a promise.
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
