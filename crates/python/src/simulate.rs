//! Simulations: configuration in as JSON, outcomes out as JSON.

use std::path::PathBuf;

use homenode_sim::{SimConfig, SimError};
use homenode_trace::TraceReader;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::error::{config_error, trace_error};
use crate::interchange::to_json;
use crate::progress::ProgressCallback;

/// Simulates the matrix of the configuration: `{"outcomes": [...], "provenance": {...}}`.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: SimConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::run(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// The blocks and objects with the highest cost, `count` of each.
#[pyfunction]
#[pyo3(signature = (path, config_json, count, progress=None))]
pub fn worst_blocks(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    count: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: SimConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::worst_blocks(&config, &trace, count, &mut tick)
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// A configuration from JSON.
pub fn parse<C: serde::de::DeserializeOwned>(config_json: &str) -> PyResult<C> {
    serde_json::from_str(config_json)
        .map_err(|e| config_error(format!("the configuration cannot be read: {e}")))
}

/// A simulation's error as the exception for its cause.
pub fn sim_error(error: &SimError) -> PyErr {
    if let SimError::Output(cause) = error {
        return match cause.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        };
    }
    if let SimError::Trace(error) = error { trace_error(error) } else { config_error(error) }
}
