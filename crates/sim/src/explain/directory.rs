//! Protocols of machines with a directory.

use homenode_base::{Access, ReferenceFilter};
use homenode_directory::walk::{DirectoryWalk, DirectoryWalkError, walk};
use homenode_directory::{
    DemandCollection, DirectoryProtocol, DirectorySetup, DirectorySimulation, DirectoryTable,
    HomePolicy, HomeSetup, HomeSpec, MessageCost, MissRule, PageDemands,
};
use homenode_machine::{CachedMachine, MachineError};
use homenode_trace::Batch;

use super::config::ExplainConfig;
use super::outcome::{DirectoryExplanation, ExplainedDirectoryMachine, ExplainedDirectoryProtocol};
use super::references::{BlockFilter, WalkedRows};
use super::subject::ExplainSubject;
use crate::caches::private_areas;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

/// The machine whose prices are used unless the user names another.
pub(super) const MACHINE: &str = "dash-mesh";
/// The homes unless the user names others.
pub(super) const HOME: &str = "first-touch";
/// The homes of a first run, by which others are chosen.
pub(super) const FIRST_RUN_HOME: &str = "round-robin";
/// What random homes begin with.
const SEED: u64 = 1;

pub(super) fn explain_directory<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    (protocols, subject): (&[DirectoryProtocol], ExplainSubject),
    (trace, progress): (Option<&T>, Progress<'_>),
) -> Result<DirectoryExplanation, SimError> {
    let machine = CachedMachine::parse(config.machine.as_deref().unwrap_or(MACHINE))?;
    let home_name = config.home.as_deref().unwrap_or(HOME);
    let home = HomeSpec::parse(home_name)?;
    let setup = setup(config, &machine, (&subject, trace))?;
    // A home that cannot be is found before the trace is read.
    home.build(&homes(&setup, Some(&PageDemands::default())))?;
    let block = setup.cache.block_size_bytes;
    let filter = || BlockFilter::new(config, (setup.nodes, block), WalkedRows::Data);
    let walked = subject.steps(filter, (trace, progress))?;
    let first = protocols.first().map_or("", |protocol| protocol.entry.name);
    let references = walked.references(first)?;
    let one = |protocol: &DirectoryProtocol| explained(protocol, (&setup, &home), &references);
    Ok(DirectoryExplanation {
        machine: shown(&machine, &setup, home_name),
        protocols: protocols.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

/// The machine as it is printed.
pub(super) fn shown(
    machine: &CachedMachine,
    setup: &DirectorySetup,
    home: &str,
) -> ExplainedDirectoryMachine {
    ExplainedDirectoryMachine {
        version: env!("CARGO_PKG_VERSION"),
        kind: machine.kind(),
        machine: machine.name().to_owned(),
        processors: setup.nodes,
        cache_size: setup.cache.size_bytes,
        block_size: setup.cache.block_size_bytes,
        associativity: setup.cache.associativity,
        page_size: setup.page_bytes,
        header_bytes: setup.header_bytes,
        home: home.to_owned(),
    }
}

fn explained(
    protocol: &DirectoryProtocol,
    (setup, home): (&DirectorySetup, &HomeSpec),
    references: &[Access],
) -> Result<ExplainedDirectoryProtocol<DirectoryWalk>, SimError> {
    let setup = DirectorySetup { pointers: protocol.pointers, ..setup.clone() };
    let Some(table) = protocol.table().blocks() else {
        let name = protocol.entry.name;
        return Err(config_error(format!("{name} keeps pages coherent, and not blocks")));
    };
    let built = build(home, (&setup, &table), references)?;
    let walk = walk(&setup, &table, built, references).map_err(|error| match error {
        DirectoryWalkError::Check(error) => SimError::Check(error),
        DirectoryWalkError::Setup(error) => SimError::Directory(error),
        other => config_error(other.to_string()),
    })?;
    Ok(ExplainedDirectoryProtocol {
        name: protocol.text.clone(),
        summary: protocol.entry.summary,
        source: protocol.entry.source,
        table: table.sheet(),
        walk,
    })
}

/// The homes; those with hindsight know who makes which of these references.
fn build(
    home: &HomeSpec,
    (setup, table): (&DirectorySetup, &DirectoryTable),
    references: &[Access],
) -> Result<Box<dyn HomePolicy>, SimError> {
    if !home.entry().needs_first_run {
        return Ok(home.build(&homes(setup, None))?);
    }
    let first = HomeSpec::parse(FIRST_RUN_HOME)?.build(&homes(setup, None))?;
    let collecting = DirectorySetup { collect_demands: DemandCollection::Whole, ..setup.clone() };
    let mut simulation = DirectorySimulation::new(&collecting, table.clone(), first)?;
    simulation.push(&Batch {
        thread: references.iter().map(|access| access.thread).collect(),
        kind: references.iter().map(|access| access.kind.code()).collect(),
        size: references.iter().map(|access| access.size).collect(),
        addr: references.iter().map(|access| access.addr).collect(),
        flags: references.iter().map(|access| access.flags.0).collect(),
        ..Batch::default()
    })?;
    let demands = simulation.finish().demands.unwrap_or_default();
    Ok(home.build(&homes(setup, Some(&demands)))?)
}

pub(super) fn homes<'a>(
    setup: &DirectorySetup,
    first_run: Option<&'a PageDemands>,
) -> HomeSetup<'a> {
    HomeSetup {
        nodes: setup.nodes,
        seed: SEED,
        marks_init_done: false,
        first_run,
        cost: &MessageCost,
    }
}

/// The machine, checked.
pub(super) fn setup<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    machine: &CachedMachine,
    (subject, trace): (&ExplainSubject, Option<&T>),
) -> Result<DirectorySetup, SimError> {
    let Some(model) = machine.directory() else {
        let (kind, wanted) = (machine.kind(), homenode_machine::MachineKind::Directory);
        let machine = machine.name().to_owned();
        return Err(MachineError::OtherKind { machine, kind, wanted }.into());
    };
    let setup = DirectorySetup {
        nodes: subject.processors(config, trace)?,
        cache: subject.cache(config, machine.cache),
        page_bytes: machine.page_bytes,
        pointers: None,
        header_bytes: model.network.header_bytes,
        private: private_areas(&config.private_ranges)?,
        filter: ReferenceFilter { fetches: false, ..ReferenceFilter::ALL },
        rule: MissRule::Dubois,
        check: true,
        collect_demands: DemandCollection::Off,
        collect_uses: false,
    };
    setup.geometry()?;
    Ok(setup)
}
