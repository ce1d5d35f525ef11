//! One logical page: its state, copies and mappings, and their changes at a fault.

use homenode_base::{ProcId, ProcessorSet1024};

use crate::counts::PmapCounts;
use crate::policy::{CachePolicy, PolicyQuery};
use crate::table::{
    FaultAction, FaultKind, FaultSituation, Flush, Location, OwnerCopy, PageState, action, cell,
};

/// A page of logical memory, which is one frame of global memory and perhaps copies of it.
///
/// ```text
/// read-only        frames {0, 2}   to_local {0, 2}   to_global {}       writable {}
/// local-writable   frames {2}      to_local {2}      to_global {}       writable {2}
/// global-writable  frames {}       to_local {}       to_global {0, 1}   writable {0, 1}
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalPage {
    state: PageState,
    /// Processors whose local memory holds a copy.
    frames: ProcessorSet1024,
    /// Processors that map their own copy.
    to_local: ProcessorSet1024,
    /// Processors that map the page in global memory.
    to_global: ProcessorSet1024,
    /// Processors whose mapping allows writing.
    writable: ProcessorSet1024,
    /// The owner while local-writable; else the last owner.
    owner: ProcId,
    /// Whether the page may have been written, as far as the kernel knows: a writable mapping has
    /// existed. Until then every copy is a frame of zeros.
    written: bool,
    /// Faults that flushed another processor's copy, which the policy counts.
    invalidations: u64,
}

impl Default for LogicalPage {
    /// A page before its first reference: read-only with no copies, to be filled with zeros when
    /// and where it is first used (§3.1.3, lazy evaluation).
    fn default() -> Self {
        Self {
            state: PageState::ReadOnly,
            frames: ProcessorSet1024::EMPTY,
            to_local: ProcessorSet1024::EMPTY,
            to_global: ProcessorSet1024::EMPTY,
            writable: ProcessorSet1024::EMPTY,
            owner: 0,
            written: false,
            invalidations: 0,
        }
    }
}

impl LogicalPage {
    /// The state.
    #[must_use]
    pub fn state(&self) -> PageState {
        self.state
    }

    /// Processors whose local memory holds a copy.
    #[must_use]
    pub fn frames(&self) -> &ProcessorSet1024 {
        &self.frames
    }

    /// Whether a reference by `q` faults: no mapping, or one that does not allow it.
    #[must_use]
    pub fn faults(&self, q: ProcId, access: FaultKind) -> bool {
        match access {
            FaultKind::Read => !self.to_local.contains(q) && !self.to_global.contains(q),
            FaultKind::Write => !self.writable.contains(q),
        }
    }

    /// The memory that serves references by `q`; only meaningful if `q` has a mapping.
    #[must_use]
    pub fn serves(&self, q: ProcId) -> Location {
        if self.to_local.contains(q) { Location::Local } else { Location::Global }
    }

    /// Frees the page: its frames are released and its state is that of a page that has not been
    /// referenced (`pmap_free_page`, §3.1.3).
    pub fn free(&mut self, counts: &mut PmapCounts) {
        let copies = u64::from(self.frames.len());
        let used = copies > 0 || self.state == PageState::GlobalWritable;
        counts.freed_pages += u64::from(used);
        counts.freed_copies += copies;
        *self = Self::default();
    }

    fn situation(&self, q: ProcId) -> FaultSituation {
        match self.state {
            PageState::ReadOnly => FaultSituation::ReadOnly,
            PageState::LocalWritable if self.owner == q => FaultSituation::LocalWritableOwn,
            PageState::LocalWritable => FaultSituation::LocalWritableOther,
            PageState::GlobalWritable => FaultSituation::GlobalWritable,
        }
    }

    /// Handles a fault by `q`: asks the policy, performs the table's action, and maps the page.
    ///
    /// # Panics
    /// When the page's copies and mappings are not those of its state, which would be an error in
    /// the table or in this function.
    pub fn fault(
        &mut self,
        q: ProcId,
        access: FaultKind,
        policy: &mut dyn CachePolicy,
        owner_copy: OwnerCopy,
        counts: &mut PmapCounts,
    ) {
        let answer = policy.cache_policy(&PolicyQuery {
            state: self.state,
            access,
            held_by_others: !self.frames.without(q).is_empty(),
            invalidations: self.invalidations,
        });
        let situation = self.situation(q);
        counts.faults += 1;
        counts.cells[cell(situation, access, answer)] += 1;
        self.perform(q, action(situation, access, answer, owner_copy), counts);
        self.map(q, access);
        self.written |= !self.writable.is_empty();
        self.check();
    }

    /// Performs the action of a cell of the table, in the order of its fields.
    fn perform(&mut self, q: ProcId, action: FaultAction, counts: &mut PmapCounts) {
        counts.syncs += u64::from(action.sync);
        if action.protect {
            self.writable.remove(self.owner);
            counts.protects += 1;
        }
        self.flush(q, action.flush, counts);
        if action.unmap {
            counts.unmaps += u64::from(self.to_global.len());
            self.to_global = ProcessorSet1024::EMPTY;
            self.writable = ProcessorSet1024::EMPTY;
        }
        if action.copy && !self.frames.contains(q) {
            self.frames.insert(q);
            *(if self.written { &mut counts.copies } else { &mut counts.local_zero_fills }) += 1;
        }
        if action.next == PageState::GlobalWritable && self.state != PageState::GlobalWritable {
            counts.pins += 1;
            counts.global_zero_fills += u64::from(!self.written);
        }
        if action.next == PageState::LocalWritable {
            self.owner = q;
        }
        self.state = action.next;
    }

