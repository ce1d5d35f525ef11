//! The survey of word use.

use homenode_advise::{UseSurvey, UseSurveyor};
use homenode_trace::{Batch, TraceReader};

use crate::error::SimError;
use crate::pass::{TraceSource, WindowReader, part_of};

/// Reads the whole trace, with its events, once.
pub(crate) fn survey_uses(
    mut surveyor: UseSurveyor,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    tick: &mut dyn FnMut(f64) -> Result<(), SimError>,
) -> Result<UseSurvey, SimError> {
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    let mut windows = WindowReader::of_one_piece(pool, trace, &read);
    let mut pieces = 0;
    while let Some(()) = windows.next(|batches| batches.iter().for_each(|b| surveyor.push(b)))? {
        pieces += 1;
        tick(part_of(pieces, trace.pieces()))?;
    }
    Ok(surveyor.finish())
}

/// The survey, and the result of `other`, which runs in parallel and alone reports progress.
pub(crate) fn survey_beside<R>(
    surveyor: UseSurveyor,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    other: impl FnOnce() -> Result<R, SimError>,
) -> Result<(UseSurvey, R), SimError> {
    // A thread of its own: it only waits for the pool's threads, which do the work of both.
    let (survey, other) = std::thread::scope(|scope| {
        let survey = scope.spawn(|| survey_uses(surveyor, trace, pool, &mut |_| Ok(())));
        let other = other();
        (survey.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    });
    Ok((survey?, other?))
}
