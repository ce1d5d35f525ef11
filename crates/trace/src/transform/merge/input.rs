//! One of the traces, as far as it was read.

use homenode_base::Access;

use super::relocation::SharedMappings;
use crate::model::{Batch, Event, EventKind};
use crate::reader::TraceReader;

/// What comes next.
pub(super) enum NextInput {
    Access(Access),
    Event(Event),
}

/// A trace on its way into the mix.
pub(super) struct MergeInput {
    /// The chunk that was read last.
    batch: Batch,
    /// Its next reference and its next event.
    row: usize,
    event: usize,
    chunks_left: usize,
    /// Thread of the mix that thread 0 is.
    pub(super) first: u16,
    pub(super) threads: u16,
    /// Whether references to memory that is not shared are private.
    pub(super) marks: bool,
    begun: bool,
    /// What the process has mapped as shared.
    mapped: SharedMappings,
    pub(super) private_references: u64,
    /// The process of the last reference, and what it is in the mix.
    pub(super) last_pid: Option<(u32, u32)>,
    /// Processes of the mix beside the first one.
    pub(super) further_pids: Vec<u32>,
}

impl MergeInput {
    /// A trace of which nothing was read, with so many threads from a number on.
    pub(super) fn new(trace: &TraceReader, (first, threads): (u16, u16)) -> Self {
        Self {
            batch: Batch::default(),
            row: 0,
            event: 0,
            chunks_left: trace.chunks().len(),
            first,
            threads,
            marks: false,
            begun: false,
            mapped: SharedMappings::default(),
            private_references: 0,
            last_pid: None,
            further_pids: Vec::new(),
        }
    }

    /// The next chunk; of the one before nothing is left.
    pub(super) fn fill(&mut self, batch: &Batch) {
        self.batch.clone_from(batch);
        (self.row, self.event) = (0, 0);
        self.chunks_left = self.chunks_left.saturating_sub(1);
    }

    /// What comes next, of what was read. An event comes before the reference that follows it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<NextInput> {
        if let Some((at, event)) = self.batch.events.get(self.event)
            && *at as usize <= self.row
        {
            self.event += 1;
            return Some(NextInput::Event(event.clone()));
        }
        if self.row == self.batch.len() {
            return None;
        }
        self.row += 1;
        Some(NextInput::Access(self.batch.get(self.row - 1)))
    }

    /// Whether nothing is left, read or not.
    pub(super) fn is_over(&self) -> bool {
        self.chunks_left == 0
            && self.row == self.batch.len()
            && self.event == self.batch.events.len()
    }

    /// Whether this is asked for the first time: at the first reference.
    pub(super) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    /// The number of a thread in the mix.
    pub(super) fn thread(&self, thread: u16) -> u16 {
        // The survey has seen all threads, and that there are not too many.
        self.first.saturating_add(thread)
    }

    /// Takes note of what becomes shared memory, and what no longer is.
    pub(super) fn meet(&mut self, what: &EventKind) {
        if let EventKind::Map { addr, size, shared: true, .. } = what {
            self.mapped.insert(*addr, *size);
        } else if let EventKind::Map { addr, size, .. } | EventKind::Unmap { addr, size } = what {
            self.mapped.remove(*addr, *size);
        }
    }

    /// Whether the process has mapped the address as shared memory.
    #[inline]
    pub(super) fn is_shared(&self, addr: u64) -> bool {
        self.mapped.contains(addr)
    }
}
