//! What a format is: its entry in the table, and a parser of lines or records.

use homenode_base::Access;
use homenode_trace::{Event, Metadata, TraceError, TraceWriter};

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
    pub(super) build: ParserBuilder,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ParserBuilder {
    /// A parser of lines.
    Lines(fn() -> Box<dyn Parser>),
    /// A reader of binary records, made for a file that begins with these bytes.
    Records(fn(&[u8]) -> Box<dyn Records>),
}

#[derive(Debug)]
pub(super) struct BadLine {
    /// Column of the offending word, or byte of the record, counted from 1.
    pub(super) column: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

pub(super) trait Parser {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()>;

    /// Whether a line may have bytes that are not UTF-8.
    fn takes_any_bytes(&self) -> bool {
        false
    }

    /// Emits pending references, and adds metadata known only after the whole file. An error refers
    /// to the line after the last.
    fn finish(&mut self, _sink: &mut dyn RecordSink, _metadata: &mut Metadata) -> Parsed<()> {
        Ok(())
    }
}

pub(super) trait Records {
    /// Size of a record.
    fn bytes(&self) -> usize;

    fn record(&mut self, record: &[u8], sink: &mut dyn RecordSink) -> Parsed<()>;
}

pub(super) trait RecordSink {
    fn access(&mut self, access: &Access) -> Result<(), TraceError>;
    fn event(&mut self, event: Event) -> Result<(), TraceError>;
}

/// Largest reference a trace holds, in bytes.
pub(super) const MAX_SIZE: u64 = 64;

/// Emits a reference of `bytes` bytes, split into several if it is larger than [`MAX_SIZE`].
pub(super) fn split_reference(
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

/// What a parser finds in a line or record.
pub(super) type Parsed<T> = Result<T, LineError>;

pub(super) enum LineError {
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
