//! Protocols of machines with a directory: of blocks, of lists of copies, and of pages.

use homenode_clock::ClockSetup;
use homenode_directory::walk::{
    DirectoryWalkError, PagedWalk, PagedWalkError, walk, walk_linked, walk_pages,
};
use homenode_directory::{
    CoherenceTable, DirectoryClockSetup, DirectoryProtocol, DirectorySetup, ListClockSetup,
    ProxySetup,
};
use homenode_machine::{ControllerMachine, DirectoryMachine};

use super::nodes::{WalkRequest, WalkedNodes};
use super::outcome::{DirectoryExplanation, ListWalk};
use super::references::WalkedRows;
use crate::directory::buffer_reads;
use crate::error::{SimError, SimResult, config_error};
use crate::pass::Progress;

pub(super) fn explain_directory(
    protocols: &[DirectoryProtocol],
    request: WalkRequest<'_>,
    progress: Progress<'_>,
) -> SimResult<DirectoryExplanation> {
    let nodes = WalkedNodes::<DirectoryMachine>::new(&request)?;
    nodes.explain(protocols, request, WalkedRows::Data, progress, |protocol, steps| {
        steps.check_complete(protocol.entry.name)?;
        steps.check_references(protocol.entry.name)?;
        let references = steps.references();
        let setup = DirectorySetup { pointers: protocol.pointers, ..nodes.setup.clone() };
        let Some(table) = protocol.table().blocks() else { return Err(other_kind(protocol)) };
        let walk = nodes.walk(|homes| {
            walk(&setup, &table, homes, &references).map_err(|error| match error {
                DirectoryWalkError::Check(error) => SimError::Check(error),
                DirectoryWalkError::Setup(error) => SimError::Directory(error),
                other => config_error(other.to_string()),
            })
        })?;
        Ok((table.sheet(), walk))
    })
}

/// Protocols whose directory is a list of copies, on nodes with controllers.
pub(super) fn explain_lists(
    protocols: &[DirectoryProtocol],
    request: WalkRequest<'_>,
    progress: Progress<'_>,
) -> SimResult<DirectoryExplanation<ListWalk>> {
    let nodes = WalkedNodes::<ControllerMachine>::new(&request)?;
    let config = request.config;
    let clock = ClockSetup::of(&nodes.machine, usize::from(nodes.setup.nodes));
    let timed = ListClockSetup {
        proxies: ProxySetup::parse(config.proxies.as_deref().unwrap_or("none"))?,
        buffer_reads: config.buffers.as_deref().map_or(Ok(None), buffer_reads)?,
        ..ListClockSetup::new(clock, nodes.model)
    };
    nodes.explain(protocols, request, WalkedRows::Data, progress, |protocol, walked| {
        walked.check_references(protocol.entry.name)?;
        let CoherenceTable::Linked(table) = protocol.table() else {
            return Err(other_kind(protocol));
        };
        let (setup, steps) = (&nodes.setup, &walked.steps[..]);
        let walk = nodes
            .walk(|homes| walk_linked(setup, &table, homes, &timed, steps).map_err(walk_error))?;
        Ok((table.sheet(), walk))
    })
}

/// Protocols of machines whose operating systems keep pages coherent.
pub(super) fn explain_pages(
    protocols: &[DirectoryProtocol],
    request: WalkRequest<'_>,
    progress: Progress<'_>,
) -> SimResult<DirectoryExplanation<PagedWalk>> {
    let nodes = WalkedNodes::<DirectoryMachine>::new(&request)?;
    let clock = ClockSetup::of(&nodes.machine, usize::from(nodes.setup.nodes));
    let timed = DirectoryClockSetup::new(clock, nodes.model);
    nodes.explain(protocols, request, WalkedRows::Synchronised, progress, |protocol, walked| {
        walked.check_complete(protocol.entry.name)?;
        let CoherenceTable::Pages(table) = protocol.table() else {
            return Err(other_kind(protocol));
        };
        let (setup, steps) = (&nodes.setup, &walked.steps[..]);
        let walk = nodes
            .walk(|homes| walk_pages(setup, &table, homes, &timed, steps).map_err(walk_error))?;
        Ok((table.sheet(), walk))
    })
}

/// The protocols of a request are of one kind, so this is not seen.
fn other_kind(protocol: &DirectoryProtocol) -> SimError {
    config_error(format!("{} is for another kind of directory", protocol.entry.name))
}

fn walk_error(error: PagedWalkError) -> SimError {
    match error {
        PagedWalkError::Check(error) => SimError::Clock(error),
        PagedWalkError::Setup(error) => SimError::Directory(error),
        other @ (PagedWalkError::Stuck { .. } | _) => config_error(other.to_string()),
    }
}
