//! Protocols of processors that share a bus.

use homenode_base::{Access, BlockSize, ReferenceFilter};
use homenode_machine::{BusCycles, CacheShape, CachedMachine, MachineError, MachineKind};
use homenode_snoop::walk::{WalkError, walk};
use homenode_snoop::{BusSetup, MissRule, ProtocolSpec};

use super::config::ExplainConfig;
use super::outcome::{ExplainedProtocol, Explanation};
use super::references::{BlockFilter, WalkedRows};
use super::subject::ExplainSubject;
use crate::caches::private_areas;
use crate::error::{SimError, SimResult, config_error};
use crate::pass::{Progress, TraceSource, WithUserAreas, thread_pool};

const MACHINE: &str = "bus-smp";

pub(super) fn explain_bus(
    config: &ExplainConfig,
    specs: &[ProtocolSpec],
    subject: ExplainSubject,
    trace: Option<&dyn TraceSource>,
    progress: Progress<'_>,
) -> SimResult<Explanation> {
    if config.home.is_some() {
        return Err(config_error("--home: only machines with a directory have homes of pages"));
    }
    let machine_name = config.machine.as_deref().unwrap_or(MACHINE);
    let machine = CachedMachine::parse(machine_name)?;
    let setup = setup(config, &machine, &subject, trace)?;
    let block = setup.cache.block_size_bytes;
    let filter = || BlockFilter::new(config, setup.processors, block, WalkedRows::All);
    let pool = thread_pool(None)?;
    let flagged = trace.map(|trace| WithUserAreas::of(&pool, trace, false)).transpose()?;
    let walked =
        subject.steps(filter, flagged.as_ref().map(|trace| trace as &dyn TraceSource), progress)?;
    let cycles = machine.cycles(BlockSize::new(block)?)?;
    let Some(cycles) = cycles else {
        let (kind, wanted) = (machine.kind(), MachineKind::Bus);
        let machine = machine_name.to_owned();
        return Err(MachineError::OtherKind { machine, kind, wanted }.into());
    };
    let first = specs.first().map_or("", |spec| spec.entry.name);
    walked.check_complete(first)?;
    walked.check_references(first)?;
    let references = walked.references();
    let one = |spec: &ProtocolSpec| explained(spec, &setup, &cycles, &references);
    Ok(Explanation {
        version: env!("CARGO_PKG_VERSION"),
        machine: machine.name().to_owned(),
        processors: setup.processors,
        cache_size: setup.cache.size_bytes,
        block_size: block,
        associativity: setup.cache.associativity,
        instruction_cache: setup.instructions,
        cycles,
        protocols: specs.iter().map(one).collect::<Result<_, _>>()?,
        example: walked.example,
        trace: walked.trace,
    })
}

fn explained(
    spec: &ProtocolSpec,
    setup: &BusSetup,
    cycles: &BusCycles,
    references: &[Access],
) -> SimResult<ExplainedProtocol> {
    let mut setup = setup.clone();
    setup.private_kernel = spec.private_kernel;
    let table = spec.table();
    let walk = walk(&setup, &table, cycles, references).map_err(|error| match error {
        WalkError::Check(error) => SimError::Check(error),
        WalkError::BusSetup(error) => SimError::Cache(error),
        other => config_error(other.to_string()),
    })?;
    Ok(ExplainedProtocol {
        name: spec.text.clone(),
        summary: spec.entry.summary,
        source: spec.entry.source,
        table: table.sheet(),
        walk,
    })
}

fn setup(
    config: &ExplainConfig,
    machine: &CachedMachine,
    subject: &ExplainSubject,
    trace: Option<&dyn TraceSource>,
) -> SimResult<BusSetup> {
    let cache = subject.cache(config, machine.cache);
    // An example has caches of its own, which are unified.
    let instructions = match subject {
        ExplainSubject::Example(..) => None,
        ExplainSubject::Trace => machine.instructions,
    };
    let block_size_bytes = cache.block_size_bytes;
    let setup = BusSetup {
        processors: subject.processors(config, trace)?,
        cache,
        instructions: instructions.map(|own| CacheShape { block_size_bytes, ..own }),
        private: private_areas(&config.private_ranges)?,
        filter: ReferenceFilter::ALL,
        private_kernel: false,
        rule: MissRule::Dubois,
        check: true,
    };
    setup.geometry()?;
    Ok(setup)
}
