//! Programs, recorded or live on a simulated machine: configurations and options in as JSON,
//! summaries and results out as JSON.

use std::cell::RefCell;

use homenode_capture::{CaptureError, DirectedProgram, DirectedSummary, RecordOptions};
use homenode_sim::{LiveEnd, RunConfig, RunError, engine_named, run_program};
use pyo3::prelude::*;

use crate::call::{detached, parse, to_json};
use crate::error::{config_error, sim_error, trace_error};

/// Runs a program built with `homenode cc` and writes its references to a trace.
#[pyfunction]
pub fn record(py: Python<'_>, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let options: RecordOptions = parse("options", options_json)?;
    let summary = detached(py, progress, capture_error, |progress| {
        homenode_capture::record(&options, &mut |references| {
            progress.tick(references, None).is_continue()
        })
    });
    to_json(&summary?)
}

/// A full disk or a damaged file is a trace error, everything else a configuration error.
fn capture_error(error: &CaptureError) -> PyErr {
    if let CaptureError::Trace(error) = error { trace_error(error) } else { config_error(error) }
}

type StartProgram<'a, 'p> = Box<dyn FnOnce(u64) -> Result<DirectedProgram<'p>, CaptureError> + 'a>;
type EndProgram<'a> = Box<dyn FnOnce(DirectedProgram<'_>) -> Result<LiveEnd, CaptureError> + 'a>;

/// Runs a program on a machine of an engine: the result of `simulate`, and the summary of the run.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    engine: &str,
    config_json: &str,
    run_json: &str,
    options_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let choice: RunConfig = parse("configuration", run_json)?;
    let engine = engine_named(engine).map_err(|error| sim_error(&error))?;
    let options: RecordOptions = parse("options", options_json)?;
    let exception = |error: &RunError<CaptureError>| match error {
        RunError::Simulation(error) => sim_error(error),
        RunError::Program(error) => capture_error(error),
    };
    let done = detached(py, progress, exception, |progress| {
        let mut tick = |references| progress.tick(references, None).is_continue();
        let (summary, slack) = (RefCell::new(None::<DirectedSummary>), RefCell::new(0));
        let (known, tick): (&RefCell<u64>, &mut dyn FnMut(u64) -> bool) = (&slack, &mut tick);
        let start: StartProgram<'_, '_> = Box::new(|cycles| {
            known.replace(cycles);
            DirectedProgram::start(&options, tick)
        });
        let end: EndProgram<'_> = Box::new(|program| {
            let done = program.finish(&format!("simulated slack={}", slack.borrow()))?;
            let end = LiveEnd {
                name: done.output.clone().unwrap_or_else(|| options.argv[0].clone()),
                checksum: done.checksum.clone(),
                references: done.references,
                threads: done.threads,
            };
            summary.replace(Some(done));
            Ok(end)
        });
        let found = engine
            .prepare_run(config_json, &choice)
            .map_err(RunError::Simulation)
            .and_then(|machine| run_program(machine, start, end))
            .inspect_err(|_| DirectedProgram::discard(&options))?;
        Ok((found, summary.take()))
    });
    let (found, summary) = done?;
    Ok((found, to_json(&summary)?))
}
