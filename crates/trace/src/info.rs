//! Statistics of a trace from its index and metadata, without decoding references.

use std::path::Path;

use serde::Serialize;

use crate::error::TraceError;
use crate::model::{Columns, Metadata};
use crate::reader::TraceReader;

/// Statistics of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// File.
    pub path: String,
    /// Version of the file format.
    pub format_version: u16,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the file per reference or fetch; absent in a trace without either.
    pub bytes_per_reference: Option<f64>,
    /// Data references.
    pub references: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Atomic read-modify-writes.
    pub atomics: u64,
    /// Instruction fetches.
    pub fetches: u64,
    /// Rows flagged private.
    pub private: u64,
    /// Rows flagged as synchronisation.
    pub sync: u64,
    /// Rows flagged as issued by the kernel, on its own data or on a thread's.
    pub kernel: u64,
    /// Events.
    pub events: u64,
    /// One more than the highest thread number.
    pub threads: u16,
    /// References and fetches of each thread.
    pub rows_per_thread: Vec<u64>,
    /// Lowest address.
    pub addr_low: u64,
    /// Highest address touched.
    pub addr_high: u64,
    /// Chunks.
    pub chunks: usize,
    /// Optional columns.
    pub columns: Columns,
    /// Content checksum, in hexadecimal.
    pub checksum: String,
    /// The metadata.
    pub metadata: Metadata,
}

/// Statistics of the trace at `path`.
///
/// # Errors
/// As [`TraceReader::open`].
pub fn info(path: impl AsRef<Path>) -> Result<Info, TraceError> {
    Ok(TraceReader::open(path)?.info())
}

impl TraceReader {
    /// Statistics of the trace, from its index and metadata only.
    #[must_use]
    pub fn info(&self) -> Info {
        let mut counts = [0u64; 6];
        let mut rows_per_thread = vec![0u64; usize::from(self.threads())];
        for chunk in self.chunks() {
            for (total, count) in counts.iter_mut().zip(chunk.counts()) {
                *total += u64::from(count);
            }
            for &(thread, rows) in &chunk.threads {
                rows_per_thread[usize::from(thread)] += u64::from(rows);
            }
        }
        let [reads, writes, atomics, private, sync, kernel] = counts;
        let occupied = || self.chunks().iter().filter(|chunk| chunk.rows > 0);
        // Exact up to 2^53 bytes, more than any file has.
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
        let ratio = |rows: u64| self.bytes() as f64 / rows as f64;
        Info {
            path: self.path().display().to_string(),
            format_version: crate::format::v1::VERSION,
            bytes: self.bytes(),
            bytes_per_reference: (self.rows() > 0).then(|| ratio(self.rows())),
            references: self.references(),
            reads,
            writes,
            atomics,
            fetches: self.rows() - self.references(),
            private,
            sync,
            kernel,
            events: self.chunks().iter().map(|chunk| u64::from(chunk.events)).sum(),
            threads: self.threads(),
            rows_per_thread,
            addr_low: occupied().map(|chunk| chunk.addr_low).min().unwrap_or(0),
            addr_high: occupied().map(|chunk| chunk.addr_high).max().unwrap_or(0),
            chunks: self.chunks().len(),
            columns: self.columns(),
            checksum: self.checksum(),
            metadata: self.metadata().clone(),
        }
    }
}
