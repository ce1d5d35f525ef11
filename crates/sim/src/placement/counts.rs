//! Counts before pricing.

use homenode_placement::Tally;
use homenode_transform::realign::Realignment;

/// Counts at one block size.
#[derive(Clone, Debug, Default)]
pub(crate) struct SizeCounts {
    /// Tally of each job.
    pub(crate) jobs: Vec<Tally>,
    /// Accesses of references that are counted without a history.
    pub(crate) outside: Tally,
    /// The same references, each counted once even if it straddles blocks.
    pub(crate) outside_references: u64,
    pub(crate) references: u64,
    /// The report of re-alignment, if data are re-aligned.
    pub(crate) realignment: Option<Realignment>,
}

impl SizeCounts {
    /// Empty counts for `jobs` jobs.
    pub(crate) fn new(jobs: usize) -> Self {
        Self { jobs: vec![Tally::default(); jobs], ..Self::default() }
    }
}
