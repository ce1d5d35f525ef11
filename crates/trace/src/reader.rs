//! Reads `.hnt` files: the index when opened, chunks in any order and from any thread.

mod in_words;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{Cursor, DecodeFault};
use crate::checksum::{ContentHash, to_hex};
use crate::chunk::ChunkInfo;
use crate::codec;
use crate::error::TraceError;
use crate::format::v1::{
    CHUNK_HEADER_BYTES, ChunkHeader, FooterHeader, HEADER_BYTES, Header, MAGIC, TRAILER_BYTES,
    TRAILER_MAGIC, Trailer, VERSION, check_crc, hex, parse_threads,
};
use crate::model::{Batch, ChunkOutline, Columns, Metadata, Want};
use crate::source::ByteSource;
use crate::words::WordSize;

/// A complete trace, open for reading. It can be shared between threads.
#[derive(Debug)]
pub struct TraceReader {
    source: Arc<ByteSource>,
    columns: Columns,
    chunk_rows: u32,
    /// The index of the file.
    stored: Arc<[ChunkInfo]>,
    metadata: Arc<Metadata>,
    footer: FooterHeader,
    /// The words in which references are counted.
    word: Option<WordSize>,
    /// The index with references counted so, and its sums.
    chunks: Arc<[ChunkInfo]>,
    rows: u64,
    references: u64,
}