    fn flush(&mut self, q: ProcId, flush: Flush, counts: &mut PmapCounts) {
        let gone = match flush {
            Flush::Nothing => return,
            Flush::Own => ProcessorSet1024::single(q),
            Flush::Other => self.frames.without(q),
            Flush::All => self.frames,
        };
        let others = !gone.without(q).is_empty();
        counts.flushes += u64::from(self.frames.intersection(&gone).len());
        self.frames = self.frames.difference(&gone);
        self.to_local = self.to_local.difference(&gone);
        self.writable = self.writable.difference(&gone);
        counts.invalidations += u64::from(others);
        self.invalidations += u64::from(others);
    }

    /// Maps the page for `q`: in local memory with the least permission that the reference needs,
    /// as coherence depends on later faults; in global memory writable, as coherence does not
    /// depend on faults there.
    fn map(&mut self, q: ProcId, access: FaultKind) {
        let writable = match self.state {
            PageState::ReadOnly => {
                self.to_local.insert(q);
                false
            }
            PageState::LocalWritable => {
                self.to_local.insert(q);
                access == FaultKind::Write
            }
            PageState::GlobalWritable => {
                self.to_global.insert(q);
                true
            }
        };
        if writable {
            self.writable.insert(q);
        }
    }

    /// Checks the state's definition, and that no mapping points at a flushed frame.
    fn check(&self) {
        let copies = self.frames.len();
        let alone = ProcessorSet1024::single(self.owner);
        let sound = match self.state {
            PageState::ReadOnly => {
                copies >= 1 && self.to_global.is_empty() && self.writable.is_empty()
            }
            PageState::LocalWritable => {
                self.frames == alone && self.to_global.is_empty() && self.writable.is_subset(&alone)
            }
            PageState::GlobalWritable => {
                copies == 0 && self.to_local.is_empty() && self.writable.is_subset(&self.to_global)
            }
        };
        assert!(sound && self.to_local.is_subset(&self.frames), "the page manager left {self:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::REQUESTS;

    /// Gives one answer for all pages.
    struct FixedAnswer(Location);

    impl CachePolicy for FixedAnswer {
        fn cache_policy(&mut self, _: &PolicyQuery) -> Location {
            self.0
        }
    }

    type PageCondition =
        (PageState, Vec<ProcId>, Vec<ProcId>, Vec<ProcId>, Vec<ProcId>, ProcId, bool);

    fn condition(page: &LogicalPage) -> PageCondition {
        let list = |set: &ProcessorSet1024| (0..3).filter(|&p| set.contains(p)).collect::<Vec<_>>();
        let owner = if page.state == PageState::LocalWritable { page.owner } else { 0 };
        let (state, written) = (page.state, page.written);
        let sets = [&page.frames, &page.to_local, &page.to_global, &page.writable].map(list);
        let [frames, to_local, to_global, writable] = sets;
        (state, frames, to_local, to_global, writable, owner, written)
    }

    /// Every condition into which three processors can bring a page, under a policy that may give
    /// either answer at any time. All are sound (`fault` checks), and all cells are reached except
    /// those of a local-writable page at its owner: there the owner must fault on a page that it
    /// holds, which only the ACE's memory management chip causes, by dropping a mapping.
    #[test]
    fn no_sequence_of_answers_breaks_a_page() {
        for owner_copy in [OwnerCopy::Flush, OwnerCopy::Keep] {
            let mut seen = vec![LogicalPage::default()];
            let mut counts = PmapCounts::default();
            let mut next = 0;
            while next < seen.len() {
                for q in 0..3 {
                    for (access, answer) in REQUESTS {
                        let mut page = seen[next];
                        if !page.faults(q, access) {
                            continue;
                        }
                        page.fault(q, access, &mut FixedAnswer(answer), owner_copy, &mut counts);
                        assert!(!page.faults(q, access), "the instruction can complete");
                        if seen.iter().all(|known| condition(known) != condition(&page)) {
                            seen.push(page);
                        }
                    }
                }
                next += 1;
            }
            assert!(seen.len() > 20, "{}", seen.len());
            let unreached = |s| {
                let cells = REQUESTS.map(|(a, l)| counts.cells[cell(s, a, l)]);
                cells.iter().filter(|&&count| count == 0).count()
            };
            assert_eq!(unreached(FaultSituation::LocalWritableOwn), REQUESTS.len());
            assert_eq!(unreached(FaultSituation::ReadOnly), 0);
            assert_eq!(unreached(FaultSituation::LocalWritableOther), 0);
            assert_eq!(unreached(FaultSituation::GlobalWritable), 0);
        }
    }

    #[test]
    fn a_private_page_is_filled_once_and_never_moves() {
        let (mut page, mut counts) = (LogicalPage::default(), PmapCounts::default());
        for access in [FaultKind::Read, FaultKind::Write] {
            assert!(page.faults(5, access));
            page.fault(5, access, &mut FixedAnswer(Location::Local), OwnerCopy::Flush, &mut counts);
        }
        assert_eq!((counts.faults, counts.local_zero_fills, counts.copies), (2, 1, 0));
        assert_eq!(page.state(), PageState::LocalWritable);
        assert!(!page.faults(5, FaultKind::Read) && page.faults(4, FaultKind::Read));
    }
}
