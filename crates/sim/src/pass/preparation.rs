//! Passes before a simulation: references counted in words, and caches in front of memory.

use homenode_trace::{Batch, ChunkInfo, TraceError, TraceReader, WordSize};
use homenode_transform::{CacheFilterShape, filter_temporarily};
use rayon::prelude::*;
use serde::Serialize;

use super::progress::{Progress, report, second_half};
use super::resources::thread_pool;
use crate::error::{SimError, SimResult, config_error};

/// Chunks per thread between two reports of progress.
const CHUNKS_OF_A_THREAD: usize = 4;

/// Calls `simulate` with the references of the trace counted in words of this size, or with the
/// trace itself if no size is given. `check` checks the rest of the configuration before the trace
/// is read.
///
/// The number of words must be known before the simulation: it determines every chunk's start in
/// Time, and the rate of references that policies use. So one pass over the trace counts words, and
/// later passes split references after decoding.
///
/// The first half of the progress is that of the count.
pub(crate) fn in_words<R>(
    word_bytes: Option<u64>,
    threads: Option<usize>,
    trace: &TraceReader,
    progress: Progress<'_>,
    check: impl FnOnce() -> SimResult<()>,
    simulate: impl FnOnce(&TraceReader, Progress<'_>) -> SimResult<R>,
) -> SimResult<R> {
    let Some(bytes) = word_bytes else { return simulate(trace, progress) };
    let word = word_size(bytes)?;
    check()?;
    let chunks = counted(word, trace, &thread_pool(threads)?, progress)?;
    simulate(&trace.in_words(word, chunks), &mut second_half(progress, trace.rows()))
}

fn word_size(bytes: u64) -> SimResult<WordSize> {
    WordSize::new(bytes).ok_or_else(|| {
        config_error(format!(
            "--word-bytes: words of {bytes} bytes: give a power of two from 1 to {}, such as 4",
            WordSize::BYTES_MAX
        ))
    })
}

fn counted(
    word: WordSize,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<Vec<ChunkInfo>> {
    let (all, together) = (trace.chunks().len(), CHUNKS_OF_A_THREAD * pool.current_num_threads());
    let mut chunks = Vec::with_capacity(all);
    let mut rows = 0;
    for first in (0..all).step_by(together) {
        let some = (first..all.min(first + together)).into_par_iter();
        let count = |batch: &mut Batch, index| trace.count_words(index, word, batch);
        let counts = pool.install(|| some.map_init(Batch::default, count).collect::<Vec<_>>());
        // In order, so that any number of threads reports the same error.
        for chunk in counts {
            rows += u64::from(trace.chunks()[chunks.len()].rows);
            chunks.push(chunk?);
        }
        report(&mut *progress, rows, 2 * trace.rows())?;
    }
    Ok(chunks)
}

/// How caches filtered a trace before its simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheFilterRecord {
    /// The cache of each processor, as `SIZE:WAYS:BLOCK`.
    pub cache: String,
    /// Data references of the trace.
    pub references: u64,
    /// Data references that reached memory, which were simulated.
    pub let_through: u64,
    /// Evictions; 0 if all data fit.
    pub replacements: u64,
}

/// Calls `simulate` with the references that miss a cache of this shape at each of `processors`
/// processors, or with the trace itself without a cache. Also returns the record of the filter.
///
/// The first half of the progress is that of the filter.
pub(crate) fn behind_caches<R>(
    caches: Option<CacheFilterShape>,
    processors: u16,
    trace: &TraceReader,
    progress: Progress<'_>,
    simulate: impl FnOnce(&TraceReader, Progress<'_>) -> SimResult<R>,
) -> SimResult<(R, Option<CacheFilterRecord>)> {
    let Some(shape) = caches else { return Ok((simulate(trace, progress)?, None)) };
    let rows = trace.rows();
    let both = Some(2 * rows);
    let filtered =
        filter_temporarily(trace, shape, processors, &mut |done, _| progress(done, both));
    let (misses, report) = filtered.map_err(|error| {
        if matches!(error, TraceError::Cancelled { .. }) {
            return SimError::Interrupted;
        }
        SimError::Trace(error)
    })?;
    let record = CacheFilterRecord {
        references: report.references,
        let_through: report.let_through(),
        replacements: report.replacements,
        cache: report.cache,
    };
    Ok((simulate(&misses, &mut second_half(progress, rows))?, Some(record)))
}
