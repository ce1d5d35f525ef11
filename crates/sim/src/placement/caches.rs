//! The caches in front of memory: those of the options, or those of the machines.

use homenode_machine::PricedMachine;
use homenode_trace::TraceReader;
use homenode_transform::CacheFilterShape;

use super::config::SimConfig;
use super::outcome::PlacementProvenance;
use super::plan::MatrixPlan;
use crate::error::{SimError, config_error};
use crate::notes::suggestions_on;
use crate::pass::{CacheFilterRecord, Progress, TraceSource, behind_caches};

/// Note on a trace that fits into the caches.
const ALL_FITS: &str = "all data fit into the caches, so that only first references and those to \
                        what others write reach memory; if the program is to be run with more \
                        data than it was recorded with, choose a cache that is smaller in \
                        proportion (--filter SIZE:WAYS:BLOCK), or none";

/// Remedy for problems of the filter.
const NONE: &str = "none";

/// Runs a simulation on the references that miss the caches of the configuration or of its
/// machines. `simulate` gets a configuration without the filter and without counting in words,
/// which are done. `plan` is that of the whole trace, so that errors are found before the filter's
/// pass.
pub(crate) fn on_misses<R>(
    config: &SimConfig,
    plan: &MatrixPlan,
    trace: &TraceReader,
    progress: Progress<'_>,
    simulate: impl FnOnce(&SimConfig, &TraceReader, Progress<'_>) -> Result<R, SimError>,
) -> Result<(R, Option<CacheFilterRecord>), SimError> {
    let caches = caches_of(config, plan, trace)?.map(|shape| (shape, plan.processors));
    let done = SimConfig {
        filter: Some(NONE.to_owned()),
        processors: Some(plan.processors),
        word_bytes: None,
        ..config.clone()
    };
    behind_caches(caches, trace, progress, |misses, progress| simulate(&done, misses, progress))
}

/// Adds the filter to a provenance; its other facts are about the whole trace.
pub(crate) fn record(
    provenance: &mut PlacementProvenance,
    trace: &TraceReader,
    record: Option<CacheFilterRecord>,
) {
    provenance.trace_checksum = TraceSource::checksum(trace);
    provenance.suggestions = suggestions_on(trace);
    if record.as_ref().is_some_and(|record| record.replacements == 0) {
        provenance.suggestions.push(ALL_FITS.to_owned());
    }
    provenance.cache_filter = record;
}

/// The caches of the configuration, or those that all of its machines have.
pub(crate) fn caches_of(
    config: &SimConfig,
    plan: &MatrixPlan,
    trace: &TraceReader,
) -> Result<Option<CacheFilterShape>, SimError> {
    let fail = |problem: String| config_error(format!("--filter: {problem}"));
    let requested = match config.filter.as_deref() {
        Some(NONE) => return Ok(None),
        Some(text) => {
            let shape = CacheFilterShape::parse(text);
            Some(shape.map_err(|e| fail(format!("{text}: {e}, or none for no cache")))?)
        }
        // A second cache of the same size would have almost no hits.
        None if was_filtered(trace) => return Ok(None),
        None => of_machines(&plan.machines)?,
    };
    let Some(shape) = requested else { return Ok(None) };
    let small = config.block_sizes.iter().find(|&&bytes| bytes < shape.block_bytes());
    let Some(small) = small else { return Ok(Some(shape)) };
    let whose = if config.filter.is_some() { "the" } else { "the machine's" };
    Err(fail(format!(
        "blocks of {small} bytes are smaller than those of {whose} cache {shape}, which misses by \
         {} bytes: choose larger ones with --block-size, or simulate every reference with \
         --filter none",
        shape.block_bytes()
    )))
}

/// Whether the trace already consists of misses.
fn was_filtered(trace: &TraceReader) -> bool {
    trace.metadata().provenance.iter().any(|step| step.starts_with("transform filter "))
}

/// The caches of the machines, which must be the same: a trace is filtered once.
fn of_machines(machines: &[PricedMachine]) -> Result<Option<CacheFilterShape>, SimError> {
    let mut shapes = Vec::new();
    for machine in machines {
        let shape = machine.last_level().map(|cache| {
            CacheFilterShape::new(cache.size_bytes, cache.associativity, cache.block_size_bytes)
        });
        let shape = shape.transpose().map_err(|problem| {
            config_error(format!("machine {}: last_level: {problem}", machine.name()))
        })?;
        shapes.push(shape);
    }
    let Some(&first) = shapes.first() else { return Ok(None) };
    if shapes.iter().all(|&other| other == first) {
        return Ok(first);
    }
    let said = machines.iter().zip(&shapes).map(|(machine, shape)| match shape {
        Some(shape) => format!("{} has {shape}", machine.name()),
        None => format!("{} none", machine.name()),
    });
    let said: Vec<String> = said.collect();
    Err(config_error(format!(
        "machines with different caches in front of memory ({}): choose one for all with --filter \
         SIZE:WAYS:BLOCK or --filter none, or simulate them one at a time",
        said.join(", ")
    )))
}
