//! Runs a transform from files to files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use homenode_trace::{
    Batch, Metadata, Summary, TraceError, TraceProgress, TraceReader, TraceWriter, Want,
    WriterOptions,
};
use serde::Serialize;

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::kind::find;
use crate::output::TransformOutput;
use crate::report::TransformReport;
use crate::values::TransformValues;

/// A trace that a transform wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenTrace {
    /// Path of the file.
    pub path: PathBuf,
    /// Its contents.
    #[serde(flatten)]
    pub summary: Summary,
    /// The report, of transforms that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<TransformReport>,
}

/// As [`transform_files`], for one trace.
///
/// # Errors
/// As [`transform_files`].
pub fn transform_file(
    trace: &TraceReader,
    name: &str,
    parameters: &BTreeMap<String, String>,
    out: &Path,
    progress: &mut TraceProgress<'_>,
) -> Result<Vec<WrittenTrace>, TransformError> {
    transform_files(std::slice::from_ref(trace), name, parameters, out, progress)
}

/// Transforms `traces` (exactly one unless [`Entry::several`]) into a new trace at `out`, or into
/// several beside it if [`Entry::pieces`]. After an error no file is left, not even a partial one.
///
/// # Errors
/// When the transform, a parameter or the number of traces is invalid, a trace cannot be read or
/// written, or `progress` (in rows) cancels.
pub fn transform_files(
    traces: &[TraceReader],
    name: &str,
    parameters: &BTreeMap<String, String>,
    out: &Path,
    progress: &mut TraceProgress<'_>,
) -> Result<Vec<WrittenTrace>, TransformError> {
    let entry = find(name)?;
    let values = TransformValues::new(entry.name, entry.params, parameters)?;
    if traces.is_empty() || (traces.len() > 1 && !entry.several) {
        let expected = if entry.several { "one trace or more" } else { "one trace" };
        return Err(values.error(format!("expected {expected}, found {}", traces.len())));
    }
    let mut transform = (entry.build)(&values, traces)?;
    let ahead = transform.prepare(progress)?;
    let mut record = format!("transform {name}");
    for word in values.words() {
        record = format!("{record} {word}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let checksums: Vec<String> = traces.iter().map(TraceReader::checksum).collect();
    let several = if entry.several { "traces with checksums" } else { "a trace with checksum" };
    record = format!("{record} (homenode {version}) of {several} {}", checksums.join(", "));
    let mut files = Files { traces, entry, out, record, writer: None, done: Vec::new() };
    match files.write(transform.as_mut(), ahead, progress) {
        Ok(()) => Ok(files.done),
        Err(error) => {
            files.remove();
            Err(error)
        }
    }
}

struct Files<'a> {
    traces: &'a [TraceReader],
    entry: &'static Entry,
    out: &'a Path,
    record: String,
    /// Boxed, as the state of its checksum is large.
    writer: Option<Box<TraceWriter>>,
    done: Vec<WrittenTrace>,
}

impl Files<'_> {
    fn write(
        &mut self,
        transform: &mut dyn Transform,
        ahead: u64,
        progress: &mut TraceProgress<'_>,
    ) -> Result<(), TransformError> {
        let mut input = Batch::default();
        let mut output = TransformOutput::new();
        let mut rows = ahead;
        self.begin(transform)?;
        let chunks = self.traces.iter().map(|trace| trace.chunks().len()).sum();
        let all: u64 = self.traces.iter().map(TraceReader::rows).sum();
        let mut taken = vec![0; self.traces.len()];
        for _ in 0..chunks {
            let wanted = transform.wants();
            let trace = &self.traces[wanted];
            let chunk = (transform.first_chunk() + taken[wanted]) % trace.chunks().len();
            trace.read_chunk(chunk, Want::ALL, &mut input)?;
            taken[wanted] += 1;
            transform.batch(&input, &mut output)?;
            self.take(transform, &mut output)?;
            while transform.more(&mut output) {
                self.take(transform, &mut output)?;
            }
            rows += input.len() as u64;
            if progress(rows, Some(all + ahead)).is_break() {
                return Err(TraceError::Cancelled { path: self.out.to_owned() }.into());
            }
        }
        transform.finish(&mut output);
        transform.check()?;
        self.take(transform, &mut output)?;
        Ok(self.end(transform)?)
    }

    /// Writes what was emitted and keeps the memory of the first batch.
    fn take(
        &mut self,
        transform: &mut dyn Transform,
        output: &mut TransformOutput,
    ) -> Result<(), TraceError> {
        for (i, batch) in output.batches.iter().enumerate() {
            if i > 0 {
                self.end(transform)?;
                self.begin(transform)?;
            }
            if let Some(writer) = &mut self.writer {
                writer.push_batch(batch)?;
            }
        }
        output.batches.truncate(1);
        output.batches.iter_mut().for_each(Batch::clear);
        Ok(())
    }

    fn begin(&mut self, transform: &dyn Transform) -> Result<(), TraceError> {
        let options = WriterOptions {
            columns: transform.columns(self.traces[0].columns()),
            chunk_rows: self.traces[0].chunk_rows(),
            ..WriterOptions::default()
        };
        self.writer = Some(Box::new(TraceWriter::create(self.path(), options)?));
        Ok(())
    }

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
        let first = &self.traces[0];
        let mut metadata: Metadata = first.metadata().clone();
        transform.metadata(&mut metadata);
        if let Some(covered) = covered.filter(|&n| n != first.references()) {
            let share = ratio(covered, first.references());
            for time in [&mut metadata.wall_time_s, &mut metadata.native_time_s] {
                *time = time.map(|seconds| seconds * share);
            }
        }
        let piece =
            if self.entry.pieces { format!(", piece {}", self.done.len()) } else { String::new() };
        metadata.provenance.push(format!("{}{piece}", self.record));
        let summary = writer.finish(metadata)?;
        let report = transform.report(first.metadata());
        self.done.push(WrittenTrace { path, summary, report });
        Ok(())
    }

    /// Removes all output after an error. Errors of the removal are ignored in favour of that one.
    fn remove(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _ = writer.abort();
        }
        for piece in self.done.drain(..) {
            let _ = std::fs::remove_file(piece.path);
        }
    }
}

/// Fraction of the run time that belongs to `part` of the references, if they are evenly
/// distributed.
fn ratio(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    let share = part as f64 / whole.max(1) as f64;
    share
}
