//! Imports traces of other tools as `.hnt` traces, line by line in bounded memory.
//!
//! One format is one file here that ends in an [`Entry`]; [`TABLE`] lists them.

mod champsim;
mod csv;
mod din;
mod drmemtrace;
mod gem5;
mod lackey;
mod perf;
mod records;
mod text;
mod threads;
mod token;

use std::io::{BufRead, Read};
use std::ops::ControlFlow;
use std::path::Path;

use homenode_base::Access;

use crate::error::TraceError;
use crate::model::{Columns, Event, Metadata};
use crate::writer::{Summary, TraceWriter, WriterOptions};

/// Every import format, in the order of the documentation.
pub const TABLE: &[Entry] = &[
    text::ENTRY,
    csv::ENTRY,
    lackey::ENTRY,
    din::ENTRY,
    drmemtrace::ENTRY,
    perf::ENTRY,
    gem5::ENTRY,
    champsim::ENTRY,
];

/// One import format.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one sentence.
    pub summary: &'static str,
    /// Where the format is defined.
    pub source: &'static str,
    /// Its file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Makes its parser.
    build: ParserBuilder,
}

/// Makes the parser of a format.
#[derive(Clone, Copy, Debug)]
enum ParserBuilder {
    /// A parser of lines.
    Lines(fn() -> Box<dyn Parser>),
    /// A reader of binary records, and their size in bytes.
    Records(usize, fn() -> Box<dyn Records>),
}

/// A line or record that cannot be parsed.
#[derive(Debug)]
struct BadLine {
    /// Column of the offending word, or byte of the record, counted from 1.
    column: usize,
    expected: String,
    found: String,
}

/// A parser of the lines of a file.
trait Parser {
    /// Parses one line, without its end, and emits its references and events to `sink`.
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Result<(), LineError>;

    /// Emits pending references, and adds metadata known only after the whole file. An error refers
    /// to the line after the last.
    fn finish(
        &mut self,
        _sink: &mut dyn RecordSink,
        _metadata: &mut Metadata,
    ) -> Result<(), LineError> {
        Ok(())
    }
}

/// A parser of the records of a binary file.
trait Records {
    /// Parses one complete record and emits its references and events to `sink`.
    fn record(&mut self, record: &[u8], sink: &mut dyn RecordSink) -> Result<(), LineError>;
}

/// Receives the references and events of a parser.
trait RecordSink {
    fn access(&mut self, access: &Access) -> Result<(), TraceError>;
    fn event(&mut self, event: Event) -> Result<(), TraceError>;
}

/// Largest reference a trace holds, in bytes.
const MAX_SIZE: u64 = 64;

/// Emits a reference of `bytes` bytes, split into several if it is larger than [`MAX_SIZE`].
fn split_reference(
    access: Access,
    bytes: u64,
    sink: &mut dyn RecordSink,
) -> Result<(), TraceError> {
    let mut done = 0;
    while done < bytes {
        let size = (bytes - done).min(MAX_SIZE);
        let piece = u8::try_from(size).unwrap_or(u8::MAX);
        sink.access(&Access { addr: access.addr.wrapping_add(done), size: piece, ..access })?;
        done += size;
    }
    Ok(())
}

/// Why importing a line failed: an error in the line, or one of the writer.
enum LineError {
    Bad(BadLine),
    Writer(TraceError),
}

impl From<BadLine> for LineError {
    fn from(bad: BadLine) -> Self {
        Self::Bad(bad)
    }
}

impl From<TraceError> for LineError {
    fn from(error: TraceError) -> Self {
        Self::Writer(error)
    }
}

impl<W: std::io::Write> RecordSink for TraceWriter<W> {
    fn access(&mut self, access: &Access) -> Result<(), TraceError> {
        self.push(access)
    }

    fn event(&mut self, event: Event) -> Result<(), TraceError> {
        TraceWriter::event(self, event)
    }
}

/// The input of an import.
pub struct ImportInput<'a> {
    /// The bytes.
    pub reader: &'a mut dyn BufRead,
    /// Name in error messages and in the metadata.
    pub name: &'a Path,
    /// Total bytes if known, for progress.
    pub bytes: Option<u64>,
}

/// Called with the bytes done and the total if known; `Break` cancels the work.
pub type ImportProgress<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// The entry of a format.
///
/// # Errors
/// When no format has this name.
pub fn find(name: &str) -> Result<&'static Entry, TraceError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| TraceError::UnknownFormat {
        name: name.to_owned(),
        known: TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Imports into a new trace at `out`, with the columns that the input has. After an error no file
