//! The operating system's state of each processor without a copy: its mapping and counter.

use homenode_base::ProcId;

/// A remote mapping, with what is left of its counter; valid if its stamp is the present one.
#[derive(Clone, Copy, Default)]
struct RemoteMapping {
    stamp: u64,
    left: u64,
}

pub(super) struct Counters {
    mappings: Vec<RemoteMapping>,
    stamp: u64,
    limit: u64,
}

impl Counters {
    pub(super) fn new(processors: u16, limit: u64) -> Self {
        let mappings = vec![RemoteMapping::default(); usize::from(processors)];
        Self { mappings, stamp: 0, limit }
    }

    /// Forgets all mappings: another block, or the home has moved.
    pub(super) fn forget_all(&mut self) {
        // Mappings with an older stamp are invalid, which saves a loop over processors for each
        // block.
        self.stamp += 1;
    }

    pub(super) fn forget(&mut self, q: ProcId) {
        self.mappings[usize::from(q)].stamp = 0;
    }

    /// Maps the block remotely for `q`; returns false if it was mapped already.
    pub(super) fn map(&mut self, q: ProcId) -> bool {
        let (stamp, left) = (self.stamp, self.limit);
        let mapping = &mut self.mappings[usize::from(q)];
        let new = mapping.stamp != stamp;
        if new {
            *mapping = RemoteMapping { stamp, left };
        }
        new
    }

    pub(super) fn left(&self, q: ProcId) -> u64 {
        self.mappings[usize::from(q)].left
    }

    pub(super) fn count(&mut self, q: ProcId, accesses: u64) {
        self.mappings[usize::from(q)].left -= accesses;
    }

    pub(super) fn restart(&mut self, q: ProcId) {
        self.mappings[usize::from(q)].left = self.limit;
    }
}
