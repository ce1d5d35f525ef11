//! Recovers the intact chunks of a trace whose writer was killed or whose bytes are damaged.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::bytes::Cursor;
use crate::chunk::ChunkInfo;
use crate::error::TraceError;
use crate::format::v1::{
    CHUNK_HEADER_BYTES, CHUNK_MAGIC, ChunkHeader, FOOTER_MAGIC, HEADER_BYTES, parse_threads,
};
use crate::model::{Batch, Columns, Metadata, Want};
use crate::reader::{TraceReader, decode_chunk, read_header};
use crate::source::ByteSource;
use crate::writer::{TraceWriter, WriterOptions};

/// A lost byte range of the damaged file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostRange {
    /// Where it begins.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Chunks kept.
    pub chunks: u32,
    /// References and fetches kept.
    pub rows: u64,
    /// Data references kept; their Times are renumbered without gaps.
    pub references: u64,
    /// Events kept.
    pub events: u64,
    /// Data references known to be lost: those before the last kept chunk, and those after it if
    /// the index survived.
    pub references_lost: u64,
    /// Whether the metadata survived.
    pub metadata_kept: bool,
    /// Byte ranges of the file that were lost.
    pub lost: Vec<LostRange>,
    /// Content checksum of the new trace, in hexadecimal.
    pub checksum: String,
}

/// Writes the undamaged chunks of the trace at `path` to a new trace at `out`.
///
/// # Errors
/// When `path` cannot be read or is not a trace, or `out` cannot be written.
pub fn repair(path: impl AsRef<Path>, out: impl AsRef<Path>) -> Result<RepairReport, TraceError> {
    let mut scan =
        RepairScan::new(ByteSource::open(path.as_ref())?, TraceReader::open(path.as_ref()))?;
    let out = out.as_ref();
    // Not OUT.partial, which may be the file to repair.
    let mut partial = out.as_os_str().to_owned();
    partial.push(".repairing");
    let mut writer = TraceWriter::create_as(partial.into(), out, scan.options())?;
    match scan.copy(&mut writer) {
        Ok(()) => scan.report(writer),
        Err(error) => {
            writer.abort()?;
            Err(error)
        }
    }
}

/// As [`repair`], for a trace in memory, called `name` in errors; the new one is written to `out`.
///
/// # Errors
/// As [`repair`].
pub fn repair_bytes<W: Write>(
    bytes: Vec<u8>,
    name: impl AsRef<Path>,
    out: W,
) -> Result<RepairReport, TraceError> {
    let name = name.as_ref();
    let intact = TraceReader::from_bytes(bytes.clone(), name);
    let mut scan = RepairScan::new(ByteSource::memory(bytes, name), intact)?;
    let mut writer = TraceWriter::new(out, name, scan.options())?;
    scan.copy(&mut writer)?;
    scan.report(writer)
}

struct RepairScan {
    source: ByteSource,
    intact: Option<TraceReader>,
    columns: Columns,
    chunk_rows: u32,
    /// Where chunks end.
    end: u64,
    lost: Vec<LostRange>,
    /// Time after the last kept chunk, in the damaged file.
    time: u64,
    references_lost: u64,
    chunks: u32,
}

impl RepairScan {
    fn new(
        source: ByteSource,
        intact: Result<TraceReader, TraceError>,
    ) -> Result<Self, TraceError> {
        let mut scan = Self {
            end: source.length(),
            source,
            intact: intact.ok(),
            columns: Columns::default(),
            chunk_rows: WriterOptions::default().chunk_rows,
            lost: Vec::new(),
            time: 0,
            references_lost: 0,
            chunks: 0,
        };
        if let Some(reader) = &scan.intact {
            (scan.columns, scan.chunk_rows) = (reader.columns(), reader.chunk_rows());
            scan.end = reader.chunks().last().map_or(HEADER_BYTES as u64, |c| c.offset + c.bytes);
            return Ok(scan);
        }
        match read_header(&scan.source) {
            Ok(header) => (scan.columns, scan.chunk_rows) = (header.columns, header.chunk_rows),
            // Every chunk has its own column bits, so a damaged file header loses no data.
            Err(error @ (TraceError::Damaged { .. } | TraceError::Foreign { .. })) => {
                let Some((_, header)) = scan.next_header(0)? else { return Err(error) };
                scan.columns = header.columns;
                let (bytes, reason) = (HEADER_BYTES as u64, error.to_string());
                scan.lost.push(LostRange { offset: 0, bytes, reason });
            }
            Err(error) => return Err(error),
        }
        Ok(scan)
    }

    fn options(&self) -> WriterOptions {
        let (columns, chunk_rows) = (self.columns, self.chunk_rows);
        WriterOptions { columns, chunk_rows, ..WriterOptions::default() }
    }

