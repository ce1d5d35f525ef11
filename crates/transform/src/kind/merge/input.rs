//! One of the input traces of a merge, as far as it has been read.

use homenode_trace::{Batch, EventKind, TraceReader};

use super::relocation::SharedMappings;
use crate::queue::Record;

#[derive(Default)]
pub(super) struct MergeInput {
    batch: Batch,
    /// Its next reference and next event.
    row: usize,
    event: usize,
    chunks_left: usize,
    /// The thread of the mix that its thread 0 becomes.
    pub(super) first: u16,
    pub(super) threads: u16,
    /// Whether references to memory that is not shared are private.
    pub(super) marks_private: bool,
    begun: bool,
    /// Memory that the process has mapped as shared.
    mapped: SharedMappings,
    pub(super) private_references: u64,
    /// The process of the last reference, and its number in the mix.
    pub(super) last_pid: Option<(u32, u32)>,
    /// Its processes in the mix other than the first.
    pub(super) further_pids: Vec<u32>,
}

impl MergeInput {
    pub(super) fn new(trace: &TraceReader, first: u16, threads: u16) -> Self {
        Self { chunks_left: trace.chunks().len(), first, threads, ..Self::default() }
    }

    /// Takes the next chunk, once the one before is used up.
    pub(super) fn fill(&mut self, batch: &Batch) {
        self.batch.clone_from(batch);
        (self.row, self.event) = (0, 0);
        self.chunks_left = self.chunks_left.saturating_sub(1);
    }

    /// The next reference or event of the chunk; events come before the reference of their row.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Record> {
        if let Some((at, event)) = self.batch.events.get(self.event)
            && *at as usize <= self.row
        {
            self.event += 1;
            return Some(Record::Event(event.clone()));
        }
        if self.row == self.batch.len() {
            return None;
        }
        self.row += 1;
        Some(Record::Access(self.batch.get(self.row - 1)))
    }

    pub(super) fn is_finished(&self) -> bool {
        self.chunks_left == 0
            && self.row == self.batch.len()
            && self.event == self.batch.events.len()
    }

    /// Whether this is the first call, which is at the first reference.
    pub(super) fn is_first_reference(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    /// The number of a thread in the mix.
    pub(super) fn thread(&self, thread: u16) -> u16 {
        // The survey has checked that the threads of all traces fit.
        self.first.saturating_add(thread)
    }

    pub(super) fn update_mappings(&mut self, what: &EventKind) {
        if let EventKind::Map { addr, size, shared: true, .. } = what {
            self.mapped.insert(*addr, *size);
        } else if let EventKind::Map { addr, size, .. } | EventKind::Unmap { addr, size } = what {
            self.mapped.remove(*addr, *size);
        }
    }

    #[inline]
    pub(super) fn is_shared(&self, addr: u64) -> bool {
        self.mapped.contains(addr)
    }
}
