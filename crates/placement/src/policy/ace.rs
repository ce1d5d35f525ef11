//! The ACE policy: replicate and migrate until a block has been invalidated too often, then pin.

use super::place::LocationSet;
use super::set_policy::SetPolicy;
use super::{DefaultValue, Entry, ParamKind, PolicyParam, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Bolosky §3.1.3 and §5.1; the limit of four is the thesis's.
///
/// A read without a copy adds the reader, and global memory where there is one. A write makes the
/// writer's copy the only one; if that takes copies from other processors and `limit` such writes
/// have happened already, the block is pinned instead: in global memory, or without one at the
/// writer if it holds a copy, else at the copy held longest. O(1) per run.
pub const ENTRY: Entry = Entry {
    name: "ace",
    summary: "replicate and migrate; pin permanently after `limit` invalidations",
    source: "Bolosky 1993, sections 3.1.3 and 5.1",
    params: &[PolicyParam {
        name: "limit",
        kind: ParamKind::Count { min: 0 },
        default: DefaultValue::Fixed(4),
        unit: "invalidations",
        doc: "invalidations allowed before the block is pinned",
    }],
    tested_with: &["limit=0", "limit=2"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |setup, values| {
        let ace = Ace { limit: values.get(0), global: setup.global };
        Ok(ace.for_processors(setup.processors))
    },
};

/// The automaton; `limit` of `u64::MAX` never pins.
pub(super) struct Ace {
    pub(super) limit: u64,
    pub(super) global: bool,
}

impl SetPolicy for Ace {
    fn block<const WORDS: usize>(&mut self, Block { runs, .. }: Block<'_>, tally: &mut Tally) {
        let Some(first) = runs.first() else { return };
        let mut copies = LocationSet::<WORDS>::at(first.processor());
        let mut invalidations = 0;
        // In registers: until the block is pinned every reference is local once it has been
        // decided.
        let (mut local_reads, mut local_writes) = (0, 0);
        for (i, run) in runs.iter().enumerate() {
            let q = run.processor();
            if run.is_read_only() {
                if !copies.set.contains(q) {
                    copies.replicate(q, self.global, tally);
                }
            } else if !copies.only(q) {
                // Pinned before the write is served: the block never follows this writer.
                if copies.set.holds_other_than(q) && invalidations >= self.limit {
                    tally.freezes += 1;
                    let place = copies.collapse(q, self.global, tally);
                    place.count_runs(&runs[i..], tally);
                    break;
                }
                invalidations += u64::from(copies.take(q, tally));
            }
            local_reads += run.reads();
            local_writes += run.writes();
        }
        tally.local_reads += local_reads;
        tally.local_writes += local_writes;
    }
}
