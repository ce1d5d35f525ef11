//! Runs the page manager over the histories of a trace, page by page.

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

    /// Replays the history of one page. O(1) per run: within a run no other processor refers to the
    /// page, a run that writes begins with a write, and a mapping that allows its first reference
    /// allows all of them.
    pub fn page(&mut self, block: Block<'_>) -> PageOutcome {
        let mut page = LogicalPage::default();
        let mut counts = PmapCounts::default();
        let mut writable_data = false;
        for run in block.runs {
            let q = run.processor();
            let access = if run.is_read_only() { FaultKind::Read } else { FaultKind::Write };
            writable_data |= !run.is_read_only();
            if page.faults(q, access) {
                page.fault(q, access, self.policy.as_mut(), self.owner_copy, &mut counts);
            }
            match page.serves(q) {
                Location::Local => {
                    counts.local_reads += run.reads();
                    counts.local_writes += run.writes();
                }
                Location::Global => {
                    counts.global_reads += run.reads();
                    counts.global_writes += run.writes();
                }
            }
        }
        PageOutcome { number: block.number, counts, state: page.state(), writable_data }
    }
}
