//! Protocols of machines with a directory.

use homenode_base::Access;
use homenode_directory::walk::{DirectoryWalk, DirectoryWalkError, walk};
use homenode_directory::{
    DemandCollection, DirectoryProtocol, DirectorySetup, DirectorySimulation, DirectoryTable,
    HomePolicy, PageDemands,
};
use homenode_machine::DirectoryMachine;
use homenode_trace::Batch;

use super::config::ExplainConfig;
use super::nodes::WalkedNodes;
use super::outcome::{DirectoryExplanation, ExplainedDirectoryProtocol};
use super::references::WalkedRows;
use super::subject::ExplainSubject;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

pub(super) fn explain_directory<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    protocols: &[DirectoryProtocol],
    subject: ExplainSubject,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> Result<DirectoryExplanation, SimError> {
    let nodes = WalkedNodes::<DirectoryMachine>::new(config, &subject, trace)?;
    let walked = nodes.steps(config, subject, WalkedRows::Data, trace, progress)?;
    let first = protocols.first().map_or("", |protocol| protocol.entry.name);
    let references = walked.references(first)?;
    let one = |protocol: &DirectoryProtocol| explained(protocol, &nodes, &references);
    Ok(DirectoryExplanation {
        machine: nodes.shown(),
        protocols: protocols.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

fn explained(
    protocol: &DirectoryProtocol,
    nodes: &WalkedNodes<DirectoryMachine>,
    references: &[Access],
) -> Result<ExplainedDirectoryProtocol<DirectoryWalk>, SimError> {
    let setup = DirectorySetup { pointers: protocol.pointers, ..nodes.setup.clone() };
    let Some(table) = protocol.table().blocks() else {
        let name = protocol.entry.name;
        return Err(config_error(format!("{name} keeps pages coherent, and not blocks")));
    };
    let homes = nodes.homes(|first| demands(&setup, &table, first, references))?;
    let walk = walk(&setup, &table, homes, references).map_err(|error| match error {
        DirectoryWalkError::Check(error) => SimError::Check(error),
        DirectoryWalkError::Setup(error) => SimError::Directory(error),
        other => config_error(other.to_string()),
    })?;
    Ok(ExplainedDirectoryProtocol::new(protocol, table.sheet(), walk))
}

/// Adds the processor and address of each reference.
fn demands(
    setup: &DirectorySetup,
    table: &DirectoryTable,
    homes: Box<dyn HomePolicy>,
    references: &[Access],
) -> Result<PageDemands, SimError> {
    let setup = DirectorySetup { collect_demands: DemandCollection::Whole, ..setup.clone() };
    let mut simulation = DirectorySimulation::new(&setup, table.clone(), homes)?;
    simulation.push(&Batch {
        thread: references.iter().map(|access| access.thread).collect(),
        kind: references.iter().map(|access| access.kind.code()).collect(),
        size: references.iter().map(|access| access.size).collect(),
        addr: references.iter().map(|access| access.addr).collect(),
        flags: references.iter().map(|access| access.flags.0).collect(),
        ..Batch::default()
    })?;
    Ok(simulation.finish().demands.unwrap_or_default())
}
