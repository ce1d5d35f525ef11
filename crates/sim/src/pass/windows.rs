//! One pass over a trace: pieces are decoded ahead while those before go to the builders.

use std::ops::Range;

use homenode_placement::HistoryBuilder;
use homenode_trace::{Batch, TraceError};
use rayon::prelude::*;

use crate::Progress;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::placement::run::Meter;

/// References decoded ahead for each thread, and threads served so; 13 bytes each.
const WINDOW_REFERENCES: usize = 1 << 20;
const THREADS_MAX: usize = 8;

/// What becomes of the references of a pass.
pub(crate) trait Feed: Send {
    /// Gives some batches, in Time order, to all builders.
    fn give(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]);

    /// Gives what is left to the builders after the last batch.
    fn end(&mut self, _builders: &mut [HistoryBuilder]) {}

    /// How many of the builders go on after so many references.
    fn keep(&mut self, builders: &mut [HistoryBuilder], _seen: u64) -> usize {
        builders.len()
    }
}

/// Every reference as it is, to every builder.
pub(crate) struct AsItIs;

impl Feed for AsItIs {
    fn give(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        builders.par_iter_mut().for_each(|builder| {
            for batch in batches {
                builder.push(batch);
            }
        });
    }
}

/// Feeds the whole trace to the builders.
pub(crate) fn pass<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    meter: &mut Meter<'_>,
) -> Result<(), SimError> {
    feed(pool, trace, builders, (meter, &mut AsItIs)).map(|_| ())
}

/// Feeds the trace to the builders. Returns how many have seen everything.
pub(crate) fn feed<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    (meter, way): (&mut Meter<'_>, &mut dyn Feed),
) -> Result<usize, SimError> {
    let pieces = trace.pieces();
    let width = window_pieces(trace, pool.current_num_threads());
    let window = |first: usize| first..pieces.min(first + width);
    let mut ready = pool.install(|| decode((trace, T::read), window(0), Vec::new()))?;
    let mut spare = Vec::new();
    let (mut kept, mut seen) = (builders.len(), 0);
    let mut first = 0;
    while first < pieces {
        let builders = &mut builders[..kept];
        let next = window(first + width);
        let recycled = std::mem::take(&mut spare);
        let ((), decoded) = pool.install(|| {
            rayon::join(|| way.give(builders, &ready), || decode((trace, T::read), next, recycled))
        });
        let rows: usize = ready.iter().map(Batch::len).sum();
        let work = u64::try_from(rows * builders.len()).unwrap_or(0);
        seen += u64::try_from(rows).unwrap_or(0);
        kept = way.keep(builders, seen);
        spare = std::mem::replace(&mut ready, decoded?);
        meter.add(work)?;
        first += width;
    }
    pool.install(|| way.end(&mut builders[..kept]));
    Ok(kept)
}

/// Pieces decoded at a time: work for every thread, but few references in memory.
pub(crate) fn window_pieces<T: TraceSource + ?Sized>(trace: &T, threads: usize) -> usize {
    let references = usize::try_from(trace.references()).unwrap_or(usize::MAX);
    let per_piece = (references / trace.pieces().max(1)).max(1);
    let for_one = (WINDOW_REFERENCES / per_piece).clamp(1, 64);
    for_one * threads.clamp(1, THREADS_MAX)
}

/// How a piece is read: [`TraceSource::read`] or [`TraceSource::read_all`].
pub(crate) type Read<T> = fn(&T, usize, &mut Batch) -> Result<(), TraceError>;

/// Decodes pieces in parallel, into recycled batches where there are any.
pub(crate) fn decode<T: TraceSource + ?Sized>(
    (trace, read): (&T, Read<T>),
    pieces: Range<usize>,
    mut recycled: Vec<Batch>,
) -> Result<Vec<Batch>, SimError> {
    recycled.resize_with(pieces.len(), Batch::default);
    let work = pieces.into_par_iter().zip(recycled);
    let read = work.map(|(index, mut batch)| read(trace, index, &mut batch).map(|()| batch));
    Ok(read.collect::<Result<_, _>>()?)
}

/// Gives the trace window by window, in Time order; the next window is decoded meanwhile. What is
/// given runs in the pool, and reports the references done so far of `total`.
pub(crate) fn windows<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    (trace, read): (&T, Read<T>),
    (progress, total): (Progress<'_>, u64),
    give: &mut (dyn FnMut(&[Batch]) -> Result<(), SimError> + Send),
) -> Result<(), SimError> {
    let pieces = trace.pieces();
    let width = window_pieces(trace, pool.current_num_threads());
    let window = |first: usize| first..pieces.min(first + width);
    let mut ready = pool.install(|| decode((trace, read), window(0), Vec::new()))?;
    let mut spare = Vec::new();
    let (mut first, mut done) = (0, 0);
    while first < pieces {
        let recycled = std::mem::take(&mut spare);
        let (given, decoded) = pool.install(|| {
            rayon::join(|| give(&ready), || decode((trace, read), window(first + width), recycled))
        });
        given?;
        let rows: usize = ready.iter().map(Batch::len).sum();
        done = trace.references().min(done + u64::try_from(rows).unwrap_or(0));
        spare = std::mem::replace(&mut ready, decoded?);
        if progress(done, Some(total)).is_break() {
            return Err(SimError::Interrupted);
        }
        first += width;
    }
    Ok(())
}
