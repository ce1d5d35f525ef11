//! One pass over the trace for all configurations without a clock.

use homenode_snoop::{BusCounts, TraceOrderSimulation};
use homenode_trace::Batch;
use rayon::prelude::*;

use super::plan::BusPlan;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_window};

/// Counts in the order of the trace.
pub(super) fn count<T: TraceSource + ?Sized>(
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
