//! Facts about traces, and new traces: from other formats, from traces, and synthetic ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use homenode_analysis::synthetic::{SyntheticError, SyntheticShape, find};
use homenode_interchange::{export, import};
use homenode_servers::{Plan, ServersError};
use homenode_trace::{COMPACT_LEVEL, TraceReader, WriterOptions};
use homenode_transform::{TransformError, transform_files};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::call::{detached, parse, to_json};
use crate::error::{config_error, trace_error};
use crate::stream::{ReadFailure, StreamReader};

/// Facts about a trace; with `lines`, the metadata's source lines and ranges too.
#[pyfunction]
#[pyo3(signature = (path, lines=false))]
pub fn trace_info(py: Python<'_>, path: PathBuf, lines: bool) -> PyResult<String> {
    let mut info = py.detach(|| homenode_trace::info(path)).map_err(|error| trace_error(&error))?;
    if !lines {
        info.metadata.lines.clear();
    }
    to_json(&info)
}

/// The metadata of a trace.
#[pyfunction]
pub fn trace_metadata(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let reader = py.detach(|| TraceReader::open(path)).map_err(|error| trace_error(&error))?;
    to_json(reader.metadata())
}

/// Imports a file into a new trace; `stream`, if given, has its bytes.
#[pyfunction]
#[pyo3(signature = (format, source, out, progress, stream=None))]
pub fn import_trace(
    py: Python<'_>,
    format: &str,
    source: PathBuf,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
    stream: Option<Py<PyAny>>,
) -> PyResult<String> {
    let summary = detached(py, progress, trace_error, |progress| {
        let failure = ReadFailure::default();
        let (mut reader, bytes) = open_input(&source, stream, &failure)?;
        let name = if is_standard(&source) { Path::new("<stdin>") } else { &source };
        let input = import::ImportInput { reader: reader.as_mut(), name, bytes };
        let options = WriterOptions::default();
        let result =
            import::import_file(format, input, &out, options, &mut |d, t| progress.tick(d, t));
        if let Some(error) = failure.take() {
            progress.interrupted(error);
        }
        result
    });
    to_json(&summary?)
}

/// Writes a trace in another format to a file, or to standard output for `-`; `name` replaces the
/// file's name in errors, for a file that is renamed later.
#[pyfunction]
#[pyo3(signature = (path, format, out, progress, name=None))]
pub fn export_trace(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
    name: Option<PathBuf>,
) -> PyResult<String> {
    let name = name.as_ref().unwrap_or(&out);
    let rows = detached(py, progress, trace_error, |progress| {
        let entry = export::find(format)?;
        let trace = TraceReader::open(&path)?;
        let mut sink: Box<dyn Write> = if is_standard(&out) {
            Box::new(io::stdout().lock())
        } else {
            Box::new(File::create(&out).map_err(|e| cannot("create", name, e))?)
        };
        export::export(entry, &trace, sink.as_mut(), name, &mut |d, t| progress.tick(d, t))?;
        Ok(trace.rows())
    });
    to_json(&serde_json::json!({ "references": rows? }))
}

/// Saves the undamaged chunks of a trace into a new one.
#[pyfunction]
pub fn repair(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let report = detached(py, progress, trace_error, |progress| {
        let report = homenode_trace::repair(path, out);
        let _ = progress.tick(1, Some(1));
        report
    });
    to_json(&report?)
}

/// Rewrites a trace in fewer bytes, to `out` or in place; level 0 is the default.
#[pyfunction]
pub fn compact(
    py: Python<'_>,
    path: PathBuf,
    out: Option<PathBuf>,
    level: i32,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let level = if level == 0 { COMPACT_LEVEL } else { level };
    let report = detached(py, progress, trace_error, |progress| {
        homenode_trace::compact(&path, out.as_deref(), level, &mut |d, t| progress.tick(d, t))
    });
    to_json(&report?)
}

/// A transform and its parameters as users write them.
#[derive(Deserialize)]
struct TransformChoice {
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
    let TransformChoice { kind, parameters } = parse("configuration", config_json)?;
    let exception = |error: &TransformError| {
        if let TransformError::Trace(error) = error {
            trace_error(error)
        } else {
            config_error(error)
        }
    };
    let written = detached(py, progress, exception, |progress| {
        let traces: Vec<TraceReader> =
            paths.iter().map(TraceReader::open).collect::<Result<_, _>>()?;
        transform_files(&traces, &kind, &parameters, &out, &mut |d, t| progress.tick(d, t))
    });
    to_json(&written?)
}

/// Writes a trace whose false sharing is known in closed form; returns its summary. The shape is
/// its number of processors, words and references.
#[pyfunction]
pub fn synthetic(
    py: Python<'_>,
    name: &str,
    path: PathBuf,
    shape: (u16, u64, u64),
) -> PyResult<String> {
    let (processors, words, references) = shape;
    let shape = SyntheticShape { processors, words, references };
    let result = py.detach(|| find(name)?.write(shape, &path));
    to_json(&result.map_err(|error| match error {
        SyntheticError::Trace(error) => trace_error(&error),
        SyntheticError::Unknown { .. } | SyntheticError::Shape { .. } => config_error(error),
    })?)
}

/// Changes of statistics, as users state them.
#[derive(Deserialize)]
struct ServersChanges {
    scale: u64,
    references: Option<u64>,
    seed: Option<u64>,
    /// Keys of the file, each with a value as in the file.
    values: Vec<(String, String)>,
}

/// Writes a trace of servers with the statistics of a file or a name; returns what was planned, and
/// the summary.
#[pyfunction]
pub fn servers(
    py: Python<'_>,
    statistics: &str,
    path: PathBuf,
    changes_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let changes: ServersChanges = parse("configuration", changes_json)?;
    let exception = |error: &ServersError| {
        if let ServersError::Trace(error) = error {
            trace_error(error)
        } else {
            config_error(error)
        }
    };
    let written = detached(py, progress, exception, |progress| {
        let mut found = homenode_servers::find(statistics, &changes.values)?.scaled(changes.scale);
        found.trace.references = changes.references.unwrap_or(found.trace.references);
        found.trace.seed = changes.seed.unwrap_or(found.trace.seed);
        let plan = Plan::new(&found, statistics)?;
        let mut tick = |done, total| progress.tick(done, Some(total));
        let summary = homenode_servers::write(&found, statistics, &path, &mut tick)?;
        Ok(serde_json::json!({ "name": found.name, "plan": plan, "summary": summary }))
    });
    to_json(&written?)
}

/// A file, a pipe or standard input, and its number of bytes if known.
fn open_input(
    source: &Path,
    stream: Option<Py<PyAny>>,
    failure: &ReadFailure,
) -> Result<(Box<dyn BufRead>, Option<u64>), homenode_trace::TraceError> {
    if let Some(stream) = stream {
        return Ok((Box::new(BufReader::new(StreamReader::new(stream, failure))), None));
    }
    let file = File::open(source).map_err(|e| cannot("open", source, e))?;
    let bytes = file.metadata().map_err(|e| cannot("open", source, e))?.len();
    Ok((Box::new(BufReader::with_capacity(1 << 16, file)), Some(bytes)))
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn cannot(action: &'static str, path: &Path, source: io::Error) -> homenode_trace::TraceError {
    homenode_trace::TraceError::Io { path: path.to_owned(), action, source }
}
