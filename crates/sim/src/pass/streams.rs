//! A trace as the streams of its processes: one window is simulated while the next one is split and
//! the one after that is decoded.

use homenode_clock::streams::{StreamForecast, StreamSplitter, ThreadStreams};
use homenode_trace::Batch;

use super::{Progress, TraceSource, for_each_window};
use crate::error::SimError;

/// Calls `simulate` with the streams of each window in order.
pub(crate) fn for_each_stream_window<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    splitter: &mut StreamSplitter,
    progress: Progress<'_>,
    mut simulate: impl FnMut(&[ThreadStreams]) -> Result<(), SimError> + Send,
) -> Result<(), SimError> {
    let mut ready: Vec<ThreadStreams> = Vec::new();
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    for_each_window(pool, trace, &read, progress, trace.references(), |batches| {
        let now = std::mem::take(&mut ready);
        let ahead = || batches.iter().flat_map(|batch| splitter.split_in_slices(batch)).collect();
        let (simulated, next) = rayon::join(|| simulate(&now), ahead);
        ready = next;
        simulated
    })?;
    pool.install(|| simulate(&ready))
}

/// Waits of a trace's processes.
pub(crate) fn forecast<T: TraceSource + ?Sized>(trace: &T) -> Result<StreamForecast, SimError> {
    let system = !trace.metadata().processes.is_empty();
    let mut forecast = StreamForecast::new(usize::from(trace.threads()), system);
    for piece in 0..trace.pieces() {
        forecast.add(&trace.outline(piece)?);
    }
    Ok(forecast)
}