    fn copy<W: Write>(&mut self, writer: &mut TraceWriter<W>) -> Result<(), TraceError> {
        let mut batch = Batch::default();
        let mut at = (HEADER_BYTES as u64).min(self.end);
        while at < self.end {
            match self.chunk(at, &mut batch)? {
                Ok(chunk) => {
                    self.references_lost += chunk.first_time - self.time;
                    self.time = chunk.first_time + u64::from(chunk.references);
                    self.chunks += 1;
                    writer.push_batch(&batch)?;
                    at += chunk.bytes;
                }
                Err(None) => break,
                Err(Some(reason)) => {
                    let next = self.next_header(at + 1)?.map_or(self.end, |found| found.0);
                    self.lose(at, next, reason);
                    at = next;
                }
            }
        }
        if let Some(reader) = &self.intact {
            self.references_lost += reader.references() - self.time;
        }
        Ok(())
    }

    /// The chunk at `at`, or its fault; `None` where the footer begins.
    fn chunk(
        &self,
        at: u64,
        batch: &mut Batch,
    ) -> Result<Result<ChunkInfo, Option<String>>, TraceError> {
        let left = self.end - at;
        let mut bytes = Vec::new();
        let there = usize::try_from(left.min(CHUNK_HEADER_BYTES as u64)).unwrap_or(0);
        self.source.read(at, there, &mut bytes)?;
        if FOOTER_MAGIC.starts_with(&bytes[..there.min(4)]) || bytes.starts_with(&FOOTER_MAGIC) {
            return Ok(Err(None));
        }
        let cut = |found: u64| format!("the file ends {found} bytes into a chunk");
        let Ok(fixed) = <[u8; CHUNK_HEADER_BYTES]>::try_from(bytes.as_slice()) else {
            return Ok(Err(Some(cut(left))));
        };
        let header = match ChunkHeader::parse(&fixed) {
            Ok(header) => header,
            Err(fault) => {
                let reason = format!("expected {}, found {}", fault.expected, fault.found);
                return Ok(Err(Some(reason)));
            }
        };
        let whole = CHUNK_HEADER_BYTES as u64 + u64::from(header.body_bytes);
        if whole > left {
            return Ok(Err(Some(cut(left))));
        }
        if header.first_time < self.time || header.columns != self.stored_columns(header.columns) {
            return Ok(Err(Some("a chunk that does not belong here".into())));
        }
        self.source.read(at + CHUNK_HEADER_BYTES as u64, header.body_bytes as usize, &mut bytes)?;
        let mut cursor = Cursor::new(&bytes[CHUNK_HEADER_BYTES..]);
        let decoded = parse_threads(&mut cursor, header.threads, header.rows).and_then(|threads| {
            let chunk = ChunkInfo::new(at, header, threads);
            decode_chunk(&bytes, &chunk, self.columns, Want::ALL, batch).map(|()| chunk)
        });
        Ok(decoded.map_err(|f| Some(format!("expected {}, found {}", f.expected, f.found))))
    }

    /// The columns of a chunk that the trace has: the header of an intact trace may have fewer than
    /// its chunks.
    fn stored_columns(&self, chunk: Columns) -> Columns {
        if self.intact.is_some() { chunk } else { self.columns }
    }

    fn lose(&mut self, from: u64, to: u64, reason: String) {
        self.lost.push(LostRange { offset: from, bytes: to - from, reason });
    }

    /// The next valid chunk header at or after `from`.
    fn next_header(&self, from: u64) -> Result<Option<(u64, ChunkHeader)>, TraceError> {
        const WINDOW: usize = 1 << 16;
        let mut at = from;
        let mut window = Vec::new();
        while at + CHUNK_HEADER_BYTES as u64 <= self.end {
            window.clear();
            let count = usize::try_from(self.end - at).unwrap_or(usize::MAX).min(WINDOW);
            self.source.read(at, count, &mut window)?;
            for (place, candidate) in window.windows(CHUNK_HEADER_BYTES).enumerate() {
                if candidate[..4] == CHUNK_MAGIC
                    && let Ok(bytes) = <[u8; CHUNK_HEADER_BYTES]>::try_from(candidate)
                    && let Ok(header) = ChunkHeader::parse(&bytes)
                {
                    return Ok(Some((at + place as u64, header)));
                }
            }
            at += (count - CHUNK_HEADER_BYTES + 1) as u64;
        }
        Ok(None)
    }

    fn report<W: Write>(self, writer: TraceWriter<W>) -> Result<RepairReport, TraceError> {
        let mut metadata =
            self.intact.as_ref().map_or_else(Metadata::default, |r| r.metadata().clone());
        metadata.provenance.push(format!(
            "repair of {}: {} references kept, {} known lost",
            self.source.path().display(),
            writer.references(),
            self.references_lost
        ));
        let summary = writer.finish(metadata)?;
        Ok(RepairReport {
            chunks: self.chunks,
            rows: summary.rows,
            references: summary.references,
            events: summary.events,
            references_lost: self.references_lost,
            metadata_kept: self.intact.is_some(),
            lost: self.lost,
            checksum: summary.checksum,
        })
    }
}
