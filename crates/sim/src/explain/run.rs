//! Explains protocols by a walk through the same references.

use homenode_base::{Access, BlockSize, ReferenceFilter};
use homenode_machine::{BusCycles, CacheShape, CachedMachine, MachineError, MachineKind};
use homenode_snoop::walk::{WalkError, example, examples, walk};
use homenode_snoop::{BusSetup, Example, MissRule, ProtocolSpec};

use super::config::ExplainConfig;
use super::outcome::{ExplainedProtocol, Explanation};
use super::references::BlockFilter;
use crate::caches::{private_areas, resized};
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource, processors};

/// Examples to walk through.
#[must_use]
pub fn explain_examples() -> Vec<&'static Example> {
    examples().collect()
}

/// Explains some protocols by the same references: those of an example, or with a trace the first
/// ones of a few of its blocks.
///
/// # Errors
/// When the configuration is faulty, or the trace is or has no such references.
pub fn explain<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    trace: Option<&T>,
    progress: Progress<'_>,
) -> Result<Explanation, SimError> {
    let specs = config.protocols.iter().map(|text| ProtocolSpec::parse(text));
    let specs: Vec<ProtocolSpec> = specs.collect::<Result<_, _>>()?;
    if specs.is_empty() {
        return Err(config_error("no protocol is given: name at least one".to_owned()));
    }
    let machine = CachedMachine::parse(&config.machine)?;
    let names: Vec<&str> = specs.iter().map(|spec| spec.entry.name).collect();
    let shown = match (trace, &config.example) {
        (Some(_), Some(_)) => {
            return Err(config_error("an example and a trace are given: leave one out".to_owned()));
        }
        (Some(_), None) => None,
        (None, None) => Some(example(&names)),
        (None, Some(name)) => Some(named(name)?),
    };
    // An example has its own cache geometry.
    let (own, instructions) = match shown {
        Some(_) => (Example::CACHE, None),
        None => (machine.cache, machine.instructions),
    };
    let setup = setup(config, (own, instructions), (shown, trace))?;
    let (references, part) = match (shown, trace) {
        (None, Some(trace)) => {
            let part = BlockFilter::new(config, &setup)?;
            part.of(trace, progress)?
        }
        (Some(example), _) => (example.references(), None),
        (None, None) => (Vec::new(), None),
    };
    let cycles = machine.cycles(BlockSize::new(setup.cache.block_size_bytes)?)?;
    let Some(cycles) = cycles else {
        let (kind, wanted) = (machine.kind(), MachineKind::Bus);
        return Err(
            MachineError::OtherKind { machine: config.machine.clone(), kind, wanted }.into()
        );
    };
    let one = |spec: &ProtocolSpec| explained(spec, &setup, (&cycles, &references));
    Ok(Explanation {
        version: env!("CARGO_PKG_VERSION"),
        machine: machine.name().to_owned(),
        processors: setup.processors,
        cache_size: setup.cache.size_bytes,
        block_size: setup.cache.block_size_bytes,
        associativity: setup.cache.associativity,
        instruction_cache: setup.instructions,
        cycles,
        example: shown,
        trace: part,
        protocols: specs.iter().map(one).collect::<Result<_, _>>()?,
    })
}

fn explained(
    spec: &ProtocolSpec,
    setup: &BusSetup,
    (cycles, references): (&BusCycles, &[Access]),
) -> Result<ExplainedProtocol, SimError> {
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

fn named(name: &str) -> Result<&'static Example, SimError> {
    examples().find(|example| example.name == name).ok_or_else(|| {
        let known: Vec<&str> = examples().map(|example| example.name).collect();
        config_error(format!("unknown example {name:?}: expected one of {}", known.join(", ")))
    })
}

/// The machine, checked.
fn setup<T: TraceSource + ?Sized>(
    config: &ExplainConfig,
    (own, instructions): (CacheShape, Option<CacheShape>),
    (example, trace): (Option<&Example>, Option<&T>),
) -> Result<BusSetup, SimError> {
    let block_size_bytes = config.block_size.unwrap_or(own.block_size_bytes);
    // The cache of an example keeps its number of block frames if the block size is changed.
    let frames = own.size_bytes / own.block_size_bytes;
    let size = if example.is_some() { frames * block_size_bytes } else { own.size_bytes };
    let setup = BusSetup {
        processors: match (example, trace) {
            (None, Some(trace)) => processors(config.processors, trace)?,
            (Some(example), _) => config.processors.unwrap_or_else(|| example.processors()),
            (None, None) => config.processors.unwrap_or(1),
        },
        cache: resized(
            CacheShape { size_bytes: size, ..own },
            config.cache_size,
            config.associativity,
            Some(block_size_bytes),
        ),
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
