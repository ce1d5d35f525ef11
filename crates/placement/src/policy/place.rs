//! Where a block is, and counting what happens there; shared by the policies.

use homenode_base::{ProcId, ProcessorSet};

use crate::history::Run;
use crate::tally::Tally;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixedPlace {
    Processor(ProcId),
    Global,
}

impl FixedPlace {
    #[inline]
    pub(crate) fn count(self, q: ProcId, reads: u64, writes: u64, tally: &mut Tally) {
        match self {
            Self::Processor(p) if p == q => {
                tally.local_reads += reads;
                tally.local_writes += writes;
            }
            Self::Processor(_) => {
                tally.remote_reads += reads;
                tally.remote_writes += writes;
            }
            Self::Global => {
                tally.global_reads += reads;
                tally.global_writes += writes;
            }
        }
    }

    pub(crate) fn count_runs(self, runs: &[Run], tally: &mut Tally) {
        for run in runs {
            self.count(run.processor(), run.reads(), run.writes(), tally);
        }
    }
}

/// The set P_t of a block (Bolosky §4.1.3).
#[derive(Clone, Copy)]
pub(crate) struct LocationSet<const WORDS: usize> {
    pub(crate) set: ProcessorSet<WORDS>,
    /// Whether global memory holds one.
    pub(crate) global: bool,
    /// The processor that has held its copy longest. Copies are added one by one, and removed all
    /// but one, so a list in order of age is not needed.
    pub(crate) eldest: ProcId,
}

impl<const WORDS: usize> LocationSet<WORDS> {
    pub(crate) fn at(p: ProcId) -> Self {
        Self { set: ProcessorSet::single(p), global: false, eldest: p }
    }

    #[inline]
    pub(crate) fn only(&self, q: ProcId) -> bool {
        !self.global && self.set.contains(q) && !self.set.holds_other_than(q)
    }

    /// Whether there is more than one copy, the global one included.
    pub(crate) fn replicated(&self) -> bool {
        let several = self.set.holds_other_than(self.eldest);
        several || self.global && self.set.contains(self.eldest)
    }

    /// A read by `q`, which holds no copy, makes one; `with_global` also puts one into global
    /// memory if there is none.
    pub(crate) fn replicate(&mut self, q: ProcId, with_global: bool, tally: &mut Tally) {
        // After a collapse into global memory no processor holds a copy.
        let no_holder = !self.set.contains(self.eldest);
        if self.global || with_global {
            // One move fills global memory if it is not in P, one the reader's copy.
            tally.global_moves += if self.global { 1 } else { 2 };
            self.global = true;
        } else {
            tally.remote_moves += 1;
        }
        tally.replications += 1;
        tally.faults += 1;
        self.set.insert(q);
        if no_holder {
            self.eldest = q;
        }
    }

    /// A write by `q` makes its copy the only one; before, P is not {q}. Returns whether that is an
    /// invalidation.
    pub(crate) fn take(&mut self, q: ProcId, tally: &mut Tally) -> bool {
        let invalidation = self.set.holds_other_than(q);
        if !self.set.contains(q) {
            tally.global_moves += u64::from(self.global);
            tally.remote_moves += u64::from(!self.global);
        }
        tally.invalidations += u64::from(invalidation);
        tally.faults += 1;
        *self = Self::at(q);
        invalidation
    }

    /// Leaves one copy, by a write of `q`: the global one if the machine has global memory, else
    /// q's, else the eldest. Returns the place.
    pub(crate) fn collapse(&mut self, q: ProcId, to_global: bool, tally: &mut Tally) -> FixedPlace {
        tally.faults += 1;
        if to_global {
            tally.global_moves += u64::from(!self.global);
            tally.invalidations += u64::from(self.set.holds_other_than(q));
            *self = Self { set: ProcessorSet::EMPTY, global: true, eldest: self.eldest };
            return FixedPlace::Global;
        }
        let keep = if self.set.contains(q) { q } else { self.eldest };
        // Where keep is not q, q has no copy to lose.
        let lost = self.set.holds_other_than(keep);
        tally.invalidations += u64::from(lost);
        *self = Self::at(keep);
        FixedPlace::Processor(keep)
    }
}