/// is left, not even a partial one.
///
/// # Errors
/// When a line cannot be parsed or there is none, reading or writing fails, or `progress` cancels.
pub fn import_file(
    format: &str,
    input: ImportInput<'_>,
    out: &Path,
    options: WriterOptions,
    progress: &mut ImportProgress<'_>,
) -> Result<Summary, TraceError> {
    let entry = find(format)?;
    let options = WriterOptions { columns: Columns::ALL, ..options };
    let mut writer = TraceWriter::create(out, options)?;
    writer.trim_columns();
    match import(entry, input, &mut writer, progress) {
        Ok(metadata) => writer.finish(metadata),
        Err(error) => {
            writer.abort()?;
            Err(error)
        }
    }
}

/// Longest line: bounds the memory for a file without line ends.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Lines between two calls of `progress`.
const PROGRESS_LINES: u64 = 1 << 15;

/// Imports into a writer; the caller finishes it with the returned metadata.
///
/// # Errors
/// As [`import_file`].
pub fn import<W: std::io::Write>(
    format: &Entry,
    input: ImportInput<'_>,
    writer: &mut TraceWriter<W>,
    progress: &mut ImportProgress<'_>,
) -> Result<Metadata, TraceError> {
    let mut metadata = Metadata {
        program: input.name.display().to_string(),
        method: format!("import {}", format.name),
        order: "file order".into(),
        word_size: 4,
        ..Metadata::default()
    };
    let mut parser = match format.build {
        ParserBuilder::Lines(build) => build(),
        ParserBuilder::Records(bytes, build) => {
            records::read(bytes, build().as_mut(), input, writer, progress)?;
            return Ok(metadata);
        }
    };
    let path = input.name.to_owned();
    let bytes = input.bytes;
    let mut lines = Lines { input, buffer: Vec::new(), number: 0, done: 0 };
    while let Some(text) = lines.next()? {
        let result = parser.line(text, writer);
        result.map_err(|error| lines.error(error))?;
        let pause = lines.number.is_multiple_of(PROGRESS_LINES);
        if pause && progress(lines.done, bytes).is_break() {
            return Err(TraceError::Cancelled { path });
        }
    }
    if lines.done == 0 {
        // Most likely the program that writes the pipe failed.
        let expected = format!("at least one line of format {}", format.name);
        let found = "no bytes at all".to_owned();
        return Err(TraceError::Line { path, line: 1, column: 1, expected, found });
    }
    parser.finish(writer, &mut metadata).map_err(|error| lines.error(error))?;
    if progress(lines.done, bytes).is_break() {
        return Err(TraceError::Cancelled { path });
    }
    Ok(metadata)
}

/// The lines of an input.
struct Lines<'a> {
    input: ImportInput<'a>,
    buffer: Vec<u8>,
    /// Number of the last line, counted from 1.
    number: u64,
    /// Bytes read so far.
    done: u64,
}

impl Lines<'_> {
    /// The next line, without its end.
    fn next(&mut self) -> Result<Option<&str>, TraceError> {
        self.buffer.clear();
        let reader = &mut self.input.reader;
        let read = reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| TraceError::io(self.input.name, "read", e))? as u64;
        self.done += read;
        self.number += 1;
        if read == 0 {
            return Ok(None);
        }
        match text_of_line(&self.buffer, read) {
            // Spreadsheets write a byte order mark at the start.
            Ok(text) if self.number == 1 => Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text))),
            Ok(text) => Ok(Some(text)),
            Err(bad) => Err(self.error(bad.into())),
        }
    }

    /// The error, located at the last line read.
    fn error(&self, error: LineError) -> TraceError {
        match error {
            LineError::Bad(bad) => TraceError::Line {
                path: self.input.name.to_owned(),
                line: self.number,
                column: bad.column as u64,
                expected: bad.expected,
                found: bad.found,
            },
            LineError::Writer(error) => error,
        }
    }
}

/// The line as text, without its end.
fn text_of_line(bytes: &[u8], read: u64) -> Result<&str, BadLine> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.len() == bytes.len() && read == MAX_LINE_BYTES {
        let expected = format!("a line of less than {MAX_LINE_BYTES} bytes");
        return Err(BadLine { column: 1, expected, found: "a longer one".into() });
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).map_err(|e| BadLine {
        column: e.valid_up_to() + 1,
        expected: "UTF-8 text".into(),
        found: format!("byte {:02x}", line[e.valid_up_to()]),
    })
}
