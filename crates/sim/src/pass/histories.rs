//! A pass over a trace that leaves histories.

use homenode_placement::HistoryBuilder;
use homenode_trace::Batch;
use rayon::prelude::*;

use super::memory::MemoryBudget;
use super::progress::ProgressMeter;
use super::source::TraceSource;
use super::windows::WindowReader;
use crate::error::SimError;

/// What becomes of the references of a pass.
pub(crate) trait PassSink: Send {
    /// Gives some batches, in Time order, to all builders.
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]);

    /// Gives what is left to the builders after the last batch.
    fn end(&mut self, _builders: &mut [HistoryBuilder]) {}

    /// How many of the builders go on after so many references.
    fn keep(&mut self, builders: &mut [HistoryBuilder], _seen: u64) -> usize {
        builders.len()
    }
}

/// Every reference as it is, to every builder.
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

/// Every reference as it is, to as many builders as the memory allows.
pub(crate) struct WithinBudget(pub(crate) MemoryBudget);

impl PassSink for WithinBudget {
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        Unchanged.push(builders, batches);
    }

    fn keep(&mut self, builders: &mut [HistoryBuilder], seen: u64) -> usize {
        self.0.keep(builders, seen, |_| 0)
    }
}

/// Gives the trace to the builders through a sink. Returns how many have seen everything.
pub(crate) fn build_histories<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    (meter, sink): (&mut ProgressMeter<'_>, &mut dyn PassSink),
) -> Result<usize, SimError> {
    let read = |index, batch: &mut Batch| trace.read(index, batch);
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
