//! Traces from traces: configuration in as JSON, summaries out as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use homenode_trace::TraceReader;
use homenode_transform::{TransformError, transform_files};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::{config_error, trace_error};
use crate::interchange::to_json;
use crate::progress::ProgressCallback;

/// A transform and its parameters as users write them.
#[derive(Deserialize)]
struct Config {
    kind: String,
    parameters: BTreeMap<String, String>,
}

/// Transforms one or several traces into a new one; returns the summaries of the written traces, as
/// a list.
#[pyfunction]
pub fn transform(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    out: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: Config = serde_json::from_str(config_json)
        .map_err(|e| config_error(format!("the configuration cannot be read: {e}")))?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let traces: Result<Vec<_>, _> = paths.iter().map(TraceReader::open).collect();
        let traces = traces?;
        let Config { kind, parameters } = &config;
        transform_files(&traces, kind, parameters, &out, &mut |d, t| progress.tick(d, t))
    });
    to_json(&progress.finish(result.map_err(|error| {
        if let TransformError::Trace(error) = &error {
            trace_error(error)
        } else {
            config_error(&error)
        }
    }))?)
}
