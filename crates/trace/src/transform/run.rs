//! From a file to a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::output::Output;
use super::values::Values;
use super::{Entry, Report, Transform, TransformError, find};
use crate::error::TraceError;
use crate::import::Progress;
use crate::model::{Batch, Metadata};
use crate::reader::{TraceReader, Want};
use crate::writer::{Summary, TraceWriter, WriterOptions};

/// A trace that a transform wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    #[serde(flatten)]
    pub summary: Summary,
    /// What was done, of transforms that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// Transforms `trace` into a new trace at `out`, or several beside it if [`Entry::pieces`] says so.
/// After an error there is none of them, not even a partial one.
///
/// # Errors
/// When there is no such transform or parameter, a value does not fit, the trace cannot be read or
/// the new one written, or `progress` (in rows) broke off.
pub fn transform_file(
    trace: &TraceReader,
    (name, parameters): (&str, &BTreeMap<String, String>),
    out: &Path,
    progress: &mut Progress<'_>,
) -> Result<Vec<Piece>, TransformError> {
    let entry = find(name)?;
    let values = Values::new(entry, parameters)?;
    let mut transform = (entry.build)(&values, trace)?;
    let ahead = transform.prepare(progress)?;
    let mut record = format!("transform {name}");
    for word in values.words() {
        record = format!("{record} {word}");
    }
    let version = env!("CARGO_PKG_VERSION");
    record = format!("{record} (homenode {version}) of a trace with checksum {}", trace.checksum());
    let mut files = Files { trace, entry, out, record, writer: None, done: Vec::new() };
    match files.write(transform.as_mut(), (ahead, progress)) {
        Ok(()) => Ok(files.done),
        Err(error) => {
            files.remove();
            Err(error.into())
        }
    }
}

/// The traces being written.
struct Files<'a> {
    trace: &'a TraceReader,
    entry: &'static Entry,
    out: &'a Path,
    record: String,
    /// Boxed: the state of its checksum is large.
    writer: Option<Box<TraceWriter>>,
    done: Vec<Piece>,
}

impl Files<'_> {
    fn write(
        &mut self,
        transform: &mut dyn Transform,
        (ahead, progress): (u64, &mut Progress<'_>),
    ) -> Result<(), TraceError> {
        let mut input = Batch::default();
        let mut output = Output::new();
        let mut rows = ahead;
        self.begin()?;
        for index in 0..self.trace.chunks().len() {
            self.trace.read_chunk(index, Want::ALL, &mut input)?;
            transform.batch(&input, &mut output)?;
            self.take(transform, &mut output)?;
            rows += input.len() as u64;
            if progress(rows, Some(self.trace.rows() + ahead)).is_break() {
                return Err(TraceError::Cancelled { path: self.out.to_owned() });
            }
        }
        transform.finish(&mut output);
        self.take(transform, &mut output)?;
        self.end(transform)
    }

    /// Writes what was emitted and keeps the memory of the first batch.
    fn take(
        &mut self,
        transform: &mut dyn Transform,
        output: &mut Output,
    ) -> Result<(), TraceError> {
        for (i, batch) in output.pieces.iter().enumerate() {
            if i > 0 {
                self.end(transform)?;
                self.begin()?;
            }
            if let Some(writer) = &mut self.writer {
                writer.push_batch(batch)?;
            }
        }
        output.pieces.truncate(1);
        output.pieces.iter_mut().for_each(Batch::clear);
        Ok(())
    }

    fn begin(&mut self) -> Result<(), TraceError> {
        let options = WriterOptions {
            columns: self.trace.columns(),
            chunk_rows: self.trace.chunk_rows(),
            ..WriterOptions::default()
        };
        self.writer = Some(Box::new(TraceWriter::create(self.path(), options)?));
        Ok(())
    }

    /// Name of the trace under way.
    fn path(&self) -> PathBuf {
        if !self.entry.pieces {
            return self.out.to_owned();
        }
        let mut name = self.out.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{}.", self.done.len()));
        name.push(self.out.extension().unwrap_or("hnt".as_ref()));
        self.out.with_file_name(name)
    }

    fn end(&mut self, transform: &mut dyn Transform) -> Result<(), TraceError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let path = self.path();
        let covered =
            if self.entry.pieces { Some(writer.references()) } else { transform.covered() };
        let mut metadata: Metadata = self.trace.metadata().clone();
        transform.metadata(&mut metadata);
        if let Some(covered) = covered.filter(|&n| n != self.trace.references()) {
            let share = ratio(covered, self.trace.references());
            for time in [&mut metadata.wall_time_s, &mut metadata.native_time_s] {
                *time = time.map(|seconds| seconds * share);
            }
        }
        let piece =
            if self.entry.pieces { format!(", piece {}", self.done.len()) } else { String::new() };
        metadata.provenance.push(format!("{}{piece}", self.record));
        let summary = writer.finish(metadata)?;
        let report = transform.report(self.trace.metadata());
        self.done.push(Piece { path, summary, report });
        Ok(())
    }

    /// Removes everything, after an error that says more than one of removing could.
    fn remove(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _ = writer.abort();
        }
        for piece in self.done.drain(..) {
            let _ = std::fs::remove_file(piece.path);
        }
    }
}

/// Part of the run's time that a part of its references took, if they came evenly.
fn ratio(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    let share = part as f64 / whole.max(1) as f64;
    share
}
