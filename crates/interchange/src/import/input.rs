//! The input of an import, and its lines.

use std::io::{BufRead, Read};
use std::path::Path;

use homenode_trace::TraceError;

use super::parser::{BadLine, LineError};

/// Longest line: bounds the memory for a file without line ends.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Lines between two calls of `progress`.
pub(super) const PROGRESS_LINES: u64 = 1 << 15;

/// The input of an import.
pub struct ImportInput<'a> {
    /// The bytes.
    pub reader: &'a mut dyn BufRead,
    /// Name in error messages and in the metadata.
    pub name: &'a Path,
    /// Total bytes if known, for progress.
    pub bytes: Option<u64>,
}

pub(super) struct Lines<'a> {
    input: ImportInput<'a>,
    buffer: Vec<u8>,
    /// A line that is not UTF-8, with replacements.
    replaced: String,
    /// Number of the last line, counted from 1.
    pub(super) number: u64,
    pub(super) done: u64,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(input: ImportInput<'a>) -> Self {
        Self { input, buffer: Vec::new(), replaced: String::new(), number: 0, done: 0 }
    }

    /// The next line; bytes that are not UTF-8 are an error unless `any_bytes`.
    pub(super) fn next(&mut self, any_bytes: bool) -> Result<Option<&str>, TraceError> {
        self.buffer.clear();
        let reader = &mut self.input.reader;
        let read = reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| TraceError::io(self.input.name, "read", e))? as u64;
        self.done += read;
        self.number += 1;
        if read == 0 {
            return Ok(None);
        }
        let line = line_of(&self.buffer, read).map_err(|bad| self.error(bad.into()))?;
        match std::str::from_utf8(line) {
            // Spreadsheets write a byte order mark at the start.
            Ok(text) if self.number == 1 => Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text))),
            Ok(text) => Ok(Some(text)),
            Err(_) if any_bytes => {
                self.replaced = String::from_utf8_lossy(line).into_owned();
                Ok(Some(&self.replaced))
            }
            Err(e) => Err(self.error(LineError::Bad(BadLine {
                column: e.valid_up_to() + 1,
                expected: "UTF-8 text".into(),
                found: format!("byte {:02x}", line[e.valid_up_to()]),
            }))),
        }
    }

    pub(super) fn error(&self, error: LineError) -> TraceError {
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

fn line_of(bytes: &[u8], read: u64) -> Result<&[u8], BadLine> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.len() == bytes.len() && read == MAX_LINE_BYTES {
        let expected = format!("a line of less than {MAX_LINE_BYTES} bytes");
        return Err(BadLine { column: 1, expected, found: "a longer one".into() });
    }
    Ok(line.strip_suffix(b"\r").unwrap_or(line))
}
