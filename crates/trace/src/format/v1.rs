//! `.hnt` version 1, byte by byte. All integers are little-endian.
//!
//! ```text
//! file     header, chunks one after the other, footer, trailer
//!
//! header   0  8  magic 89 48 4e 54 0d 0a 1a 0a (a text-mode copy destroys it)
//!          8  2  version: 1
//!         10  1  columns that may occur: 1 pc, 2 gap, 4 pid, 8 flags
//!         11  1  0
//!         12  4  rows a full chunk holds
//!         16 12  0
//!         28  4  CRC-32 of bytes 0..28
//!
//! chunk    0  4  magic "HNTC"
//!          4  4  CRC-32 of bytes 8..80
//!          8  4  bytes of the body
//!         12  4  CRC-32 of the body
//!         16  4  rows (references and fetches)
//!         20  4  events
//!         24  4  reads            28  4  writes            32  4  atomics
//!         36  4  private rows     40  4  synchronisation   44  4  kernel
//!         48  8  Time of the first reference
//!         56  8  lowest address   64  8  highest address touched (0 and 0 without rows)
//!         72  4  threads with rows in the chunk
//!         76  1  columns that may occur, as in the header of the file
//!         77  3  0
//!         80     body: a thread table of (u16 thread, u32 rows), by thread; then the streams of
//!                `crate::codec`
//!
//! footer   0  4  magic "HNTF"
//!          4  4  chunks
//!          8  8  rows             16  8  references
//!         24 16  content checksum (see `crate::checksum`)
//!         40  4  bytes of the index
//!         44  1  columns the trace has     45  1  1 if the metadata is compressed (zstd), else 0
//!         46  2  0
//!         48  8  bytes of the metadata in the file
//!         56  8  bytes of the metadata as JSON
//!         64     index: the 80-byte header and thread table of every chunk; then the metadata
//!
//! trailer  0  8  offset of the footer      8  8  bytes of the footer
//!         16  4  CRC-32 of the footer     20  4  CRC-32 of bytes 0..20
//!         24  8  magic "HNTEND\r\n"
//! ```
//!
//! Every byte is covered by a checksum, and chunks are contiguous, so a reader detects any flipped
//! bit in the parts it reads. Lengths are checked against the file's size, and row counts against
//! [`MAX_ROWS`], before memory is allocated.

use crate::bytes::{Cursor, DecodeFault};
use crate::model::Columns;

