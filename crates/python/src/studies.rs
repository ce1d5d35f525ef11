//! Studies of a trace: configuration in as JSON, results out as JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use homenode_sim::{
    AdviceConfig, ExplainConfig, FootprintConfig, LineConfig, OptimalConfig, PageUseColumns,
    PictureConfig, PlacementFormat, PlacementOutput, PmapConfig, Progress, SharingConfig,
    SimConfig, SimError, TlbConfig, engine_named,
};
use homenode_trace::TraceReader;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::call::{detached, parse, to_json};
use crate::error::sim_error;

/// Opens the trace and runs a study of it without the interpreter.
fn study<C: DeserializeOwned + Sync, R: Send>(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(&C, &TraceReader, Progress<'_>) -> Result<R, SimError> + Send,
) -> PyResult<R> {
    let config = parse("configuration", config_json)?;
    detached(py, progress, sim_error, |progress| {
        let trace = TraceReader::open(path)?;
        run(&config, &trace, &mut |done, total| progress.tick(done, total))
    })
}

/// Python functions whose arguments are those of a study.
macro_rules! studies {
    ($($(#[$attribute:meta])* $name:ident($config:ty) = $run:path;)*) => {$(
        $(#[$attribute])*
        pub fn $name(
            py: Python<'_>,
            path: PathBuf,
            config_json: &str,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<String> {
            to_json(&study::<$config, _>(py, path, config_json, progress, $run)?)
        }
    )*};
}

studies! {
    /// Counts the misses of the configuration's TLBs: `{"outcomes": [...], "provenance": {...}}`.
    #[pyfunction]
    tlb(TlbConfig) = homenode_sim::tlb_misses;

    /// Waiting by data structure on a machine with cores, caches and links.
    #[pyfunction]
    #[pyo3(signature = (path, config_json, progress=None))]
    line_waits(LineConfig) = homenode_sim::line_waits;

    /// The footprints of groups of a trace's threads, as a JSON list.
    #[pyfunction]
    #[pyo3(signature = (path, config_json, progress=None))]
    footprint(FootprintConfig) = homenode_sim::footprint;

    /// Which processors reference which part of memory when.
    #[pyfunction]
    #[pyo3(signature = (path, config_json, progress=None))]
    picture(PictureConfig) = homenode_sim::sharing_picture;

    /// Runs the page manager over a trace.
    #[pyfunction]
    #[pyo3(signature = (path, config_json, progress=None))]
    pmap(PmapConfig) = homenode_sim::pmap;

    /// The cost of false sharing at every block size, and its location.
    #[pyfunction]
    #[pyo3(signature = (path, config_json, progress=None))]
    sharing(SharingConfig) = homenode_sim::sharing;
}

/// Simulates the matrix of the configuration with the engine of its machines:
/// `{"outcomes": [...], "provenance": {...}}`, and for each outcome the page use by node, if it is
/// collected, as columns by name.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    engine: &str,
    path: PathBuf,
    config_json: &str,
    collect_uses: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<Bound<'py, PyDict>>)> {
    let engine = engine_named(engine).map_err(|error| sim_error(&error))?;
    let found = detached(py, progress, sim_error, |progress| {
        let trace = TraceReader::open(path)?;
        let mut tick = |done, total| progress.tick(done, total);
        (engine.simulate)(config_json, collect_uses, &trace, &mut tick)
    })?;
    let uses: PyResult<Vec<_>> = found.uses.into_iter().map(|uses| columns(py, uses)).collect();
    Ok((found.json, uses?))
}

/// The blocks and objects with the highest cost, `count` of each.
#[pyfunction]
#[pyo3(signature = (path, config_json, count, progress=None))]
pub fn worst_blocks(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    count: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let find = |config: &SimConfig, trace: &TraceReader, progress: Progress<'_>| {
        homenode_sim::worst_blocks(config, trace, count, progress)
    };
    to_json(&study(py, path, config_json, progress, find)?)
}

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
    let find = |config: &AdviceConfig, trace: &TraceReader, progress: Progress<'_>| {
        homenode_sim::advise(config, trace, out.as_deref(), progress)
    };
    to_json(&study(py, path, config_json, progress, find)?)
}

/// Finds the optimum; `out` is the file for the placement, with `-` for standard output, and
/// whether its format is comma-separated values.
#[pyfunction]
pub fn optimal(
    py: Python<'_>,
    path: PathBuf,
    config_json: &str,
    out: Option<(PathBuf, bool)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let find = |config: &OptimalConfig, trace: &TraceReader, progress: Progress<'_>| {
        let Some((out, csv)) = out else {
            return homenode_sim::optimal(config, trace, None, progress);
        };
        let mut sink = create(&out).map_err(SimError::Output)?;
        let format = if csv { PlacementFormat::Csv } else { PlacementFormat::Jsonl };
        let output = PlacementOutput { sink: &mut sink, format };
        let report = homenode_sim::optimal(config, trace, Some(output), progress)?;
        sink.flush().map_err(SimError::Output)?;
        Ok(report)
    };
    to_json(&study(py, path, config_json, progress, find)?)
}

fn create(out: &Path) -> io::Result<Box<dyn Write>> {
    if out == Path::new("-") {
        return Ok(Box::new(io::stdout().lock()));
    }
    Ok(Box::new(BufWriter::new(File::create(out)?)))
}

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
    let config: ExplainConfig = parse("configuration", config_json)?;
    let explained = detached(py, progress, sim_error, |progress| {
        let trace = path.map(TraceReader::open).transpose()?;
        let mut tick = |done, total| progress.tick(done, total);
        homenode_sim::explain(&config, trace.as_ref(), &mut tick)
    });
    to_json(&explained?)
}

/// The columns by name; `_core.pyi` and the class `PageUse` define them.
fn columns(py: Python<'_>, found: PageUseColumns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("page_bytes", found.page_bytes)?;
    dict.set_item("nodes", found.nodes)?;
    dict.set_item("objects", found.objects)?;
    dict.set_item("page_address", found.page_address.into_pyarray(py))?;
    dict.set_item("page_home", found.page_home.into_pyarray(py))?;
    dict.set_item("page_object", found.page_object.into_pyarray(py))?;
    dict.set_item("use_page", found.use_page.into_pyarray(py))?;
    dict.set_item("use_node", found.use_node.into_pyarray(py))?;
    dict.set_item("use_fills", found.use_fills.into_pyarray(py))?;
    dict.set_item("use_write_backs", found.use_write_backs.into_pyarray(py))?;
    dict.set_item("served_home", found.served_home.into_pyarray(py))?;
    dict.set_item("served_object", found.served_object.into_pyarray(py))?;
    dict.set_item("served_fills", found.served_fills.into_pyarray(py))?;
    let loads = found.home_loads;
    let by_home = |name: &str, of: &dyn Fn(&homenode_sim::HomeLoad) -> u64| {
        let column: Vec<u64> = loads.iter().map(of).collect();
        dict.set_item(name, column.into_pyarray(py))
    };
    by_home("home_controllers", &|load| load.controllers.into())?;
    by_home("home_lookups", &|load| load.lookups.served)?;
    by_home("home_lookup_cycles", &|load| load.lookups.busy)?;
    by_home("home_lookup_waits", &|load| load.lookups.waited)?;
    by_home("home_accesses", &|load| load.accesses.served)?;
    by_home("home_access_cycles", &|load| load.accesses.busy)?;
    by_home("home_access_waits", &|load| load.accesses.waited)?;
    Ok(dict)
}
