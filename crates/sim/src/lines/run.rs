//! Simulates a machine and reports the data that its processors wait for.

use homenode_advise::{Layout, UseSurvey, UseSurveyor};
use homenode_analysis::Names;
use homenode_trace::{Batch, TraceReader};

use super::config::LineConfig;
use super::findings::{may_find, words_to_survey};
use super::layouts::LayoutVariant;
use super::outcome::{LineReport, assemble};
use super::replay::{LineReplay, LineResult};
use super::stack_variables::{name_stack_variables, waits_for_stacks};
use crate::error::SimResult;
use crate::pass::{PassProgress, Progress, TraceSource, for_each_piece, thread_pool};
use crate::references::data;

/// Simulates the trace in cycles, and reports how long processors wait, why, and for which data.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn line_waits(
    config: &LineConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<LineReport> {
    let pool = thread_pool(config.threads)?;
    let replay = LineReplay::new(config, trace, &pool)?;
    let mut progress = PassProgress::new(progress, TraceSource::references(trace), 0.0);
    progress.begin(0.7);
    let results = replay
        .simulate(&[LayoutVariant::of(&Layout::default())], &mut |done| progress.tick(done))?;
    progress.begin(1.0);
    let mut names = Names::new(trace.metadata());
    let surveyor = results.first().and_then(|result| surveyor(config, trace, &names, result));
    let tick = &mut |done| progress.tick(done);
    let survey = surveyor.map(|surveyor| survey_uses(surveyor, trace, &pool, tick)).transpose()?;
    if let (Some(survey), Some(result)) = (&survey, results.first()) {
        name_stack_variables(&mut names, survey, result, trace, &pool)?;
    }
    progress.finish()?;
    Ok(assemble(config, &replay, trace, &names, survey.as_ref(), results))
}

/// The surveyor of the words whose use findings depend on; `None` if there are none.
fn surveyor(
    config: &LineConfig,
    trace: &TraceReader,
    names: &Names<'_>,
    result: &LineResult,
) -> Option<UseSurveyor> {
    let (waits, cycles) = (&result.waits, result.processor_cycles());
    if !may_find(waits, cycles) {
        return None;
    }
    let threads = TraceSource::threads(trace).max(1);
    let surveyor = UseSurveyor::new(threads, data(config.private, config.sync));
    if waits_for_stacks(trace, waits, cycles) {
        return Some(surveyor);
    }
    let words = words_to_survey(names, waits, cycles);
    (!words.is_empty()).then(|| surveyor.of_words(words))
}

pub(crate) fn survey_uses(
    mut surveyor: UseSurveyor,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    tick: &mut dyn FnMut(f64) -> SimResult<()>,
) -> SimResult<UseSurvey> {
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    for_each_piece(pool, trace, &read, tick, |batch| surveyor.push(batch))?;
    Ok(surveyor.finish())
}

/// The survey, and the result of `other`, which runs in parallel and alone reports progress.
pub(crate) fn survey_beside<R>(
    surveyor: UseSurveyor,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    other: impl FnOnce() -> SimResult<R>,
) -> SimResult<(UseSurvey, R)> {
    // A thread of its own: it only waits for the pool's threads, which do the work of both.
    let (survey, other) = std::thread::scope(|scope| {
        let survey = scope.spawn(|| survey_uses(surveyor, trace, pool, &mut |_| Ok(())));
        let other = other();
        (survey.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    });
    Ok((survey?, other?))
}
