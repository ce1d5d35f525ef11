//! Layout advice: configuration in as JSON, advice out as JSON.

use std::path::PathBuf;

use homenode_sim::AdviceConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::error::trace_error;
use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Advice to align, pad, group and split data, with the gain simulated; writes the trace with the
/// new layout if `out` is given.
#[pyfunction]
#[pyo3(signature = (path, config_json, out=None, progress=None))]
pub fn advise(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: AdviceConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path).map_err(|error| trace_error(&error))?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::advise(&config, &trace, out.as_deref(), &mut tick)
            .map_err(|error| sim_error(&error))
    });
    to_json(&progress.finish(result)?)
}
