//! Everything stays in global memory.

use super::place::FixedPlace;
use super::{Entry, Policy, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Bolosky §5.2.1: "an MCPR of 2 is trivially achievable by placing all shared data in
/// global memory" on the ACE.
pub const ENTRY: Entry = Entry {
    name: "all-global",
    summary: "every block stays in global memory",
    source: "static placement; Bolosky 1993, section 5.2.1",
    params: &[],
    tested_with: &[],
    needs_global: true,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |_, _| Ok(Box::new(AllGlobal)),
};

struct AllGlobal;

impl Policy for AllGlobal {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        FixedPlace::Global.count_runs(block.runs, tally);
    }
}
