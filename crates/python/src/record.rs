//! Recordings: options in as JSON, summary out as JSON.

use homenode_capture::{CaptureError, RecordOptions};
use pyo3::prelude::*;

use crate::error::{config_error, trace_error};
use crate::interchange::to_json;
use crate::progress::ProgressCallback;

/// Runs a program built with `homenode cc` and writes its references to a trace.
#[pyfunction]
pub fn record(py: Python<'_>, options_json: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let options: RecordOptions = serde_json::from_str(options_json)
        .map_err(|e| config_error(format!("the options cannot be read: {e}")))?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        homenode_capture::record(&options, &mut |references| {
            progress.tick(references, None).is_continue()
        })
    });
    to_json(&progress.finish(result.map_err(|error| capture_error(&error)))?)
}

/// A full disk or a damaged file is a trace error, everything else a configuration error.
pub fn capture_error(error: &CaptureError) -> PyErr {
    if let CaptureError::Trace(error) = error { trace_error(error) } else { config_error(error) }
}
