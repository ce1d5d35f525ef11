//! Writes `.hnt` files, one chunk at a time.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use homenode_base::{Access, AccessKind, Flags};
use serde::Serialize;

use crate::checksum::{ContentHash, to_hex};
use crate::codec::{
    ChunkEncoder, ChunkSummary, DEFAULT_LEVEL, RowBlock, StreamPacker, is_storable,
};
use crate::error::TraceError;
use crate::format::v1::{
    CHUNK_HEADER_BYTES, ChunkHeader, FOOTER_HEADER_BYTES, FooterHeader, Header, MAX_METADATA_RATIO,
    MAX_ROWS, Trailer,
};
use crate::model::{Batch, Columns, Event, Metadata};
use crate::partial::{create_partial, partial_path};
use crate::turns::{BatchPart, ThreadTurn};

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Optional columns to store; values for others are dropped.
    pub columns: Columns,
    /// Level of zstd, 1 to 22: a higher level makes files smaller and writing slower, not reading.
    /// Above the default the codec also spends more time to save bytes.
    pub level: i32,
    /// Rows of a chunk, 1 to 2^21. Memory of writer and readers grows with it.
    pub chunk_rows: u32,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { columns: Columns::default(), level: DEFAULT_LEVEL, chunk_rows: 1 << 20 }
    }
}

/// Statistics of a written trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// References and fetches.
    pub rows: u64,
    /// Data references.
    pub references: u64,
    /// Events.
    pub events: u64,
    /// Chunks.
    pub chunks: u32,
    /// Bytes of the file.
    pub bytes: u64,
    /// Content checksum, in hexadecimal.
    pub checksum: String,
}

/// Writes a trace to a file or any other byte sink.
///
/// A file is written as `PATH.partial` and renamed by [`TraceWriter::finish`]. A writer dropped
/// before that leaves the `.partial` file; [`crate::repair`] recovers its complete chunks.
///
/// Memory is bounded by one chunk, whatever the length of the trace, and about 100 bytes of index
/// for each chunk.
pub struct TraceWriter<W: Write = File> {
    out: W,
    name: PathBuf,
    /// The final name of a file.
    target: Option<PathBuf>,
    options: WriterOptions,
    block: Box<RowBlock>,
    encoder: ChunkEncoder,
    packer: StreamPacker,
    summary: ChunkSummary,
    chunk_events: Vec<(u32, Event)>,
    chunk: Vec<u8>,
    index: Vec<u8>,
    content: ContentHash,
    /// Columns with a value other than 0, and whether `finish` drops the others.
    used: Columns,
    trim: bool,
    written: u64,
    chunks: u32,
    rows: u64,
    references: u64,
    events: u64,
    /// Whether a write failed: the file then ends within a chunk.
    failed: bool,
    /// Whether a failed write leaves the complete chunks.
    keep: bool,
}

