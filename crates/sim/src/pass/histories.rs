//! A pass over a trace that builds histories.

use homenode_placement::HistoryBuilder;
use homenode_trace::Batch;
use rayon::prelude::*;

use super::progress::ProgressMeter;
use super::resources::MemoryBudget;
use super::source::TraceSource;
use super::windows::WindowReader;
use crate::error::SimResult;

pub(crate) trait PassSink: Send {
    /// Adds batches, in Time order, to all builders.
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]);

    /// Whether batches come with their events.
    fn takes_events(&self) -> bool {
        false
    }

    /// Adds pending references after the last batch.
    fn end(&mut self, _builders: &mut [HistoryBuilder]) {}

    /// The number of builders that continue after this many references.
    fn keep(&mut self, builders: &mut [HistoryBuilder], _seen: u64) -> usize {
        builders.len()
    }
}

pub(crate) struct Unchanged;

impl PassSink for Unchanged {
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        builders.par_iter_mut().for_each(|builder| {
            for batch in batches {
                builder.push(batch);
            }
        });
    }
}

/// Passes every reference unchanged to as many builders as fit into memory.
pub(crate) struct WithinBudget(pub(crate) MemoryBudget);

impl PassSink for WithinBudget {
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        Unchanged.push(builders, batches);
    }

    fn keep(&mut self, builders: &mut [HistoryBuilder], seen: u64) -> usize {
        self.0.keep(builders, seen, |_| 0)
    }
}

/// Builds histories of the trace through a sink. Returns the number of complete builders.
pub(crate) fn build_histories(
    pool: &rayon::ThreadPool,
    trace: &dyn TraceSource,
    builders: &mut [HistoryBuilder],
    meter: &mut ProgressMeter<'_>,
    sink: &mut dyn PassSink,
) -> SimResult<usize> {
    let events = sink.takes_events();
    let read = |index, batch: &mut Batch| {
        if events { trace.read_all(index, batch) } else { trace.read(index, batch) }
    };
    let mut windows = WindowReader::new(pool, trace, &read);
    let (mut kept, mut seen) = (builders.len(), 0);
    while let Some(()) = windows.next(|batches| sink.push(&mut builders[..kept], batches))? {
        let work = (windows.rows() - seen) * u64::try_from(kept).unwrap_or(0);
        seen = windows.rows();
        kept = sink.keep(&mut builders[..kept], seen);
        meter.add(work)?;
    }
    pool.install(|| sink.end(&mut builders[..kept]));
    Ok(kept)
}