impl TraceReader {
    /// Opens a trace and reads its index and metadata.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a complete and undamaged trace.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        Self::from_source(ByteSource::open(path.as_ref())?)
    }

    /// Opens a trace in memory; `name` is used in errors.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn from_bytes(bytes: Vec<u8>, name: impl AsRef<Path>) -> Result<Self, TraceError> {
        Self::from_source(ByteSource::memory(bytes, name.as_ref()))
    }

    /// Reads a trace from an open file; `name` is used in errors.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn from_file(file: File, name: &Path) -> Result<Self, TraceError> {
        Self::from_source(ByteSource::opened(file, name)?)
    }

    fn from_source(source: ByteSource) -> Result<Self, TraceError> {
        let header = read_header(&source)?;
        let trailer = read_trailer(&source)?;
        let mut bytes = Vec::new();
        let length = usize::try_from(trailer.footer_bytes).unwrap_or(usize::MAX);
        source.read(trailer.footer_offset, length, &mut bytes)?;
        let damaged = |fault| damage(&source, trailer.footer_offset, fault);
        check_crc(0, crc32fast::hash(&bytes), trailer.footer_crc).map_err(damaged)?;
        let mut cursor = Cursor::new(&bytes);
        let footer = FooterHeader::parse(&mut cursor).map_err(damaged)?;
        let chunks = parse_index(&mut cursor, &footer, trailer.footer_offset).map_err(damaged)?;
        let metadata = parse_metadata(&mut cursor, &footer).map_err(damaged)?;
        let columns = footer.columns;
        if columns.intersection(header.columns) != columns {
            let expected = format!("columns within {}", header.columns.bits());
            return Err(damaged(DecodeFault::new(44, expected, columns.bits())));
        }
        let stored: Arc<[ChunkInfo]> = chunks.into();
        Ok(Self {
            source: Arc::new(source),
            columns,
            chunk_rows: header.chunk_rows,
            chunks: Arc::clone(&stored),
            stored,
            metadata: Arc::new(metadata),
            rows: footer.rows,
            references: footer.references,
            footer,
            word: None,
        })
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Optional columns of the trace.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        self.columns
    }

    /// Rows of a full chunk of this trace.
    #[must_use]
    pub const fn chunk_rows(&self) -> u32 {
        self.chunk_rows
    }

    /// Data references.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references
    }

    /// References and fetches.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// One more than the highest thread number with a reference; 0 in a trace without references.
    #[must_use]
    pub fn threads(&self) -> u16 {
        let last = |chunk: &ChunkInfo| chunk.threads.last().map_or(0, |&(thread, _)| thread + 1);
        self.chunks().iter().map(last).max().unwrap_or(0)
    }

    /// The content checksum in hexadecimal: equal for equal columns, references and events,
    /// whatever the metadata, the compression level, the chunk size or the format version.
    #[must_use]
    pub fn checksum(&self) -> String {
        to_hex(&self.footer.checksum)
    }

    /// The index.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkInfo] {
        &self.chunks
    }

    /// Index of the chunk with the data reference of this Time, if the trace has one.
    #[must_use]
    pub fn chunk_of_time(&self, time: u64) -> Option<usize> {
        let after = self.chunks().partition_point(|chunk| chunk.first_time <= time);
        // Of several chunks with the same first Time, only the last has data references.
        (time < self.references()).then(|| after - 1)
    }

    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.source.length()
    }

    /// Name of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Fills `batch` with chunk `index`. Reusing a batch saves allocations; its contents are lost,
    /// even on an error.
    ///
    /// # Errors
    /// When the chunk cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn read_chunk(
        &self,
        index: usize,
        want: Want,
        batch: &mut Batch,
    ) -> Result<(), TraceError> {
        self.with_chunk(index, |bytes, chunk| {
            decode_chunk(bytes, chunk, self.columns, want, batch)
        })?;
        if let Some(word) = self.word {
            word.split(batch);
            batch.first_time = self.chunks[index].first_time;
        }
        Ok(())
    }

    /// Reads the turns and events of chunk `index`, without the references.
    ///
    /// # Errors
    /// When the chunk cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn read_outline(&self, index: usize) -> Result<ChunkOutline, TraceError> {
        if self.word.is_some() {
            let mut batch = Batch::default();
            self.read_chunk(index, Want { events: true, ..Want::default() }, &mut batch)?;
            return Ok(ChunkOutline { turns: batch.turns, events: batch.events });
        }
        let outline =
            |bytes: &[u8], chunk: &_| in_section(bytes, chunk, self.columns, codec::outline);
        self.with_chunk(index, outline)
    }

    fn with_chunk<T>(
        &self,
        index: usize,
        decode: impl FnOnce(&[u8], &ChunkInfo) -> Result<T, DecodeFault>,
    ) -> Result<T, TraceError> {
        let chunk = &self.stored[index];
        let mut bytes = Vec::new();
        let length = usize::try_from(chunk.bytes).unwrap_or(usize::MAX);
        self.source.read(chunk.offset, length, &mut bytes)?;
        decode(&bytes, chunk).map_err(|fault| damage(&self.source, chunk.offset, fault))
    }

    /// Reads the whole trace as recorded, and compares its contents with the checksum.
    ///
    /// # Errors
    /// When a chunk is damaged or the checksum differs.
    pub fn verify(&self) -> Result<(), TraceError> {
        let mut content = ContentHash::new();
        let mut batch = Batch::default();
        for index in 0..self.stored.len() {
            self.with_chunk(index, |bytes, chunk| {
                decode_chunk(bytes, chunk, self.columns, Want::ALL, &mut batch)
            })?;
            content.add(&batch);
        }
        let found = content.digest(self.columns);
        if found == self.footer.checksum {
            return Ok(());
        }
        let expected = format!("content with checksum {}", self.checksum());
        Err(damage(&self.source, 0, DecodeFault::new(0, expected, to_hex(&found))))
    }
}

