//! Protocols explained: configuration in as JSON, tables and steps out as JSON.

use std::path::PathBuf;

use homenode_sim::ExplainConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Tables of protocols and a walk through an example, or through a part of a trace if there is a
/// path.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn explain(
    py: Python<'_>,
    path: Option<PathBuf>,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: ExplainConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = path.map(TraceReader::open).transpose()?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::explain(&config, trace.as_ref(), &mut tick)
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}
