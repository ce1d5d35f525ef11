//! Protocols of machines whose operating systems keep pages coherent.

use homenode_clock::ClockSetup;
use homenode_directory::walk::{PagedWalk, PagedWalkError, page_demands, walk_pages};
use homenode_directory::{CoherenceTable, DirectoryClockSetup, DirectoryProtocol, PageReplication};
use homenode_machine::DirectoryMachine;
use homenode_snoop::walk::WrittenStep;

use super::config::ExplainConfig;
use super::nodes::WalkedNodes;
use super::outcome::{ExplainedDirectoryProtocol, PagedExplanation};
use super::references::WalkedRows;
use super::subject::ExplainSubject;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

pub(super) fn explain_pages<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    protocols: &[DirectoryProtocol],
    subject: ExplainSubject,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> Result<PagedExplanation, SimError> {
    let nodes = WalkedNodes::<DirectoryMachine>::new(config, &subject, trace)?;
    let walked = nodes.steps(config, subject, WalkedRows::Synchronised, trace, progress)?;
    walked.check_overlaps(protocols.first().map_or("", |protocol| protocol.entry.name))?;
    let one = |protocol: &DirectoryProtocol| explained(protocol, &nodes, &walked.steps);
    Ok(PagedExplanation {
        machine: nodes.shown(),
        coherent: "pages",
        protocols: protocols.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

fn explained(
    protocol: &DirectoryProtocol,
    nodes: &WalkedNodes<DirectoryMachine>,
    steps: &[WrittenStep],
) -> Result<ExplainedDirectoryProtocol<PagedWalk>, SimError> {
    let CoherenceTable::Pages(table) = protocol.table() else {
        let name = protocol.entry.name;
        return Err(config_error(format!("{name} keeps blocks coherent, and not pages")));
    };
    let (setup, timed) = (&nodes.setup, timed(nodes));
    let homes = nodes
        .homes(|first| page_demands(setup, &table, first, &timed, steps).map_err(walk_error))?;
    let walk = walk_pages(setup, &table, homes, &timed, steps).map_err(walk_error)?;
    Ok(ExplainedDirectoryProtocol::new(protocol, table.sheet(), walk))
}

pub(super) fn walk_error(error: PagedWalkError) -> SimError {
    match error {
        PagedWalkError::Check(error) => SimError::Clock(error),
        PagedWalkError::Setup(error) => SimError::Directory(error),
        other @ (PagedWalkError::Stuck { .. } | _) => config_error(other.to_string()),
    }
}

/// The timing of a walk; processors do one step at a time.
fn timed(nodes: &WalkedNodes<DirectoryMachine>) -> DirectoryClockSetup {
    let (processor, scheduler) = (nodes.machine.processor, nodes.machine.scheduler);
    let processes = usize::from(nodes.setup.nodes);
    DirectoryClockSetup {
        clock: ClockSetup { processor, scheduler, seed: 1, processes },
        machine: nodes.model,
        sequential: false,
        phase_change: false,
        from_init_done: false,
        collect_waits: false,
        replication: PageReplication::None,
    }
}
