//! Protocols whose directory is a list of copies, on nodes with controllers.

use homenode_clock::ClockSetup;
use homenode_directory::walk::{DirectoryWalk, WalkedReference, linked_demands, walk_linked};
use homenode_directory::{
    CoherenceTable, DirectoryProtocol, ListClockSetup, ListCounts, ProxySetup,
};
use homenode_machine::ControllerMachine;

use super::config::ExplainConfig;
use super::nodes::WalkedNodes;
use super::outcome::{DirectoryExplanation, ExplainedDirectoryProtocol};
use super::pages::walk_error;
use super::references::WalkedRows;
use super::subject::ExplainSubject;
use crate::directory::buffer_reads;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

/// A walk under a protocol of lists.
pub type ListWalk = DirectoryWalk<ListCounts>;

pub(super) fn explain_lists<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    protocols: &[DirectoryProtocol],
    subject: ExplainSubject,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> Result<DirectoryExplanation<ListWalk>, SimError> {
    let nodes = WalkedNodes::<ControllerMachine>::new(config, &subject, trace)?;
    let proxies = ProxySetup::parse(config.proxies.as_deref().unwrap_or("none"))?;
    let buffers = config.buffers.as_deref().map_or(Ok(None), buffer_reads)?;
    let timed = timed(&nodes, proxies, buffers);
    let walked = nodes.steps(config, subject, WalkedRows::Data, trace, progress)?;
    let first = protocols.first().map_or("", |protocol| protocol.entry.name);
    let references = walked.overlapping(first)?;
    let one = |protocol: &DirectoryProtocol| explained(protocol, &nodes, &timed, &references);
    Ok(DirectoryExplanation {
        machine: nodes.shown(),
        protocols: protocols.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

fn explained(
    protocol: &DirectoryProtocol,
    nodes: &WalkedNodes<ControllerMachine>,
    timed: &ListClockSetup,
    references: &[WalkedReference],
) -> Result<ExplainedDirectoryProtocol<ListWalk>, SimError> {
    let CoherenceTable::Linked(table) = protocol.table() else {
        let name = protocol.entry.name;
        return Err(config_error(format!("{name} has no lists of copies")));
    };
    let setup = &nodes.setup;
    let homes = nodes.homes(|first| {
        linked_demands(setup, &table, first, timed, references).map_err(walk_error)
    })?;
    let walk = walk_linked(setup, &table, homes, timed, references).map_err(walk_error)?;
    Ok(ExplainedDirectoryProtocol::new(protocol, table.sheet(), walk))
}

/// The timing of a walk; processors make one reference at a time.
fn timed(
    nodes: &WalkedNodes<ControllerMachine>,
    proxies: ProxySetup,
    buffer_reads: Option<u64>,
) -> ListClockSetup {
    let (processor, scheduler) = (nodes.machine.processor, nodes.machine.scheduler);
    let processes = usize::from(nodes.setup.nodes);
    ListClockSetup {
        clock: ClockSetup { processor, scheduler, seed: 1, processes },
        machine: nodes.model,
        phase_change: false,
        from_init_done: false,
        proxies,
        buffer_reads,
    }
}
