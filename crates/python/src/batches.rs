//! References as NumPy columns, one chunk of the file at a time.

use std::path::PathBuf;

use homenode_trace::{Batch, Columns, TraceReader, Want};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{config_error, trace_error};

/// Iterator over the chunks of a trace.
#[pyclass]
pub struct Batches {
    reader: TraceReader,
    columns: Vec<String>,
    want: Want,
    next: usize,
}

/// Required and optional columns of traces, by their names in Python.
const REQUIRED: [&str; 4] = ["thread", "kind", "addr", "size"];
const OPTIONAL: [&str; 4] = ["pc", "gap", "pid", "flags"];

/// Opens a trace for reading these columns; an optional column the trace lacks is an error.
#[pyfunction]
pub fn read_batches(py: Python<'_>, path: PathBuf, columns: Vec<String>) -> PyResult<Batches> {
    let reader = py.detach(|| TraceReader::open(path)).map_err(|error| trace_error(&error))?;
    let present = reader.columns();
    let wants = |name: &str| columns.iter().any(|c| c == name);
    for name in &columns {
        let name = name.as_str();
        let there = [present.pc, present.gap, present.pid, present.flags];
        let known = REQUIRED.contains(&name)
            || OPTIONAL.iter().zip(there).any(|(optional, there)| *optional == name && there);
        if !known {
            return Err(config_error(format!(
                "{}: the trace has no column {name:?}",
                reader.path().display()
            )));
        }
    }
    let wanted =
        Columns { pc: wants("pc"), gap: wants("gap"), pid: wants("pid"), flags: wants("flags") };
    let want = Want { columns: wanted, events: false };
    Ok(Batches { reader, columns, want, next: 0 })
}

#[pymethods]
impl Batches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.next == self.reader.chunks().len() {
            return Ok(None);
        }
        let mut batch = Batch::default();
        py.detach(|| self.reader.read_chunk(self.next, self.want, &mut batch))
            .map_err(|error| trace_error(&error))?;
        self.next += 1;
        let arrays = PyDict::new(py);
        for name in &self.columns {
            match name.as_str() {
                "thread" => {
                    let threads: Vec<u16> = batch.turns.threads().collect();
                    arrays.set_item(name, threads.into_pyarray(py))?;
                }
                "kind" => arrays.set_item(name, take(&mut batch.kind).into_pyarray(py))?,
                "addr" => arrays.set_item(name, take(&mut batch.addr).into_pyarray(py))?,
                "size" => arrays.set_item(name, take(&mut batch.size).into_pyarray(py))?,
                "pc" => arrays.set_item(name, take(&mut batch.pc).into_pyarray(py))?,
                "gap" => arrays.set_item(name, take(&mut batch.gap).into_pyarray(py))?,
                "pid" => arrays.set_item(name, take(&mut batch.pid).into_pyarray(py))?,
                _ => arrays.set_item(name, take(&mut batch.flags).into_pyarray(py))?,
            }
        }
        Ok(Some(arrays))
    }
}

fn take<T>(column: &mut Vec<T>) -> Vec<T> {
    std::mem::take(column)
}
