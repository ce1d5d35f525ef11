//! Sources of batches, and the number of processors of a simulation.

use homenode_trace::{Batch, ChunkOutline, Columns, Metadata, TraceError, TraceReader, Want};
use homenode_transform::realign::AddressMap;

use crate::error::{SimResult, config_error};

/// A trace in pieces, which several threads can read in any order.
pub trait TraceSource: Sync {
    /// Name used in results.
    fn name(&self) -> String;
    /// Content checksum for provenance.
    fn checksum(&self) -> String;
    /// Number of pieces.
    fn pieces(&self) -> usize;
    /// The optional columns present in the trace.
    fn columns(&self) -> Columns;
    /// Fills the batch with piece `index`; of the optional columns only flags are needed.
    ///
    /// # Errors
    /// When the piece cannot be read.
    fn read(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError>;
    /// Fills the batch with piece `index`, including events and all columns for engines with
    /// processes.
    ///
    /// # Errors
    /// When the piece cannot be read.
    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError>;
    /// The order of references and events in piece `index`.
    ///
    /// # Errors
    /// When the piece cannot be read.
    fn outline(&self, index: usize) -> Result<ChunkOutline, TraceError>;
    /// Data references in all pieces.
    fn references(&self) -> u64;
    /// One more than the highest thread number.
    fn threads(&self) -> u16;
    /// Data references before the first one of a second thread; `None` with a single thread.
    fn serial_start(&self) -> Option<u64>;
    /// Used addresses, for re-alignment to place new pages beside them.
    fn address_map(&self) -> AddressMap;
    /// The metadata, which names the data that re-alignment moves.
    fn metadata(&self) -> &Metadata;
}

impl TraceSource for TraceReader {
    fn name(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }

    fn checksum(&self) -> String {
        self.checksum()
    }

    fn pieces(&self) -> usize {
        self.chunks().len()
    }

    fn columns(&self) -> Columns {
        self.columns()
    }

    fn read(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        let flags = Columns { flags: true, ..Columns::default() };
        self.read_chunk(index, Want { columns: flags, events: false }, batch)
    }

    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        let columns = Columns { flags: true, gap: true, pid: true, ..Columns::default() };
        self.read_chunk(index, Want { columns, events: true }, batch)
    }

    fn outline(&self, index: usize) -> Result<ChunkOutline, TraceError> {
        self.read_outline(index)
    }

    fn references(&self) -> u64 {
        self.references()
    }

    fn threads(&self) -> u16 {
        self.threads()
    }

    fn serial_start(&self) -> Option<u64> {
        // Called after a pass, which has already reported unreadable pieces as an error.
        self.serial_start().ok().flatten()
    }

    fn address_map(&self) -> AddressMap {
        AddressMap::of(self)
    }

    fn metadata(&self) -> &Metadata {
        self.metadata()
    }
}

const PROCESSORS_MAX: u16 = 1024;

pub(crate) fn processors(requested: Option<u16>, trace: &dyn TraceSource) -> SimResult<u16> {
    let processors = requested.unwrap_or_else(|| trace.threads().max(1));
    if (1..=PROCESSORS_MAX).contains(&processors) {
        return Ok(processors);
    }
    Err(config_error(match requested {
        Some(n) => format!("--processors: {n} processors: the model allows 1 to {PROCESSORS_MAX}"),
        None => format!(
            "the trace has {processors} threads, the model allows {PROCESSORS_MAX} processors: \
             choose fewer with --processors; thread i runs on processor i modulo that"
        ),
    }))
}

pub(crate) fn processor_counts(
    requested: Option<u16>,
    scaling: &[u16],
    trace: &dyn TraceSource,
) -> SimResult<Vec<u16>> {
    if scaling.is_empty() {
        return Ok(vec![processors(requested, trace)?]);
    }
    scaling.iter().map(|&count| processors(Some(count), trace)).collect()
}
