//! Programs, recorded or live on a simulated machine: configurations and options in as JSON,
//! summaries and results out as JSON.

use std::cell::RefCell;

use homenode_capture::{CaptureError, DirectedProgram, DirectedSummary, RecordOptions};
use homenode_sim::{BusConfig, DirectoryConfig, LiveEnd, RunConfig, RunError};
use pyo3::prelude::*;
use serde::Serialize;

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

/// Runs a program on a machine with a bus or links: the result of `simulate_bus`, and the summary
/// of the run.
#[pyfunction]
pub fn run_bus(
    py: Python<'_>,
    config_json: &str,
    run_json: &str,
    options_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let config: BusConfig = parse("configuration", config_json)?;
    let choice: RunConfig = parse("configuration", run_json)?;
    let run = |start: StartProgram<'_, '_>, end: EndProgram<'_>| {
        homenode_sim::run_bus(&config, &choice, start, end)
    };
    run_on(py, options_json, progress, run)
}

/// The same on a machine with a directory.
#[pyfunction]
pub fn run_directory(
    py: Python<'_>,
    config_json: &str,
    run_json: &str,
    options_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let config: DirectoryConfig = parse("configuration", config_json)?;
    let choice: RunConfig = parse("configuration", run_json)?;
    let run = |start: StartProgram<'_, '_>, end: EndProgram<'_>| {
        homenode_sim::run_directory(&config, &choice, start, end)
    };
    run_on(py, options_json, progress, run)
}

type Ran<T> = Result<T, RunError<CaptureError>>;
type StartProgram<'a, 'p> = Box<dyn FnOnce(u64) -> Result<DirectedProgram<'p>, CaptureError> + 'a>;
type EndProgram<'a> = Box<dyn FnOnce(DirectedProgram<'_>) -> Result<LiveEnd, CaptureError> + 'a>;

fn run_on<T: Serialize + Send>(
    py: Python<'_>,
    options_json: &str,
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(StartProgram<'_, '_>, EndProgram<'_>) -> Ran<T> + Send,
) -> PyResult<(String, String)> {
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
        let found = run(start, end).inspect_err(|_| DirectedProgram::discard(&options))?;
        Ok((found, summary.take()))
    });
    let (found, summary) = done?;
    Ok((to_json(&found)?, to_json(&summary)?))
}
