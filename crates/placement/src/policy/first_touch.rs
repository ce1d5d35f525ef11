//! Blocks stay where they are first referenced.

use super::place::FixedPlace;
use super::{Entry, Policy, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Marchetti et al. 1995 §3.2, whose first-use placement this is without their annotation
/// of the end of initialisation.
pub const ENTRY: Entry = Entry {
    name: "first-touch",
    summary: "every block stays at the processor that references it first",
    source: "static placement; compare Marchetti et al. 1995, first use",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: false,
    assigns_homes: true,
    runs_on: RunsOn::Both,
    build: |_, _| Ok(Box::new(FirstTouch)),
};

struct FirstTouch;

impl Policy for FirstTouch {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        if let Some(first) = block.runs.first() {
            FixedPlace::Processor(first.processor()).count_runs(block.runs, tally);
        }
    }
}
