//! Traces of other tools become `.hnt` traces, line by line and in bounded memory.
//!
//! One format is one file here that ends in an [`Entry`]; [`TABLE`] lists them.

mod csv;
mod din;
mod lackey;
mod text;
mod word;

use std::io::{BufRead, Read};
use std::ops::ControlFlow;
use std::path::Path;

use homenode_base::Access;

use crate::error::TraceError;
use crate::model::{Columns, Event, Metadata};
use crate::writer::{Summary, TraceWriter, WriterOptions};

/// Every import format, in the order of the documentation.
pub const TABLE: &[Entry] = &[text::ENTRY, csv::ENTRY, lackey::ENTRY, din::ENTRY];

/// One import format.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where the format is defined.
    pub source: &'static str,
    /// File name extensions that suggest it, without the dot.
    pub extensions: &'static [&'static str],
    /// Makes a parser of its lines.
    build: fn() -> Box<dyn Parser>,
}

/// A line that makes no sense.
#[derive(Debug)]
struct BadLine {
    /// Column of the offending word, counted from 1.
    column: usize,
    expected: String,
    found: String,
}

/// What one line of a file may bring.
trait Parser {
    /// Reads one line, without its end, and hands what it says to `sink`.
    fn line(&mut self, line: &str, sink: &mut dyn Sink) -> Result<(), LineError>;
}

/// Takes what a parser found.
trait Sink {
    fn access(&mut self, access: &Access) -> Result<(), TraceError>;
    fn event(&mut self, event: Event) -> Result<(), TraceError>;
}

/// Why a line did not get through: its own fault or the writer's.
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

impl<W: std::io::Write> Sink for TraceWriter<W> {
    fn access(&mut self, access: &Access) -> Result<(), TraceError> {
        self.push(access)
    }

    fn event(&mut self, event: Event) -> Result<(), TraceError> {
        TraceWriter::event(self, event)
    }
}

/// What to import from.
pub struct Input<'a> {
    /// The bytes.
    pub reader: &'a mut dyn BufRead,
    /// Name in error messages and in the metadata.
    pub name: &'a Path,
    /// Bytes there are, if known: only for progress.
    pub bytes: Option<u64>,
}

/// Told the bytes done and the bytes there are; breaking off cancels the work.
pub type Progress<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

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

/// Imports into a new trace at `out`, with the columns the input turns out to have. After an error
/// there is no file at `out`, not even a partial one.
///
/// # Errors
/// When a line makes no sense or there is none, reading or writing fails, or `progress` broke off.
pub fn import_file(
    format: &str,
    input: Input<'_>,
    out: &Path,
    options: WriterOptions,
    progress: &mut Progress<'_>,
) -> Result<Summary, TraceError> {
    let entry = find(format)?;
    let metadata = Metadata {
        program: input.name.display().to_string(),
        method: format!("import {format}"),
        order: "file order".into(),
        word_size: 4,
        ..Metadata::default()
    };
    let options = WriterOptions { columns: Columns::ALL, ..options };
    let mut writer = TraceWriter::create(out, options)?;
    writer.trim_columns();
    match import(entry, input, &mut writer, progress) {
        Ok(()) => writer.finish(metadata),
        Err(error) => {
            writer.abort()?;
            Err(error)
        }
    }
}

/// Longest line: memory stays bounded when a file without line ends is offered.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Lines between two calls of `progress`.
const PROGRESS_LINES: u64 = 1 << 15;

/// Imports into a writer that the caller made and will finish.
///
/// # Errors
/// As [`import_file`].
pub fn import<W: std::io::Write>(
    format: &Entry,
    input: Input<'_>,
    writer: &mut TraceWriter<W>,
    progress: &mut Progress<'_>,
) -> Result<(), TraceError> {
    let mut parser = (format.build)();
    let path = input.name.to_owned();
    let mut buffer = Vec::new();
    let mut done = 0u64;
    for line in 1u64.. {
        buffer.clear();
        let read = input
            .reader
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut buffer)
            .map_err(|e| TraceError::io(&path, "read", e))? as u64;
        if read == 0 {
            break;
        }
        done += read;
        let bad = |bad: BadLine| TraceError::Line {
            path: path.clone(),
            line,
            column: bad.column as u64,
            expected: bad.expected,
            found: bad.found,
        };
        let text = clean(&buffer, read).map_err(bad)?;
        // Spreadsheets begin a file with a byte order mark.
        let text = if line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        parser.line(text, writer).map_err(|error| match error {
            LineError::Bad(fault) => bad(fault),
            LineError::Writer(error) => error,
        })?;
        if line.is_multiple_of(PROGRESS_LINES) && progress(done, input.bytes).is_break() {
            return Err(TraceError::Cancelled { path });
        }
    }
    if done == 0 {
        // Most likely the program at the other end of a pipe failed.
        let expected = format!("at least one line of format {}", format.name);
        let found = "no bytes at all".to_owned();
        return Err(TraceError::Line { path, line: 1, column: 1, expected, found });
    }
    if progress(done, input.bytes).is_break() {
        return Err(TraceError::Cancelled { path });
    }
    Ok(())
}

/// The line as text without its end.
fn clean(bytes: &[u8], read: u64) -> Result<&str, BadLine> {
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
