//! Simulates a machine of today and says whose data its processors wait for.

use homenode_advise::{Layout, UseSurveyor};
use homenode_analysis::Names;
use homenode_trace::TraceReader;

use super::config::LineConfig;
use super::findings::may_find;
use super::outcome::{LineReport, assemble};
use super::replay::{LineReplay, LineResult};
use super::stack_variables::name_stack_variables;
use super::survey::survey_uses;
use crate::bus::LayoutVariant;
use crate::error::SimError;
use crate::pass::{PassProgress, Progress, TraceSource, thread_pool};
use crate::references::data;

/// Simulates the trace in cycles, and says how long processors wait, why, and for whose data.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn line_waits(
    config: &LineConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<LineReport, SimError> {
    let pool = thread_pool(config.threads)?;
    let replay = LineReplay::new(config, trace, &pool)?;
    let mut progress = PassProgress::new(progress, TraceSource::references(trace), 0.0);
    progress.begin(0.7);
    let results = replay
        .simulate(&[LayoutVariant::of(&Layout::default())], &mut |done| progress.tick(done))?;
    progress.begin(1.0);
    let waited = |result: &LineResult| may_find(&result.waits, result.processor_cycles());
    let survey = if results.iter().any(waited) {
        let threads = TraceSource::threads(trace).max(1);
        let surveyor = UseSurveyor::new(threads, data(config.private, config.sync));
        Some(survey_uses(surveyor, trace, &pool, &mut |done| progress.tick(done))?)
    } else {
        None
    };
    let mut names = Names::new(trace.metadata());
    if let (Some(survey), Some(result)) = (&survey, results.first()) {
        let found = (survey, &result.waits, result.processor_cycles());
        name_stack_variables(&mut names, found, (trace, &pool))?;
    }
    progress.finish()?;
    Ok(assemble(config, &replay, trace, (&names, survey.as_ref(), results)))
}