impl TraceReader {
    /// The index entry of chunk `index`, with references counted in words. Its Time is the recorded
    /// one; [`TraceReader::in_words`] corrects it.
    ///
    /// # Errors
    /// When the chunk cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn count_words(
        &self,
        index: usize,
        word: WordSize,
        batch: &mut Batch,
    ) -> Result<ChunkInfo, TraceError> {
        let columns = Columns { flags: true, ..Columns::default() };
        self.read_chunk(index, Want { columns, events: false }, batch)?;
        batch.flags.resize(batch.len(), 0);
        Ok(in_words::counted(&self.chunks()[index], batch, word))
    }

    /// The words in which references are counted; `None` for references as recorded.
    #[must_use]
    pub const fn word_size(&self) -> Option<WordSize> {
        self.word
    }

    /// The same trace with its data references counted in words: one reference of a word to each
    /// word that a reference of this trace touches ([`WordSize::split`]). `chunks` is what
    /// [`TraceReader::count_words`] gives for each chunk of this trace, in order. The checksum
    /// stays that of the recorded trace.
    #[must_use]
    pub fn in_words(&self, word: WordSize, mut chunks: Vec<ChunkInfo>) -> Self {
        let [mut rows, mut references] = [0, 0];
        for chunk in &mut chunks {
            chunk.first_time = references;
            rows += u64::from(chunk.rows);
            references += u64::from(chunk.references);
        }
        Self {
            source: Arc::clone(&self.source),
            columns: self.columns,
            chunk_rows: self.chunk_rows,
            stored: Arc::clone(&self.stored),
            metadata: Arc::clone(&self.metadata),
            footer: self.footer,
            word: Some(word),
            chunks: chunks.into(),
            rows,
            references,
        }
    }
}