impl TraceWriter<File> {
    /// Starts a trace at `path`.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self, TraceError> {
        let path = path.as_ref();
        Self::create_as(partial_path(path), path, options)
    }

    /// Starts a trace at `path`, with the temporary name `partial`.
    pub(crate) fn create_as(
        partial: PathBuf,
        path: &Path,
        options: WriterOptions,
    ) -> Result<Self, TraceError> {
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            // The rename in `finish` would replace a device or a pipe by a file.
            let e = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(TraceError::io(path, "create a trace with this name", e));
        }
        let file = create_partial(&partial, path)?;
        let begun = Self::new(file, &partial, options);
        match begun {
            Ok(writer) => Ok(Self { target: Some(path.to_owned()), ..writer }),
            Err(error) => {
                // It has no contents to rescue.
                let _ = std::fs::remove_file(&partial);
                Err(error)
            }
        }
    }

    /// Removes the partial file, if a failed write has not already.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn abort(self) -> Result<(), TraceError> {
        let Self { out, name, .. } = self;
        drop(out);
        match std::fs::remove_file(&name) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(TraceError::io(&name, "remove the file", e))
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace in `out`; `name` is used in error messages.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn new(out: W, name: impl AsRef<Path>, options: WriterOptions) -> Result<Self, TraceError> {
        let options = WriterOptions {
            chunk_rows: options.chunk_rows.clamp(1, MAX_ROWS),
            level: options.level.clamp(1, 22),
            ..options
        };
        let mut writer = Self {
            out,
            name: name.as_ref().to_owned(),
            target: None,
            options,
            block: RowBlock::new(options.columns, options.chunk_rows as usize),
            encoder: ChunkEncoder::new(options.level > DEFAULT_LEVEL),
            packer: StreamPacker::new(options.level),
            summary: ChunkSummary::new(),
            chunk_events: Vec::new(),
            chunk: Vec::new(),
            index: Vec::new(),
            content: ContentHash::new(),
            used: Columns::default(),
            trim: false,
            written: 0,
            chunks: 0,
            rows: 0,
            references: 0,
            events: 0,
            failed: false,
            keep: false,
        };
        let header = Header { columns: options.columns, chunk_rows: options.chunk_rows };
        writer.chunk.extend(header.to_bytes());
        writer.write_chunk_bytes()?;
        Ok(writer)
    }

    /// Data references given to the writer so far.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.references + self.summary.references() + self.block.references() as u64
    }

    /// References and fetches given to the writer so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows + self.chunk_rows() as u64
    }

    fn chunk_rows(&self) -> usize {
        self.encoder.rows() + self.block.len()
    }

    /// Columns the writer stores.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        self.options.columns
    }

    /// Makes [`TraceWriter::finish`] drop optional columns that are all 0: importers know only
    /// after the last line which columns a file has.
    pub const fn trim_columns(&mut self) {
        self.trim = true;
    }

    /// Keeps the complete chunks after a failed write, for a repair of data that cannot be produced
    /// again, such as a recording. Otherwise [`finish`](Self::finish) removes the file after an
    /// error.
    pub const fn keep_partial(&mut self) {
        self.keep = true;
    }

    /// Adds a reference.
    ///
    /// # Errors
    /// When the reference is invalid (size 0 or above 64, thread 65535, unknown flags), or a full
    /// chunk cannot be written.
    #[inline]
    pub fn push(&mut self, access: &Access) -> Result<(), TraceError> {
        if !is_storable(access.thread, access.size, access.flags.0) {
            return Err(self.bad_access(access));
        }
        if self.block.push(access) { self.encode_block() } else { Ok(()) }
    }

    /// Adds references in order, in fewer instructions than [`push`](Self::push). Only the stored
    /// columns of each are computed.
    ///
    /// # Errors
    /// As [`push`](Self::push); references before the faulty one are added.
    pub fn push_all<R: Copy + Into<Access>>(
        &mut self,
        mut accesses: &[R],
    ) -> Result<(), TraceError> {
        while !accesses.is_empty() {
            accesses = &accesses[self.block.fill(accesses)..];
            if self.block.is_full() {
                self.encode_block()?;
            } else if let Some(&bad) = accesses.first() {
                return Err(self.bad_access(&bad.into()));
            }
        }
        Ok(())
    }

    /// Adds the references and events of a batch, in order; absent columns read as 0.
    ///
    /// # Errors
    /// As [`TraceWriter::push`], and when a kind is not an [`AccessKind`] code.
    pub fn push_batch(&mut self, batch: &Batch) -> Result<(), TraceError> {
        for part in batch.parts() {
            match part {
                BatchPart::Event(event) => self.event(event.clone())?,
                BatchPart::Turn(ThreadTurn { thread, rows }) => {
                    for row in rows {
                        let kind = batch.kind[row];
                        if AccessKind::from_code(kind).is_none() {
                            return Err(self.bad_record("a kind from 0 to 3", kind.to_string()));
                        }
                        self.push(&batch.access(thread, row))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds an event; it happened before the next reference.
    ///
    /// # Errors
    /// When the event is invalid, or a full chunk cannot be written.
    pub fn event(&mut self, event: Event) -> Result<(), TraceError> {
        if event.thread == u16::MAX {
            return Err(self.bad_record("a thread from 0 to 65534", event.thread.to_string()));
        }
        let row = u32::try_from(self.chunk_rows()).expect("a chunk has at most 2^21 rows");
        self.content.add_event(self.rows(), &event);
        self.chunk_events.push((row, event));
        self.events += 1;
        if self.chunk_events.len() >= self.options.chunk_rows as usize {
            return self.flush_chunk();
        }
        Ok(())
    }

    /// Writes the remaining rows, the index and the metadata, and renames the file.
    ///
    /// # Errors
    /// When the rest cannot be written or the file cannot be renamed.
    pub fn finish(mut self, metadata: Metadata) -> Result<Summary, TraceError> {
        let finished = self.complete(&metadata);
        if finished.is_err() && self.target.is_some() && !self.keeps() {
            // The error that led here matters more than an error of the removal.
            let _ = std::fs::remove_file(&self.name);
        }
        finished
    }

    /// Whether a failed write leaves a file for a repair.
    const fn keeps(&self) -> bool {
        self.keep && self.target.is_some() && self.chunks > 0
    }

    fn complete(&mut self, metadata: &Metadata) -> Result<Summary, TraceError> {
        self.flush_chunk()?;
        let footer = self.footer(metadata)?;
        let trailer = Trailer {
            footer_offset: self.written,
            footer_bytes: footer.len() as u64,
            footer_crc: crc32fast::hash(&footer),
        };
        self.chunk = footer;
        self.chunk.extend(trailer.to_bytes());
        self.write_chunk_bytes()?;
        self.out.flush().map_err(|e| self.write_error(e))?;
        let summary = Summary {
            rows: self.rows,
            references: self.references,
            events: self.events,
            chunks: self.chunks,
            bytes: self.written,
            checksum: to_hex(&self.content.digest(self.final_columns())),
        };
        if let Some(target) = &self.target {
            std::fs::rename(&self.name, target)
                .map_err(|e| TraceError::io(target, "rename the complete trace to this name", e))?;
        }
        Ok(summary)
    }

    fn write_error(&self, error: io::Error) -> TraceError {
        let kept = self.keeps();
        let path = self.target.as_ref().filter(|_| !kept).unwrap_or(&self.name);
        TraceError::write(path, self.written, kept, error)
    }

    fn final_columns(&self) -> Columns {
        if self.trim { self.used.intersection(self.options.columns) } else { self.options.columns }
    }

    fn footer(&self, metadata: &Metadata) -> Result<Vec<u8>, TraceError> {
        let unwritable =
            |e: serde_json::Error| TraceError::io(&self.name, "encode the metadata", e.into());
        let json = serde_json::to_vec(metadata).map_err(unwritable)?;
        let packed = zstd::bulk::compress(&json, self.options.level)
            .map_err(|e| TraceError::io(&self.name, "compress the metadata", e))?;
        // A reader rejects larger ratios, so a small file cannot claim much memory.
        let compressed = packed.len() < json.len()
            && (packed.len() as u64).saturating_mul(MAX_METADATA_RATIO) >= json.len() as u64;
        let stored = if compressed { &packed } else { &json };
        let header = FooterHeader {
            chunks: self.chunks,
            rows: self.rows,
            references: self.references,
            checksum: self.content.digest(self.final_columns()),
            columns: self.final_columns(),
            index_bytes: u32::try_from(self.index.len())
                .map_err(|_| self.bad_record("an index below 4 GiB", "a longer one".into()))?,
            compressed,
            metadata_bytes: stored.len() as u64,
            metadata_raw: json.len() as u64,
        };
        let mut footer = Vec::with_capacity(FOOTER_HEADER_BYTES + self.index.len() + stored.len());
        footer.extend(header.to_bytes());
        footer.extend(&self.index);
        footer.extend(stored);
        Ok(footer)
    }

    #[inline(never)]
    fn encode_block(&mut self) -> Result<(), TraceError> {
        self.encode_rows();
        let is_full = self.encoder.rows() >= self.options.chunk_rows as usize;
        if is_full { self.flush_chunk() } else { Ok(()) }
    }

    fn encode_rows(&mut self) {
        let rows = self.block.columns();
        self.content.add_rows(&rows, self.options.columns);
        self.summary.add(&rows);
        self.encoder.take(&rows);
        // After a failed write there may be more rows than a chunk holds, so that the next write
        // fails.
        let left = (self.options.chunk_rows as usize).saturating_sub(self.encoder.rows());
        self.block.empty(left);
    }

    #[cold]
    fn flush_chunk(&mut self) -> Result<(), TraceError> {
        self.encode_rows();
        if self.chunk_rows() == 0 && self.chunk_events.is_empty() {
            return Ok(());
        }
        if self.failed {
            // A caller that continues after an error must not exhaust the memory.
            self.clear_chunk();
            return self.write_chunk_bytes();
        }
        let table = self.encoder.table();
        let small = |n: usize| u32::try_from(n).expect("a chunk has at most 2^21 rows");
        let mut header = ChunkHeader {
            rows: small(self.encoder.rows()),
            events: small(self.chunk_events.len()),
            first_time: self.references,
            threads: small(table.len()),
            columns: self.options.columns,
            ..ChunkHeader::default()
        };
        self.summary.describe(&mut header);
        self.chunk.resize(CHUNK_HEADER_BYTES, 0);
        for (thread, rows) in &table {
            self.chunk.extend(thread.to_le_bytes());
            self.chunk.extend(rows.to_le_bytes());
        }
        self.encoder.finish(&table, &self.chunk_events, &mut self.packer, &mut self.chunk);
        let body = &self.chunk[CHUNK_HEADER_BYTES..];
        header.body_bytes = u32::try_from(body.len())
            .map_err(|_| self.bad_record("a chunk below 4 GiB", "a larger one".into()))?;
        header.body_crc = crc32fast::hash(body);
        self.chunk[..CHUNK_HEADER_BYTES].copy_from_slice(&header.to_bytes());
        self.index.extend(&self.chunk[..CHUNK_HEADER_BYTES + header.table_bytes()]);
        self.write_chunk_bytes()?;
        self.chunks += 1;
        self.rows += u64::from(header.rows);
        self.references += header.references();
        self.clear_chunk();
        Ok(())
    }

    fn clear_chunk(&mut self) {
        self.used = self.used.union(self.summary.used());
        self.summary = ChunkSummary::new();
        self.chunk_events.clear();
        self.encoder.clear();
        self.block.empty(self.options.chunk_rows as usize);
    }

    fn write_chunk_bytes(&mut self) -> Result<(), TraceError> {
        if self.failed {
            let error = io::Error::other("an earlier write failed");
            return Err(TraceError::io(&self.name, "continue", error));
        }
        let result = self.out.write_all(&self.chunk);
        self.failed = result.is_err();
        if self.failed && self.chunks == 0 && self.target.is_some() {
            // Without a complete chunk it has no contents to rescue.
            let _ = std::fs::remove_file(&self.name);
        }
        result.map_err(|e| self.write_error(e))?;
        self.written += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    #[cold]
    fn bad_access(&self, access: &Access) -> TraceError {
        if access.thread == u16::MAX {
            self.bad_record("a thread from 0 to 65534", access.thread.to_string())
        } else if access.flags.0 & !Flags::ALL.0 != 0 {
            self.bad_record("flags from 0 to 15", access.flags.0.to_string())
        } else {
            self.bad_record("a size from 1 to 64 bytes", access.size.to_string())
        }
    }

    fn bad_record(&self, expected: &str, found: String) -> TraceError {
        let record = self.rows() + self.events;
        TraceError::Record { path: self.name.clone(), record, expected: expected.into(), found }
    }
}
