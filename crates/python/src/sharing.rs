//! False sharing: configuration in as JSON, findings out as JSON; and synthetic traces with known
//! false sharing.

use std::path::PathBuf;

use homenode_analysis::synthetic::{SyntheticError, SyntheticShape, find};
use homenode_sim::SharingConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::error::{config_error, trace_error};
use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::sim_error;

/// The cost of false sharing at every block size, and its location.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn sharing(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: SharingConfig = serde_json::from_str(config_json)
        .map_err(|e| config_error(format!("the configuration cannot be read: {e}")))?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::sharing(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// Writes a trace whose false sharing is known in closed form; returns its summary. The shape is
/// its number of processors, words and references.
#[pyfunction]
pub fn synthetic(
    py: Python<'_>,
    name: &str,
    path: PathBuf,
    shape: (u16, u64, u64),
) -> PyResult<String> {
    let (processors, words, references) = shape;
    let shape = SyntheticShape { processors, words, references };
    let result = py.detach(|| find(name)?.write(shape, &path));
    to_json(&result.map_err(|error| match error {
        SyntheticError::Trace(error) => trace_error(&error),
        SyntheticError::Unknown { .. } | SyntheticError::Shape { .. } => config_error(error),
    })?)
}
