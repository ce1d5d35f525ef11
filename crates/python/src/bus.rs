//! Machines on a bus and their protocols: configuration in as JSON, outcomes out as JSON.

use std::path::PathBuf;

use homenode_sim::{BusConfig, FootprintConfig, LineConfig};
use homenode_trace::TraceReader;
use pyo3::prelude::*;

use crate::interchange::to_json;
use crate::progress::ProgressCallback;
use crate::simulate::{parse, sim_error};

/// Simulates the matrix of the configuration: `{"outcomes": [...], "provenance": {...}}`.
#[pyfunction]
pub fn simulate_bus(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: BusConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::simulate_bus(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// Waiting by data structure on a machine with cores, caches and links.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn line_waits(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: LineConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::line_waits(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}

/// The kind of each machine: `placement`, `page-coherence`, `bus` or `multicore`.
#[pyfunction]
pub fn machine_kinds(machines: Vec<String>) -> PyResult<Vec<&'static str>> {
    let kinds = homenode_sim::machine_kinds(&machines).map_err(|error| sim_error(&error))?;
    Ok(kinds.into_iter().map(homenode_sim::MachineKind::name).collect())
}

/// Whether these machines have caches; an error if only some of them have.
#[pyfunction]
pub fn have_caches(machines: Vec<String>) -> PyResult<bool> {
    homenode_sim::have_caches(&machines).map_err(|error| sim_error(&error))
}

/// The model checker's reports on these protocols, all if there are none, as a JSON list.
#[pyfunction]
pub fn check_protocols(py: Python<'_>, names: Vec<String>) -> PyResult<String> {
    let reports = py.detach(|| homenode_sim::check_protocols(&names));
    to_json(&reports.map_err(|error| sim_error(&error))?)
}

/// The number of processors beyond which one more adds less than 0.5 to the power, from pairs of
/// both; `None` if each adds more.
#[pyfunction]
pub fn critical_point(powers: Vec<(u16, f64)>) -> Option<u16> {
    homenode_sim::critical_point(powers)
}

/// The footprints of groups of a trace's threads, as a JSON list.
#[pyfunction]
#[pyo3(signature = (path, config_json, progress=None))]
pub fn footprint(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let config: FootprintConfig = parse(config_json)?;
    let mut progress = ProgressCallback::new(progress);
    let result = py.detach(|| {
        let trace = TraceReader::open(path)?;
        homenode_sim::footprint(&config, &trace, &mut |done, total| progress.tick(done, total))
    });
    to_json(&progress.finish(result.map_err(|error| sim_error(&error)))?)
}
