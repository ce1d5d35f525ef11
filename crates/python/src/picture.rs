//! Pictures of sharing: configuration in as JSON, cells out as JSON.

use std::path::PathBuf;

use homenode_sim::PictureConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Which processors reference which part of memory when.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn picture(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: PictureConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::sharing_picture(&config, &trace, &mut tick)
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}
