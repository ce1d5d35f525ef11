//! Blocks are dealt out to the processors in turn.

use homenode_base::ProcId;

use super::place::FixedPlace;
use super::{Entry, Policy, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Marchetti et al. 1995 §1 and §4, the placement that first use is compared with. They
/// deal pages out as they are allocated; here the block number decides, so that it depends on
/// neither the order of references nor the other blocks.
pub const ENTRY: Entry = Entry {
    name: "round-robin",
    summary: "block number modulo the number of processors",
    source: "static placement; compare Marchetti et al. 1995, round robin",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: false,
    assigns_homes: true,
    runs_on: RunsOn::Both,
    build: |setup, _| Ok(Box::new(RoundRobin { processors: setup.processors })),
};

struct RoundRobin {
    processors: u16,
}

impl Policy for RoundRobin {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let home = block.number % u64::from(self.processors);
        let home = ProcId::try_from(home).unwrap_or(0);
        FixedPlace::Processor(home).count_runs(block.runs, tally);
    }
}
