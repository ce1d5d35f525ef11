//! Simulations: configuration in as JSON, outcomes out as JSON.

use std::path::PathBuf;

use homenode_sim::{SimConfig, SimError};
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::error::{config_error, trace_error};
use crate::interchange::to_json;
use crate::progress::Progress;

/// Simulates the matrix of the configuration: `{"outcomes": [...], "provenance": {...}}`.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: SimConfig = serde_json::from_str(config_json)
        .map_err(|e| config_error(format!("the configuration cannot be read: {e}")))?;
    let mut progress = Progress::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::run(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// A simulation's error as the exception of whatever was at fault.
pub fn sim_error(error: &SimError) -> PyErr {
    if let SimError::Trace(error) = error { trace_error(error) } else { config_error(error) }
}
