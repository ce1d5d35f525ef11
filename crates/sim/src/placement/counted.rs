//! The references that count: in words, and behind the caches of the options or of the machines.

use homenode_machine::PricedMachine;
use homenode_trace::TraceReader;
use homenode_transform::CacheFilterShape;

use super::config::SimConfig;
use super::outcome::PlacementProvenance;
use super::plan::MatrixPlan;
use crate::error::{SimResult, config_error};
use crate::pass::{CacheFilterRecord, Progress, TraceSource, behind_caches, in_words};
use crate::results::suggestions_on;

const ALL_FITS: &str = "all data fit into the caches, so that only first references and those to \
                        what others write reach memory; if the program is to be run with more \
                        data than it was recorded with, choose a cache that is smaller in \
                        proportion (--filter SIZE:WAYS:BLOCK), or none";

const NONE: &str = "none";

pub(crate) struct CountedReferences<'a> {
    /// The configuration without words and filter, which are applied.
    pub(crate) config: &'a SimConfig,
    pub(crate) plan: &'a MatrixPlan,
    /// All references, in words if the configuration has a word size.
    pub(crate) whole: &'a TraceReader,
    pub(crate) reaching: &'a TraceReader,
    pub(crate) caches: Option<CacheFilterShape>,
}

pub(crate) struct CountingRecord {
    word_bytes: Option<u64>,
    checksum: String,
    suggestions: Vec<String>,
    pub(crate) filter: Option<CacheFilterRecord>,
}

impl CountingRecord {
    /// Adds words and filter to a provenance; its other facts are about the whole trace.
    pub(crate) fn add_to(self, provenance: &mut PlacementProvenance) {
        provenance.word_bytes = self.word_bytes;
        provenance.trace_checksum = self.checksum;
        provenance.suggestions = self.suggestions;
        provenance.cache_filter = self.filter;
    }
}

/// Runs a study on the references that count: in words of the configuration's size, and behind the
/// caches of the configuration or of its machines. `plan` is called before each pass over the
/// trace, so that errors are found first, and for each trace that differs from the one before,
/// because policies use its rate of references.
pub(crate) fn on_counted<R>(
    config: &SimConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
    plan: impl Fn(&SimConfig, &TraceReader) -> SimResult<MatrixPlan>,
    study: impl FnOnce(&CountedReferences<'_>, Progress<'_>) -> SimResult<R>,
) -> SimResult<(R, CountingRecord)> {
    let (word_bytes, threads) = (config.word_bytes, config.threads);
    let check = || plan(config, trace).map(drop);
    in_words(word_bytes, threads, trace, progress, check, |whole, progress| {
        let planned = plan(config, whole)?;
        let processors = planned.processors;
        let caches = caches_of(config, &planned, whole)?;
        let config = &SimConfig {
            filter: Some(NONE.to_owned()),
            processors: Some(processors),
            word_bytes: None,
            ..config.clone()
        };
        let (found, filter) =
            behind_caches(caches, processors, whole, progress, |reaching, progress| {
                let filtered = caches.map(|_| plan(config, reaching)).transpose()?;
                let plan = filtered.as_ref().unwrap_or(&planned);
                study(&CountedReferences { config, plan, whole, reaching, caches }, progress)
            })?;
        let mut suggestions = suggestions_on(whole);
        if filter.as_ref().is_some_and(|record| record.replacements == 0) {
            suggestions.push(ALL_FITS.to_owned());
        }
        let checksum = TraceSource::checksum(whole);
        Ok((found, CountingRecord { word_bytes, checksum, suggestions, filter }))
    })
}

fn caches_of(
    config: &SimConfig,
    plan: &MatrixPlan,
    trace: &TraceReader,
) -> SimResult<Option<CacheFilterShape>> {
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
fn of_machines(machines: &[PricedMachine]) -> SimResult<Option<CacheFilterShape>> {
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
