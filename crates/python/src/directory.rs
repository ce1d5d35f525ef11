//! Machines with a directory: configuration in as JSON, outcomes out as JSON.

use std::path::PathBuf;

use homenode_sim::{DirectoryConfig, DirectoryStudy};
use homenode_trace::TraceReader;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::interchange::to_json;
use crate::page_use::columns;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Simulates the matrix of the configuration: `{"outcomes": [...], "provenance": {...}}`.
#[pyfunction]
pub fn simulate_directory(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    to_json(&study(py, path, parse(config_json)?, progress)?)
}

/// The same, and for each outcome the page use by node, as columns by name.
#[pyfunction]
pub fn directory_uses<'py>(
    py: Python<'py>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<Bound<'py, PyDict>>)> {
    let config = DirectoryConfig { collect_uses: true, ..parse(config_json)? };
    let mut found = study(py, path, config, progress)?;
    let uses = std::mem::take(&mut found.uses);
    let uses: PyResult<Vec<_>> = uses.into_iter().map(|uses| columns(py, uses)).collect();
    Ok((to_json(&found)?, uses?))
}

fn study(
    py: Python<'_>,
    path: PathBuf,
    config: DirectoryConfig,
    progress: Option<Py<PyAny>>,
) -> PyResult<DirectoryStudy> {
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::simulate_directory(&config, &trace, &mut |done, total| {
            progress.tick(done, total)
        })
    });
    progress.finish(result.map_err(|error| sim_error(&error)))
}

/// The model checker's reports on these protocols with up to `nodes` nodes, as a JSON list.
#[pyfunction]
pub fn check_directory_protocols(
    py: Python<'_>,
    names: Vec<String>,
    nodes: Option<usize>,
) -> PyResult<String> {
    let reports = py.detach(|| homenode_sim::check_directory_protocols(&names, nodes));
    to_json(&reports.map_err(|error| sim_error(&error))?)
}
