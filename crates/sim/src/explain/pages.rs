//! Protocols of machines whose operating systems keep pages coherent.

use homenode_clock::ClockSetup;
use homenode_directory::walk::{PagedWalk, PagedWalkError, page_demands, walk_pages};
use homenode_directory::{
    CoherenceTable, DirectoryClockSetup, DirectoryProtocol, DirectorySetup, HomePolicy, HomeSpec,
    PageDemands, PageReplication, PagedTable,
};
use homenode_machine::{CachedMachine, MachineError, MachineKind};
use homenode_snoop::walk::WrittenStep;

use super::config::ExplainConfig;
use super::directory::{FIRST_RUN_HOME, HOME, MACHINE, homes, setup, shown};
use super::outcome::{ExplainedDirectoryProtocol, PagedExplanation};
use super::references::{BlockFilter, WalkedRows};
use super::subject::ExplainSubject;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

pub(super) fn explain_pages<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    (protocols, subject): (&[DirectoryProtocol], ExplainSubject),
    (trace, progress): (Option<&T>, Progress<'_>),
) -> Result<PagedExplanation, SimError> {
    let machine = CachedMachine::parse(config.machine.as_deref().unwrap_or(MACHINE))?;
    let home_name = config.home.as_deref().unwrap_or(HOME);
    let home = HomeSpec::parse(home_name)?;
    let setup = setup(config, &machine, (&subject, trace))?;
    // A home that cannot be is found before the trace is read.
    home.build(&homes(&setup, Some(&PageDemands::default())))?;
    let block = setup.cache.block_size_bytes;
    let filter = || BlockFilter::new(config, (setup.nodes, block), WalkedRows::Synchronised);
    let walked = subject.steps(filter, (trace, progress))?;
    let timed = timed(&machine, setup.nodes)?;
    let one = |protocol: &DirectoryProtocol| {
        explained(protocol, (&setup, &timed), (&home, &walked.steps))
    };
    Ok(PagedExplanation {
        machine: shown(&machine, &setup, home_name),
        coherent: "pages",
        protocols: protocols.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

fn explained(
    protocol: &DirectoryProtocol,
    (setup, timed): (&DirectorySetup, &DirectoryClockSetup),
    (home, steps): (&HomeSpec, &[WrittenStep]),
) -> Result<ExplainedDirectoryProtocol<PagedWalk>, SimError> {
    let CoherenceTable::Pages(table) = protocol.table() else {
        let name = protocol.entry.name;
        return Err(config_error(format!("{name} keeps blocks coherent, and not pages")));
    };
    let built = build(home, (setup, &table), (timed, steps))?;
    let walk = walk_pages(setup, &table, (built, timed), steps).map_err(walk_error)?;
    Ok(ExplainedDirectoryProtocol {
        name: protocol.text.clone(),
        summary: protocol.entry.summary,
        source: protocol.entry.source,
        table: table.sheet(),
        walk,
    })
}

/// The homes; those with hindsight know who does which of these steps.
fn build(
    home: &HomeSpec,
    (setup, table): (&DirectorySetup, &PagedTable),
    (timed, steps): (&DirectoryClockSetup, &[WrittenStep]),
) -> Result<Box<dyn HomePolicy>, SimError> {
    if !home.entry().needs_first_run {
        return Ok(home.build(&homes(setup, None))?);
    }
    let first = HomeSpec::parse(FIRST_RUN_HOME)?.build(&homes(setup, None))?;
    let demands = page_demands(setup, table, (first, timed), steps).map_err(walk_error)?;
    Ok(home.build(&homes(setup, Some(&demands)))?)
}

fn walk_error(error: PagedWalkError) -> SimError {
    match error {
        PagedWalkError::Check(error) => SimError::Clock(error),
        PagedWalkError::Setup(error) => SimError::Directory(error),
        other @ (PagedWalkError::Stuck { .. } | _) => config_error(other.to_string()),
    }
}

/// What has a time: all but processors, which do one step after the other.
fn timed(machine: &CachedMachine, nodes: u16) -> Result<DirectoryClockSetup, SimError> {
    let Some(model) = machine.directory() else {
        let (kind, wanted) = (machine.kind(), MachineKind::Directory);
        let machine = machine.name().to_owned();
        return Err(MachineError::OtherKind { machine, kind, wanted }.into());
    };
    let (processor, scheduler) = (machine.processor, machine.scheduler);
    Ok(DirectoryClockSetup {
        clock: ClockSetup { processor, scheduler, seed: 1, processes: usize::from(nodes) },
        machine: *model,
        sequential: false,
        phase_change: false,
        from_init_done: false,
        collect_waits: false,
        replication: PageReplication::None,
    })
}
