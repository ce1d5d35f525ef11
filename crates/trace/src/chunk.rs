//! The index entry of a chunk.

use homenode_base::Flags;

use crate::format::v1::{CHUNK_HEADER_BYTES, ChunkHeader};

/// An entry of the index: statistics of a chunk, known without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Where the chunk begins in the file.
    pub offset: u64,
    /// Bytes of the chunk.
    pub bytes: u64,
    /// References and fetches.
    pub rows: u32,
    /// Data references.
    pub references: u32,
    /// Events.
    pub events: u32,
    /// Time of the first data reference.
    pub first_time: u64,
    /// Lowest address.
    pub addr_low: u64,
    /// Highest address touched.
    pub addr_high: u64,
    /// Threads with rows in the chunk and their row counts, ordered by thread.
    pub threads: Vec<(u16, u32)>,
    pub(crate) header: ChunkHeader,
}

/// The flags of which a row has at least one to be in the last three counts of a chunk.
pub(crate) const COUNTED: [u8; 3] =
    [Flags::PRIVATE.0, Flags::SYNC.0, Flags::KERNEL.0 | Flags::TRANSFER.0];

impl ChunkInfo {
    /// Reads, writes, atomics, private, synchronisation and kernel rows.
    #[must_use]
    pub const fn counts(&self) -> [u32; 6] {
        self.header.counts
    }

    pub(crate) fn new(offset: u64, header: ChunkHeader, threads: Vec<(u16, u32)>) -> Self {
        Self {
            offset,
            bytes: CHUNK_HEADER_BYTES as u64 + u64::from(header.body_bytes),
            rows: header.rows,
            references: header.counts[0] + header.counts[1] + header.counts[2],
            events: header.events,
            first_time: header.first_time,
            addr_low: header.addr_low,
            addr_high: header.addr_high,
            threads,
            header,
        }
    }
}
