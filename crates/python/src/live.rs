//! Live programs on simulated machines: configurations and options in as JSON, results out as JSON.

use std::cell::RefCell;

use homenode_capture::{CaptureError, DirectedProgram, DirectedSummary, RecordOptions};
use homenode_sim::{BusConfig, DirectoryConfig, LiveEnd, RunConfig, RunError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::config_error;
use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::record::capture_error;
use crate::simulate::{parse, sim_error};

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
    let (config, choice) = (parse::<BusConfig>(config_json)?, parse::<RunConfig>(run_json)?);
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
    let (config, choice) = (parse::<DirectoryConfig>(config_json)?, parse::<RunConfig>(run_json)?);
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
    let options: RecordOptions = serde_json::from_str(options_json)
        .map_err(|e| config_error(format!("the options cannot be read: {e}")))?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
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
        let found = run(start, end)?;
        Ok((found, summary.take()))
    });
    let result = result.map_err(|error: RunError<CaptureError>| {
        DirectedProgram::discard(&options);
        match error {
            RunError::Simulation(error) => sim_error(&error),
            RunError::Program(error) => capture_error(&error),
        }
    });
    let (found, summary) = progress.finish(result)?;
    Ok((to_json(&found)?, to_json(&summary)?))
}
