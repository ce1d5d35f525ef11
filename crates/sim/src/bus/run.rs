//! One pass over the trace for all configurations.

use homenode_snoop::{BusCounts, BusResult, TraceOrderSimulation};
use homenode_trace::Batch;
use rayon::prelude::*;

use super::clock;
use super::config::{BusConfig, ReferenceOrder};
use super::outcome::{BusSimulation, assemble};
use super::plan::BusPlan;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, WithUserAreas, for_each_window, thread_pool};

/// Simulates every combination of machine, protocol, cache size, associativity, block size and
/// number of processors, in this order. The trace is decoded once for all of them.
///
/// When the configuration is invalid (found before the trace is read), the trace is damaged, or,
/// with [`BusConfig::check`], a protocol violates an invariant.
pub fn simulate_bus<T: TraceSource + ?Sized>(
    config: &BusConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<BusSimulation, SimError> {
    let plan = BusPlan::new(config, trace)?;
    let pool = thread_pool(config.threads)?;
    let by_process = config.order == ReferenceOrder::Clock && plan.translates;
    let flagged = WithUserAreas::of(&pool, trace, by_process)?;
    let (results, notes) = match config.order {
        ReferenceOrder::Trace => {
            let counts = count_in_order(&plan, &flagged, &pool, progress)?;
            let results =
                counts.into_iter().map(|counts| BusResult { counts, ..BusResult::default() });
            (results.collect(), Vec::new())
        }
        ReferenceOrder::Clock => clock::simulate(&plan, config, &flagged, &pool, progress)?,
    };
    let mut simulation = assemble(&plan, results, config, trace);
    simulation.provenance.notes.extend(notes);
    Ok(simulation)
}

/// Counts in the order of the trace.
fn count_in_order<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    trace: &T,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<BusCounts>, SimError> {
    let counters = plan
        .points
        .iter()
        .map(|point| TraceOrderSimulation::new(&point.setup, point.table.clone()));
    let mut counters: Vec<TraceOrderSimulation> = counters.collect::<Result<_, _>>()?;
    let total = trace.references();
    let read = |index, batch: &mut Batch| trace.read(index, batch);
    for_each_window(pool, trace, &read, progress, total, |batches| {
        let push =
            |counter: &mut TraceOrderSimulation| batches.iter().try_for_each(|b| counter.push(b));
        // Every result is collected, so that the first error is the same on any number of threads.
        let done: Vec<_> = counters.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    })?;
    Ok(counters.into_iter().map(TraceOrderSimulation::finish).collect())
}
