//! Facts about a program's references before and after its run.

use homenode_trace::{Batch, ChunkOutline, Columns, Metadata, TraceError};
use homenode_transform::realign::AddressMap;

use super::config::LiveEnd;
use crate::pass::TraceSource;

/// A program in place of a trace. It has no pieces to read, because it is simulated while it runs.
pub(crate) struct LiveSource {
    metadata: Metadata,
    end: LiveEnd,
}

impl LiveSource {
    pub(crate) fn new(threads: u16) -> Self {
        let end = LiveEnd { threads, ..LiveEnd::default() };
        Self { metadata: Metadata::default(), end }
    }

    pub(crate) fn ended(end: LiveEnd) -> Self {
        Self { metadata: Metadata::default(), end }
    }
}

impl TraceSource for LiveSource {
    fn name(&self) -> String {
        self.end.name.clone()
    }

    fn checksum(&self) -> String {
        self.end.checksum.clone()
    }

    fn pieces(&self) -> usize {
        0
    }

    fn columns(&self) -> Columns {
        Columns { flags: true, ..Columns::default() }
    }

    fn read(&self, _: usize, batch: &mut Batch) -> Result<(), TraceError> {
        *batch = Batch::default();
        Ok(())
    }

    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.read(index, batch)
    }

    fn outline(&self, _: usize) -> Result<ChunkOutline, TraceError> {
        Ok(ChunkOutline::default())
    }

    fn references(&self) -> u64 {
        self.end.references
    }

    fn threads(&self) -> u16 {
        self.end.threads
    }

    fn serial_start(&self) -> Option<u64> {
        None
    }

    fn address_map(&self) -> AddressMap {
        AddressMap::default()
    }

    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}
