//! Everything is local.

use crate::history::Block;
use crate::policy::{Entry, Policy, RunsOn};
use crate::tally::Tally;

/// Source: Markatos and Chronaki, section 3.1.3. The ideal of the paper's figures: all shared words
/// are local and coherent at no cost. No policy can be cheaper.
pub const ENTRY: Entry = Entry {
    name: "all-local",
    summary: "every reference is local, at no further cost: a lower bound, no policy",
    source: "Markatos and Chronaki, section 3.1.3",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::PageCoherence,
    build: |_, _| Ok(Box::new(AllLocal)),
};

struct AllLocal;

impl Policy for AllLocal {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        for run in block.runs {
            tally.local_reads += run.reads();
            tally.local_writes += run.writes();
        }
    }
}
