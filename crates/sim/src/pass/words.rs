//! References counted in words.

use homenode_trace::{Batch, ChunkInfo, TraceReader, WordSize};
use rayon::prelude::*;

use super::pool::thread_pool;
use super::progress::{Progress, report, second_half};
use crate::error::{SimError, config_error};

/// Chunks that each thread counts between two reports of progress.
const CHUNKS_OF_A_THREAD: usize = 4;

/// Calls `simulate` with the references of the trace counted in words of so many bytes, or with
/// the trace itself if nothing is asked for. `check` finds what else is wrong with a configuration
/// before the trace is read.
///
/// How many words there are must be known before references are simulated: it gives every chunk
/// its Time and policies the program's rate of references. So the trace is decoded once more.
/// Its references are split where batches are decoded, in every pass.
///
/// The first half of the progress is that of the count.
pub(crate) fn in_words<R>(
    (asked, threads): (Option<u64>, Option<usize>),
    trace: &TraceReader,
    progress: Progress<'_>,
    check: impl FnOnce() -> Result<(), SimError>,
    simulate: impl FnOnce(&TraceReader, Progress<'_>) -> Result<R, SimError>,
) -> Result<R, SimError> {
    let Some(bytes) = asked else { return simulate(trace, progress) };
    let word = word_size(bytes)?;
    check()?;
    let chunks = counted(word, trace, &thread_pool(threads)?, progress)?;
    simulate(&trace.in_words(word, chunks), &mut second_half(progress, trace.rows()))
}

/// A word of so many bytes.
fn word_size(bytes: u64) -> Result<WordSize, SimError> {
    WordSize::new(bytes).ok_or_else(|| {
        config_error(format!(
            "--word-bytes: words of {bytes} bytes: give a power of two from 1 to {}, such as 4",
            WordSize::BYTES_MAX
        ))
    })
}

/// The words of every chunk.
fn counted(
    word: WordSize,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<ChunkInfo>, SimError> {
    let (all, together) = (trace.chunks().len(), CHUNKS_OF_A_THREAD * pool.current_num_threads());
    let mut chunks = Vec::with_capacity(all);
    let mut rows = 0;
    for first in (0..all).step_by(together) {
        let some = (first..all.min(first + together)).into_par_iter();
        let count = |batch: &mut Batch, index| trace.count_words(index, word, batch);
        let counts = pool.install(|| some.map_init(Batch::default, count).collect::<Vec<_>>());
        // In order, so that the same error is reported on any number of threads.
        for chunk in counts {
            rows += u64::from(trace.chunks()[chunks.len()].rows);
            chunks.push(chunk?);
        }
        report(&mut *progress, rows, 2 * trace.rows())?;
    }
    Ok(chunks)
}
