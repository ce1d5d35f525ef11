//! The page manager: configuration in as JSON, the report out as JSON.

use std::path::PathBuf;

use homenode_sim::PmapConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::error::config_error;
use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Runs the page manager over a trace.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn pmap(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: PmapConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::pmap(&config, &trace, &mut tick)
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// The manager's table; `owner_copy` is `flush` or `keep`.
#[pyfunction]
pub fn page_actions(owner_copy: &str) -> PyResult<String> {
    let choice = serde_json::from_value(owner_copy.into());
    let choice = choice.map_err(|_| {
        config_error(format!("owner_copy is {owner_copy:?}; expected one of flush, keep"))
    })?;
    to_json(&homenode_sim::pmap_actions(choice))
}
