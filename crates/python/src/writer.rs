//! Traces from NumPy columns.

use std::path::PathBuf;

use homenode_interchange::import::ThreadNumbers;
use homenode_trace::{Batch, Columns, Metadata, WriterOptions};
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::to_json;
use crate::error::{config_error, trace_error};

/// The numbers of threads in a trace that is made of another tool's columns.
#[pyclass(name = "ThreadNumbers")]
#[derive(Default)]
pub struct PyThreadNumbers {
    numbers: ThreadNumbers,
}

#[pymethods]
impl PyThreadNumbers {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The number of a thread; None for more threads than a trace holds.
    fn number(&mut self, id: u64) -> Option<u16> {
        self.numbers.number(id)
    }

    /// Which threads have new numbers, if any have.
    fn note(&self) -> Option<String> {
        self.numbers.note()
    }
}

/// Writes a trace from NumPy columns; the file appears when `finish` is called.
#[pyclass(name = "TraceWriter")]
pub struct PyTraceWriter {
    /// `None` once finished or aborted. Boxed, because the writer's checksum state is aligned to 64
    /// bytes and Python's allocator gives 16.
    writer: Option<Box<homenode_trace::TraceWriter>>,
    columns: Columns,
}

#[pymethods]
impl PyTraceWriter {
    #[new]
    #[pyo3(signature = (path, pc=false, gap=false, pid=false, flags=false))]
    fn new(path: PathBuf, pc: bool, gap: bool, pid: bool, flags: bool) -> PyResult<Self> {
        let columns = Columns { pc, gap, pid, flags };
        let options = WriterOptions { columns, ..WriterOptions::default() };
        let writer = homenode_trace::TraceWriter::create(path, options)
            .map_err(|error| trace_error(&error))?;
        Ok(Self { writer: Some(Box::new(writer)), columns })
    }

    /// Appends rows: `thread` u16, `kind` u8, `addr` u64, `size` u8, and the optional columns of
    /// this writer, `pc` u64, `gap` u32, `pid` u32, `flags` u8, all of equal length.
    fn push(&mut self, py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let batch = Batch {
            turns: column(columns, "thread", true)?.into_iter().collect(),
            kind: column(columns, "kind", true)?,
            addr: column(columns, "addr", true)?,
            size: column(columns, "size", true)?,
            pc: column(columns, "pc", self.columns.pc)?,
            gap: column(columns, "gap", self.columns.gap)?,
            pid: column(columns, "pid", self.columns.pid)?,
            flags: column(columns, "flags", self.columns.flags)?,
            ..Batch::default()
        };
        let rows = batch.addr.len();
        let lengths = [
            ("thread", batch.turns.rows(), true),
            ("kind", batch.kind.len(), true),
            ("size", batch.size.len(), true),
            ("pc", batch.pc.len(), self.columns.pc),
            ("gap", batch.gap.len(), self.columns.gap),
            ("pid", batch.pid.len(), self.columns.pid),
            ("flags", batch.flags.len(), self.columns.flags),
        ];
        for (name, length, wanted) in lengths {
            if wanted && length != rows {
                let text = format!("column {name:?} has {length} rows where addr has {rows}");
                return Err(config_error(text));
            }
        }
        let writer = self.open()?;
        py.detach(|| writer.push_batch(&batch)).map_err(|error| trace_error(&error))
    }

    /// Writes the index and the metadata and renames the file; returns the summary.
    fn finish(&mut self, py: Python<'_>, metadata_json: &str) -> PyResult<String> {
        let metadata: Metadata = serde_json::from_str(metadata_json)
            .map_err(|e| config_error(format!("metadata is not what a trace holds: {e}")))?;
        self.open()?;
        let Some(writer) = self.writer.take() else { return Err(closed()) };
        let summary = py.detach(|| writer.finish(metadata)).map_err(|error| trace_error(&error))?;
        to_json(&summary)
    }

    /// Removes the unfinished file. Harmless after `finish`.
    fn abort(&mut self) -> PyResult<()> {
        match self.writer.take() {
            Some(writer) => writer.abort().map_err(|error| trace_error(&error)),
            None => Ok(()),
        }
    }
}

impl PyTraceWriter {
    fn open(&mut self) -> PyResult<&mut homenode_trace::TraceWriter> {
        self.writer.as_deref_mut().ok_or_else(closed)
    }
}

fn closed() -> PyErr {
    config_error("the writer is finished; make a new one")
}

/// A column as a vector, empty if the writer does not have it.
fn column<T: Element + Copy>(
    columns: &Bound<'_, PyDict>,
    name: &str,
    wanted: bool,
) -> PyResult<Vec<T>> {
    if !wanted {
        return Ok(Vec::new());
    }
    let value = columns
        .get_item(name)?
        .ok_or_else(|| config_error(format!("column {name:?} is missing")))?;
    let array: PyReadonlyArray1<'_, T> = value.extract().map_err(|_| {
        config_error(format!(
            "column {name:?} must be a one-dimensional array of {}",
            std::any::type_name::<T>()
        ))
    })?;
    Ok(array.as_array().to_vec())
}