pub(crate) const MAGIC: [u8; 8] = *b"\x89HNT\r\n\x1a\n";
pub(crate) const VERSION: u16 = 1;
pub(crate) const HEADER_BYTES: usize = 32;
pub(crate) const CHUNK_MAGIC: [u8; 4] = *b"HNTC";
pub(crate) const CHUNK_HEADER_BYTES: usize = 80;
pub(crate) const THREAD_BYTES: usize = 6;
/// Most rows, and most events, in a chunk: bounds the memory of a reader.
pub(crate) const MAX_ROWS: u32 = 1 << 21;
pub(crate) const FOOTER_MAGIC: [u8; 4] = *b"HNTF";
pub(crate) const FOOTER_HEADER_BYTES: usize = 64;
pub(crate) const TRAILER_BYTES: usize = 32;
/// Last bytes of a complete file.
pub(crate) const TRAILER_MAGIC: [u8; 8] = *b"HNTEND\r\n";
/// Largest expansion of compressed metadata.
pub(crate) const MAX_METADATA_RATIO: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) columns: Columns,
    pub(crate) chunk_rows: u32,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = self.columns.bits();
        bytes[12..16].copy_from_slice(&self.chunk_rows.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Parses a header whose magic number and version the caller has checked.
    pub(crate) fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, DecodeFault> {
        let mut cursor = Cursor::new(bytes);
        cursor.take(10)?;
        let columns = parse_columns(&mut cursor)?;
        cursor.take(1)?;
        let chunk_rows = cursor.u32()?;
        cursor.take(12)?;
        check_crc(28, crc32fast::hash(&bytes[..28]), cursor.u32()?)?;
        Ok(Self { columns, chunk_rows })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    pub(crate) body_bytes: u32,
    pub(crate) body_crc: u32,
    pub(crate) rows: u32,
    pub(crate) events: u32,
    /// Reads, writes, atomics, private, synchronisation and kernel rows.
    pub(crate) counts: [u32; 6],
    pub(crate) first_time: u64,
    pub(crate) addr_low: u64,
    pub(crate) addr_high: u64,
    pub(crate) threads: u32,
    pub(crate) columns: Columns,
}

impl ChunkHeader {
    pub(crate) fn references(&self) -> u64 {
        self.counts[..3].iter().map(|&n| u64::from(n)).sum()
    }

    pub(crate) const fn table_bytes(&self) -> usize {
        self.threads as usize * THREAD_BYTES
    }

    pub(crate) fn to_bytes(self) -> [u8; CHUNK_HEADER_BYTES] {
        let mut bytes = [0; CHUNK_HEADER_BYTES];
        bytes[..4].copy_from_slice(&CHUNK_MAGIC);
        let words = [self.body_bytes, self.body_crc, self.rows, self.events];
        for (i, word) in words.iter().chain(&self.counts).enumerate() {
            bytes[8 + 4 * i..12 + 4 * i].copy_from_slice(&word.to_le_bytes());
        }
        for (i, long) in [self.first_time, self.addr_low, self.addr_high].iter().enumerate() {
            bytes[48 + 8 * i..56 + 8 * i].copy_from_slice(&long.to_le_bytes());
        }
        bytes[72..76].copy_from_slice(&self.threads.to_le_bytes());
        bytes[76] = self.columns.bits();
        let crc = crc32fast::hash(&bytes[8..]);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Parses a header; checks its checksum and the consistency of its numbers.
    pub(crate) fn parse(bytes: &[u8; CHUNK_HEADER_BYTES]) -> Result<Self, DecodeFault> {
        let mut cursor = Cursor::new(bytes);
        let magic = cursor.take(4)?;
        if magic != CHUNK_MAGIC {
            return Err(DecodeFault::new(0, "the chunk magic \"HNTC\"", hex(magic)));
        }
        check_crc(4, crc32fast::hash(&bytes[8..]), cursor.u32()?)?;
        let mut header = Self {
            body_bytes: cursor.u32()?,
            body_crc: cursor.u32()?,
            rows: cursor.u32()?,
            events: cursor.u32()?,
            ..Self::default()
        };
        for count in &mut header.counts {
            *count = cursor.u32()?;
        }
        header.first_time = cursor.u64()?;
        header.addr_low = cursor.u64()?;
        header.addr_high = cursor.u64()?;
        header.threads = cursor.u32()?;
        header.columns = parse_columns(&mut cursor)?;
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), DecodeFault> {
        let at_most = |offset, limit: u32, found: u32| {
            if found <= limit {
                Ok(())
            } else {
                Err(DecodeFault::new(offset, format!("at most {limit}"), found))
            }
        };
        at_most(16, MAX_ROWS, self.rows)?;
        at_most(20, MAX_ROWS, self.events)?;
        for &count in &self.counts {
            at_most(24, self.rows, count)?;
        }
        if self.references() > u64::from(self.rows) {
            let expected = format!("at most {} references", self.rows);
            return Err(DecodeFault::new(24, expected, self.references()));
        }
        at_most(72, self.rows.min(1 << 16), self.threads)?;
        if self.table_bytes() > self.body_bytes as usize {
            let expected = format!("at least {} bytes of body", self.table_bytes());
            return Err(DecodeFault::new(8, expected, self.body_bytes));
        }
        Ok(())
    }
}

/// Reads `count` entries of a thread table and checks that they are ordered and add up to `rows`.
pub(crate) fn parse_threads(
    cursor: &mut Cursor<'_>,
    count: u32,
    rows: u32,
) -> Result<Vec<(u16, u32)>, DecodeFault> {
    let start = cursor.offset();
    let mut table = Vec::new();
    let mut total = 0u64;
    for _ in 0..count {
        let entry = (cursor.u16()?, cursor.u32()?);
        let unordered = table.last().is_some_and(|last: &(u16, u32)| last.0 >= entry.0);
        if unordered || entry.0 == u16::MAX || entry.1 == 0 {
            let found = format!("thread {} with {} rows", entry.0, entry.1);
            return Err(DecodeFault::new(
                cursor.offset(),
                "threads in order, each with rows",
                found,
            ));
        }
        total += u64::from(entry.1);
        table.push(entry);
    }
    if total == u64::from(rows) {
        Ok(table)
    } else {
        Err(DecodeFault::new(start, format!("a thread table of {rows} rows"), total))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FooterHeader {
    pub(crate) chunks: u32,
    /// References and fetches in the file.
    pub(crate) rows: u64,
    /// Data references in the file.
    pub(crate) references: u64,
    pub(crate) checksum: [u8; 16],
    pub(crate) index_bytes: u32,
    /// Optional columns of the trace: those of the header, or fewer.
    pub(crate) columns: Columns,
    pub(crate) compressed: bool,
    pub(crate) metadata_bytes: u64,
    /// Bytes of the metadata as JSON.
    pub(crate) metadata_raw: u64,
}

impl FooterHeader {
    pub(crate) fn to_bytes(self) -> [u8; FOOTER_HEADER_BYTES] {
        let mut bytes = [0; FOOTER_HEADER_BYTES];
        bytes[..4].copy_from_slice(&FOOTER_MAGIC);
        bytes[4..8].copy_from_slice(&self.chunks.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.rows.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.references.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.checksum);
        bytes[40..44].copy_from_slice(&self.index_bytes.to_le_bytes());
        bytes[44] = self.columns.bits();
        bytes[45] = u8::from(self.compressed);
        bytes[48..56].copy_from_slice(&self.metadata_bytes.to_le_bytes());
        bytes[56..].copy_from_slice(&self.metadata_raw.to_le_bytes());
        bytes
    }

    /// Parses it and checks that index and metadata fill the rest of the footer.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, DecodeFault> {
        let magic = cursor.take(4)?;
        if magic != FOOTER_MAGIC {
            return Err(DecodeFault::new(0, "the footer magic \"HNTF\"", hex(magic)));
        }
        let mut header = Self {
            chunks: cursor.u32()?,
            rows: cursor.u64()?,
            references: cursor.u64()?,
            ..Self::default()
        };
        header.checksum.copy_from_slice(cursor.take(16)?);
        header.index_bytes = cursor.u32()?;
        header.columns = parse_columns(cursor)?;
        header.compressed = match cursor.u8()? {
            0 => false,
            1 => true,
            other => return Err(DecodeFault::new(45, "0 or 1", other)),
        };
        cursor.take(2)?;
        header.metadata_bytes = cursor.u64()?;
        header.metadata_raw = cursor.u64()?;
        let parts = header.metadata_bytes.checked_add(u64::from(header.index_bytes));
        if parts != Some(cursor.left() as u64) {
            let expected = format!("index and metadata of {} bytes", cursor.left());
            let found = parts.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
            return Err(DecodeFault::new(40, expected, found));
        }
        let largest = if header.compressed {
            header.metadata_bytes.saturating_mul(MAX_METADATA_RATIO)
        } else {
            header.metadata_bytes
        };
        if header.metadata_raw > largest {
            let expected = format!("at most {largest} bytes of metadata");
            return Err(DecodeFault::new(56, expected, header.metadata_raw));
        }
        Ok(header)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) footer_offset: u64,
    pub(crate) footer_bytes: u64,
    pub(crate) footer_crc: u32,
}

impl Trailer {
    pub(crate) fn to_bytes(self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..8].copy_from_slice(&self.footer_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.footer_bytes.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.footer_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..20]);
        bytes[20..24].copy_from_slice(&crc.to_le_bytes());
        bytes[24..].copy_from_slice(&TRAILER_MAGIC);
        bytes
    }

    /// Parses a trailer whose magic number the caller has checked.
    pub(crate) fn parse(bytes: &[u8; TRAILER_BYTES]) -> Result<Self, DecodeFault> {
        let mut cursor = Cursor::new(bytes);
        let trailer = Self {
            footer_offset: cursor.u64()?,
            footer_bytes: cursor.u64()?,
            footer_crc: cursor.u32()?,
        };
        check_crc(20, crc32fast::hash(&bytes[..20]), cursor.u32()?)?;
        Ok(trailer)
    }
}

fn parse_columns(cursor: &mut Cursor<'_>) -> Result<Columns, DecodeFault> {
    let at = cursor.offset();
    let bits = cursor.u8()?;
    Columns::from_bits(bits)
        .ok_or_else(|| DecodeFault::new(at, "known columns (bits 0 to 3)", bits))
}

pub(crate) fn check_crc(offset: usize, computed: u32, written: u32) -> Result<(), DecodeFault> {
    if computed == written {
        Ok(())
    } else {
        Err(DecodeFault::new(offset, format!("CRC-32 {computed:08x}"), format!("{written:08x}")))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_documented_layout() {
        let columns = Columns { pc: true, flags: true, ..Columns::default() };
        let header = Header { columns, chunk_rows: 0x1_0000 };
        let bytes = header.to_bytes();
        assert_eq!(bytes[8..16], [1, 0, 0b1001, 0, 0, 0, 1, 0]);
        assert_eq!(Header::parse(&bytes).unwrap(), header);
    }

    #[test]
    fn chunk_headers_whose_numbers_disagree_are_faults() {
        let good = ChunkHeader { rows: 2, counts: [1, 1, 0, 0, 0, 0], ..ChunkHeader::default() };
        assert_eq!(ChunkHeader::parse(&good.to_bytes()).unwrap(), good);
        for bad in [
            ChunkHeader { rows: MAX_ROWS + 1, ..good },
            ChunkHeader { events: MAX_ROWS + 1, ..good },
            ChunkHeader { counts: [1, 1, 1, 0, 0, 0], ..good },
            ChunkHeader { counts: [0, 0, 0, 3, 0, 0], ..good },
            ChunkHeader { threads: 3, body_bytes: 100, ..good },
            ChunkHeader { threads: 1, body_bytes: 5, ..good },
        ] {
            assert!(ChunkHeader::parse(&bad.to_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_footer_with_wrong_lengths_reports_them() {
        let footer = FooterHeader { metadata_bytes: 102, metadata_raw: 102, ..Default::default() };
        let error = FooterHeader::parse(&mut Cursor::new(&footer.to_bytes())).unwrap_err();
        assert_eq!(
            (error.expected.as_str(), error.found.as_str()),
            ("index and metadata of 0 bytes", "102")
        );
    }

    #[test]
    fn thread_tables_are_ordered_and_add_up() {
        let table = |entries: &[(u16, u32)]| {
            let bytes: Vec<u8> = entries
                .iter()
                .flat_map(|(thread, rows)| {
                    [&thread.to_le_bytes()[..], &rows.to_le_bytes()].concat()
                })
                .collect();
            let count = u32::try_from(entries.len()).unwrap();
            parse_threads(&mut Cursor::new(&bytes), count, 3).map_err(|_| ())
        };
        assert_eq!(table(&[(0, 1), (4, 2)]), Ok(vec![(0, 1), (4, 2)]));
        let bad: [&[(u16, u32)]; 4] =
            [&[(4, 1), (0, 2)], &[(0, 3), (1, 0)], &[(0, 2)], &[(u16::MAX, 3)]];
        assert!(bad.iter().all(|entries| table(entries).is_err()));
    }
}
