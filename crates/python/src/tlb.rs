//! Misses of TLBs: configuration in as JSON, outcomes out as JSON.

use std::path::PathBuf;

use homenode_sim::TlbConfig;
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::error::config_error;
use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::sim_error;

/// Counts the misses of the configuration's TLBs: `{"outcomes": [...], "provenance": {...}}`.
#[pyfunction]
pub fn tlb(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: TlbConfig = serde_json::from_str(config_json)
        .map_err(|e| config_error(format!("the configuration cannot be read: {e}")))?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::tlb_misses(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}