/// Checks the bytes of a chunk, header included, and decodes its streams.
fn in_section<T>(
    bytes: &[u8],
    chunk: &ChunkInfo,
    columns: Columns,
    decode: impl FnOnce(&[u8], codec::ChunkLayout<'_>) -> Result<T, DecodeFault>,
) -> Result<T, DecodeFault> {
    let header = &chunk.header;
    if bytes[..CHUNK_HEADER_BYTES] != header.to_bytes() {
        return Err(DecodeFault::new(0, "the chunk header that the index has", "another one"));
    }
    let body = &bytes[CHUNK_HEADER_BYTES..];
    check_crc(12, crc32fast::hash(body), header.body_crc)?;
    let section = &body[header.table_bytes()..];
    let layout = codec::ChunkLayout { header, table: &chunk.threads, columns };
    decode(section, layout)
        .map_err(|fault| fault.shifted(CHUNK_HEADER_BYTES + header.table_bytes()))
}

/// Decodes the bytes of a chunk, header included.
pub(crate) fn decode_chunk(
    bytes: &[u8],
    chunk: &ChunkInfo,
    columns: Columns,
    want: Want,
    batch: &mut Batch,
) -> Result<(), DecodeFault> {
    let header = &chunk.header;
    in_section(bytes, chunk, columns, |section, layout| {
        codec::decode(section, layout, want, batch)
    })?;
    batch.first_time = header.first_time;
    let fetches = batch.kind.iter().filter(|&&kind| kind == 3).count() as u64;
    if fetches + header.references() == u64::from(header.rows) {
        Ok(())
    } else {
        Err(DecodeFault::new(
            24,
            format!("{} references", u64::from(header.rows) - fetches),
            header.references(),
        ))
    }
}

pub(crate) fn damage(source: &ByteSource, base: u64, fault: DecodeFault) -> TraceError {
    TraceError::Damaged {
        path: source.path().to_owned(),
        offset: base.saturating_add(fault.offset as u64),
        expected: fault.expected,
        found: fault.found,
    }
}

pub(crate) fn damage_at_start(trace: &TraceReader, fault: DecodeFault) -> TraceError {
    damage(&trace.source, 0, fault)
}

pub(crate) fn read_header(source: &ByteSource) -> Result<Header, TraceError> {
    let path = source.path().to_owned();
    if source.length() == 0 {
        return Err(TraceError::Empty { path });
    }
    let mut start = Vec::new();
    let there = source.length().min(HEADER_BYTES as u64);
    source.read(0, usize::try_from(there).unwrap_or(HEADER_BYTES), &mut start)?;
    let magic = &start[..start.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err(TraceError::Foreign { path, found: hex(magic) });
    }
    if start.len() >= 10 {
        let version = u16::from_le_bytes([start[8], start[9]]);
        if version > VERSION {
            return Err(TraceError::FutureVersion { path, found: version, newest: VERSION });
        }
        if version < VERSION {
            let fault = DecodeFault::new(8, format!("a version from 1 to {VERSION}"), version);
            return Err(damage(source, 0, fault));
        }
    }
    let bytes = source.array::<HEADER_BYTES>(0)?;
    Header::parse(&bytes).map_err(|fault| damage(source, 0, fault))
}

fn read_trailer(source: &ByteSource) -> Result<Trailer, TraceError> {
    let incomplete = |found: String| TraceError::Truncated {
        path: source.path().to_owned(),
        offset: source.length().saturating_sub(TRAILER_BYTES as u64),
        expected: "the trailer that ends a complete trace".into(),
        found,
    };
    let least = (HEADER_BYTES + TRAILER_BYTES) as u64;
    if source.length() < least {
        return Err(incomplete(format!("a file of {} bytes", source.length())));
    }
    let offset = source.length() - TRAILER_BYTES as u64;
    let bytes = source.array::<TRAILER_BYTES>(offset)?;
    if bytes[24..] != TRAILER_MAGIC {
        return Err(incomplete(format!("{} at the end", hex(&bytes[24..]))));
    }
    let trailer = Trailer::parse(&bytes).map_err(|fault| damage(source, offset, fault))?;
    if trailer.footer_offset < HEADER_BYTES as u64
        || trailer.footer_offset.checked_add(trailer.footer_bytes) != Some(offset)
    {
        let expected = format!("a footer that ends at byte {offset}");
        let found = format!("{} bytes from {}", trailer.footer_bytes, trailer.footer_offset);
        return Err(damage(source, offset, DecodeFault::new(0, expected, found)));
    }
    Ok(trailer)
}

/// Reads the index and checks that chunks, rows and Times follow each other without gaps.
fn parse_index(
    cursor: &mut Cursor<'_>,
    footer: &FooterHeader,
    footer_offset: u64,
) -> Result<Vec<ChunkInfo>, DecodeFault> {
    let start = cursor.offset();
    let [mut offset, mut rows, mut time] = [HEADER_BYTES as u64, 0u64, 0u64];
    let mut chunks = Vec::new();
    for _ in 0..footer.chunks {
        let at = cursor.offset();
        let mut bytes = [0; CHUNK_HEADER_BYTES];
        bytes.copy_from_slice(cursor.take(CHUNK_HEADER_BYTES)?);
        let header = ChunkHeader::parse(&bytes).map_err(|fault| fault.shifted(at))?;
        if header.first_time != time {
            return Err(DecodeFault::new(at, format!("first Time {time}"), header.first_time));
        }
        let threads = parse_threads(cursor, header.threads, header.rows)?;
        let chunk = ChunkInfo::new(offset, header, threads);
        offset = offset.saturating_add(chunk.bytes);
        rows += u64::from(chunk.rows);
        time += header.references();
        chunks.push(chunk);
    }
    let index_bytes = cursor.offset() - start;
    for (expected, found) in [
        (u64::from(footer.index_bytes), index_bytes as u64),
        (footer_offset, offset),
        (footer.rows, rows),
        (footer.references, time),
    ] {
        if expected != found {
            return Err(DecodeFault::new(
                start,
                format!("an index that adds up to {expected}"),
                found,
            ));
        }
    }
    Ok(chunks)
}

fn parse_metadata(cursor: &mut Cursor<'_>, footer: &FooterHeader) -> Result<Metadata, DecodeFault> {
    let start = cursor.offset();
    let stored = cursor.take(cursor.left())?;
    let unpacked;
    let json = if footer.compressed {
        let length = usize::try_from(footer.metadata_raw).unwrap_or(usize::MAX);
        unpacked = zstd::bulk::decompress(stored, length)
            .map_err(|e| DecodeFault::new(start, "metadata as a zstd frame", e))?;
        &unpacked
    } else {
        stored
    };
    serde_json::from_slice(json).map_err(|e| DecodeFault::new(start, "metadata as JSON", e))
}
