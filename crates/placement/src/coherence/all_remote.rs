//! Everything is remote.

use crate::history::Block;
use crate::policy::{Entry, Policy, RunsOn};
use crate::tally::Tally;

/// Source: Markatos and Chronaki, section 3.1.3. The line of the paper's figures for memory that is
/// remote to everyone and never replicated.
pub const ENTRY: Entry = Entry {
    name: "all-remote",
    summary: "every block stays in remote memory",
    source: "Markatos and Chronaki, section 3.1.3",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::PageCoherence,
    build: |_, _| Ok(Box::new(AllRemote)),
};

struct AllRemote;

impl Policy for AllRemote {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        for run in block.runs {
            tally.remote_reads += run.reads();
            tally.remote_writes += run.writes();
        }
    }
}
