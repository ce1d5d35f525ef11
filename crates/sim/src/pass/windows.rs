//! Windows of a trace, decoded ahead: one is decoded while the one before is simulated.

use std::ops::Range;

use homenode_clock::streams::{StreamForecast, StreamSplitter, ThreadStreams};
use homenode_trace::{Batch, TraceError};
use rayon::prelude::*;

use super::progress::{Progress, part_of, report};
use super::source::TraceSource;
use crate::error::SimResult;

/// References decoded ahead per thread, 13 bytes each, and the most threads for which this is done.
const WINDOW_REFERENCES: usize = 1 << 20;
const THREADS_MAX: usize = 8;

pub(crate) type ReadPiece<'a> = &'a (dyn Fn(usize, &mut Batch) -> Result<(), TraceError> + Sync);

pub(crate) struct WindowReader<'a> {
    pool: &'a rayon::ThreadPool,
    read: ReadPiece<'a>,
    pieces: usize,
    width: usize,
    next: usize,
    /// The decoded window; empty at the end of the trace.
    ready: SimResult<Vec<Batch>>,
    spare: Vec<Batch>,
    rows: u64,
}

impl<'a> WindowReader<'a> {
    /// Windows with enough pieces to keep all threads busy and few references in memory.
    pub(crate) fn new(
        pool: &'a rayon::ThreadPool,
        trace: &dyn TraceSource,
        read: ReadPiece<'a>,
    ) -> Self {
        let references = usize::try_from(trace.references()).unwrap_or(usize::MAX);
        let per_piece = (references / trace.pieces().max(1)).max(1);
        let for_one = (WINDOW_REFERENCES / per_piece).clamp(1, 64);
        let width = for_one * pool.current_num_threads().clamp(1, THREADS_MAX);
        Self::with_width(pool, trace.pieces(), width, read)
    }

    fn with_width(
        pool: &'a rayon::ThreadPool,
        pieces: usize,
        width: usize,
        read: ReadPiece<'a>,
    ) -> Self {
        let next = width.min(pieces);
        let ready = pool.install(|| decode(read, 0..next, Vec::new()));
        Self { pool, read, pieces, width, next, ready, spare: Vec::new(), rows: 0 }
    }

    /// Calls `take` with the next window, in the pool, while the window after it is decoded.
    /// Returns `None` at the end of the trace.
    ///
    /// An error of decoding ahead is returned only when its window is due, so that any number of
    /// threads reports the same error.
    pub(crate) fn next<R: Send>(
        &mut self,
        take: impl FnOnce(&[Batch]) -> R + Send,
    ) -> SimResult<Option<R>> {
        let window = std::mem::replace(&mut self.ready, Ok(Vec::new()))?;
        if window.is_empty() {
            return Ok(None);
        }
        let ahead = self.next..self.pieces.min(self.next + self.width);
        self.next = ahead.end;
        let (read, recycled) = (self.read, std::mem::take(&mut self.spare));
        let (taken, decoded) =
            self.pool.install(|| rayon::join(|| take(&window), || decode(read, ahead, recycled)));
        let rows: usize = window.iter().map(Batch::len).sum();
        self.rows += u64::try_from(rows).unwrap_or(0);
        self.ready = decoded;
        self.spare = window;
        Ok(Some(taken))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }
}

fn decode(
    read: ReadPiece<'_>,
    pieces: Range<usize>,
    mut recycled: Vec<Batch>,
) -> SimResult<Vec<Batch>> {
    recycled.resize_with(pieces.len(), Batch::default);
    let batches = pieces.into_par_iter().zip(recycled);
    let decoded = batches.map(|(index, mut batch)| read(index, &mut batch).map(|()| batch));
    Ok(decoded.collect::<Result<_, _>>()?)
}

/// Calls `take` with each window of the trace, and reports the references done of `total`.
pub(crate) fn for_each_window(
    pool: &rayon::ThreadPool,
    trace: &dyn TraceSource,
    read: ReadPiece<'_>,
    progress: Progress<'_>,
    total: u64,
    mut take: impl FnMut(&[Batch]) -> SimResult<()> + Send,
) -> SimResult<()> {
    let mut windows = WindowReader::new(pool, trace, read);
    while let Some(taken) = windows.next(&mut take)? {
        taken?;
        report(&mut *progress, trace.references().min(windows.rows()), total)?;
    }
    Ok(())
}

/// Calls `take` with each piece of the trace, in order, while the next one is decoded; `tick` gets
/// the part that is done.
pub(crate) fn for_each_piece(
    pool: &rayon::ThreadPool,
    trace: &dyn TraceSource,
    read: ReadPiece<'_>,
    tick: &mut dyn FnMut(f64) -> SimResult<()>,
    mut take: impl FnMut(&Batch) + Send,
) -> SimResult<()> {
    let mut windows = WindowReader::with_width(pool, trace.pieces(), 1, read);
    let mut pieces = 0;
    while let Some(()) = windows.next(|batches| batches.iter().for_each(&mut take))? {
        pieces += 1;
        tick(part_of(pieces, trace.pieces()))?;
    }
    Ok(())
}

pub(crate) fn for_each_stream_window(
    pool: &rayon::ThreadPool,
    trace: &dyn TraceSource,
    splitter: &mut StreamSplitter,
    progress: Progress<'_>,
    mut simulate: impl FnMut(&[ThreadStreams]) -> SimResult<()> + Send,
) -> SimResult<()> {
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

pub(crate) fn forecast(trace: &dyn TraceSource) -> SimResult<StreamForecast> {
    let system = !trace.metadata().processes.is_empty();
    let mut forecast = StreamForecast::new(usize::from(trace.threads()), system);
    for piece in 0..trace.pieces() {
        forecast.add(&trace.outline(piece)?);
    }
    Ok(forecast)
}
