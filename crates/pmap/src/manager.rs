//! Runs the page manager over the histories of a trace, page by page.

use homenode_base::{ProcId, Time};
use homenode_placement::Block;

use crate::counts::PmapCounts;
use crate::page::LogicalPage;
use crate::policy::CachePolicy;
use crate::table::{FaultKind, Location, OwnerCopy, PageState};

/// The page manager under one policy. It replays the histories of pages one after the other, as
/// pages do not influence one another.
pub struct Manager {
    policy: Box<dyn CachePolicy>,
    owner_copy: OwnerCopy,
}

/// Counts and final state of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOutcome {
    /// Number of the page: address divided by page size.
    pub number: u64,
    /// The counts.
    pub counts: PmapCounts,
    /// Its final state.
    pub state: PageState,
    /// Whether the program ever writes it: α considers only such pages (Bolosky §3.2.1).
    pub writable_data: bool,
}

impl Manager {
    /// A manager under this policy.
    #[must_use]
    pub fn new(policy: Box<dyn CachePolicy>, owner_copy: OwnerCopy) -> Self {
        Self { policy, owner_copy }
    }

    /// Replays the history of one page, which is freed before the references with these Times,
    /// ascending; if there are any, the history has all Times ([`Times::All`]).
    ///
    /// O(1) per run in which the page is not freed: within a run no other processor refers to the
    /// page, a run that writes begins with a write, and a mapping that allows its first reference
    /// allows all of them.
    ///
    /// [`Times::All`]: homenode_placement::Times::All
    pub fn page(&mut self, block: Block<'_>, freed: &[Time]) -> PageOutcome {
        let mut page = LogicalPage::default();
        let mut counts = PmapCounts::default();
        let mut freed = freed.iter().copied().peekable();
        for run in block.runs {
            let (q, start) = (run.processor(), run.time());
            while freed.next_if(|&time| time <= start).is_some() {
                page.free(&mut counts);
            }
            if freed.peek().is_none_or(|&time| time >= start + run.references()) {
                self.references(&mut page, q, [run.reads(), run.writes()], &mut counts);
                continue;
            }
            for at in 0..run.references() {
                while freed.next_if(|&time| time <= start + at).is_some() {
                    page.free(&mut counts);
                }
                let write = run.next_write(at) == Some(at);
                self.references(&mut page, q, [!write, write].map(u64::from), &mut counts);
            }
        }
        freed.for_each(|_| page.free(&mut counts));
        let writable_data = block.runs.iter().any(|run| !run.is_read_only());
        PageOutcome { number: block.number, counts, state: page.state(), writable_data }
    }

    /// References of a processor, of which one that writes comes first if there is any.
    fn references(
        &mut self,
        page: &mut LogicalPage,
        q: ProcId,
        [reads, writes]: [u64; 2],
        counts: &mut PmapCounts,
    ) {
        let access = if writes == 0 { FaultKind::Read } else { FaultKind::Write };
        if page.faults(q, access) {
            page.fault(q, access, self.policy.as_mut(), self.owner_copy, counts);
        }
        match page.serves(q) {
            Location::Local => {
                counts.local_reads += reads;
                counts.local_writes += writes;
            }
            Location::Global => {
                counts.global_reads += reads;
                counts.global_writes += writes;
            }
        }
    }
}
