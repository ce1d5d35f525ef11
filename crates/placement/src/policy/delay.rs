//! ACE with a counter: a block follows a processor only after `n` references.

use homenode_base::ProcId;

use super::place::{FixedPlace, LocationSet};
use super::set_policy::SetPolicy;
use super::{DefaultValue, Entry, ParamKind, PolicyParam, RunsOn};
use crate::history::{Block, Run};
use crate::tally::Tally;

/// Source: Bolosky §5.1. A processor's first `n` references to a block of which it has no copy are
/// served where the block is; the next one makes ACE's decision. Where the text is silent, this
/// engine decides: every write that changes P resets all counters of the block, but a new replica
/// does not; a counted write to a replicated block first leaves one copy of it, in global memory or
/// the eldest, which is an invalidation like any other. O(1) per run.
///
/// # Deviations
/// None known. A write that only drops the global copy counts as one that "removes a copy".
pub const ENTRY: Entry = Entry {
    name: "delay",
    summary: "ACE, but a block follows a processor only after `n` references",
    source: "Bolosky 1993, section 5.1",
    params: &[
        PolicyParam {
            name: "n",
            kind: ParamKind::Count { min: 0 },
            default: DefaultValue::Fixed(100),
            unit: "references",
            doc: "references served where the block is before a decision",
        },
        PolicyParam {
            name: "limit",
            kind: ParamKind::Count { min: 0 },
            default: DefaultValue::Fixed(4),
            unit: "invalidations",
            doc: "invalidations allowed before the block is pinned",
        },
    ],
    tested_with: &["n=0", "n=1,limit=1", "n=3", "n=5,limit=0"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |setup, values| {
        let delay = Delay {
            rules: DelayRules { n: values.get(0), limit: values.get(1), global: setup.global },
            counters: vec![ReferenceCounter::default(); usize::from(setup.processors)],
            stamp: 0,
        };
        Ok(delay.for_processors(setup.processors))
    },
};

#[derive(Clone, Copy)]
struct DelayRules {
    n: u64,
    limit: u64,
    global: bool,
}

/// References counted since the reset with this stamp; older stamps mean 0.
#[derive(Clone, Copy, Default)]
struct ReferenceCounter {
    stamp: u64,
    count: u64,
}

struct Delay {
    rules: DelayRules,
    counters: Vec<ReferenceCounter>,
    stamp: u64,
}

impl SetPolicy for Delay {
    fn block<const WORDS: usize>(&mut self, Block { runs, .. }: Block<'_>, tally: &mut Tally) {
        self.stamp += 1;
        let Some(first) = runs.first() else { return };
        let mut state = State {
            copies: LocationSet::<WORDS>::at(first.processor()),
            invalidations: 0,
            pinned: None,
            rules: self.rules,
            counters: &mut self.counters,
            stamp: &mut self.stamp,
        };
        for (i, &run) in runs.iter().enumerate() {
            if let Some(place) = state.pinned {
                return place.count_runs(&runs[i..], tally);
            }
            if state.copies.set.contains(run.processor()) {
                state.with_copy(run, 0, tally);
            } else {
                state.without_copy(run, tally);
            }
        }
    }
}

struct State<'a, const WORDS: usize> {
    copies: LocationSet<WORDS>,
    invalidations: u64,
    pinned: Option<FixedPlace>,
    rules: DelayRules,
    counters: &'a mut [ReferenceCounter],
    stamp: &'a mut u64,
}

impl<const WORDS: usize> State<'_, WORDS> {
    fn counter(&mut self, q: ProcId) -> &mut ReferenceCounter {
        let counter = &mut self.counters[usize::from(q)];
        // Raising the stamp resets the counters of all processors in one step.
        if counter.stamp != *self.stamp {
            *counter = ReferenceCounter { stamp: *self.stamp, count: 0 };
        }
        counter
    }

    /// The rest of a run, from position `from`, by a processor that holds a copy.
    fn with_copy(&mut self, run: Run, from: u64, tally: &mut Tally) {
        let q = run.processor();
        let mut done = from;
        if let Some(write) = run.next_write(from).filter(|_| !self.copies.only(q)) {
            count(FixedPlace::Processor(q), run, done, write, tally);
            done = write;
            if let Some(place) = self.pin(q, tally) {
                return count(place, run, done, run.references(), tally);
            }
            self.take(q, tally);
        }
        count(FixedPlace::Processor(q), run, done, run.references(), tally);
    }

    fn without_copy(&mut self, run: Run, tally: &mut Tally) {
        let q = run.processor();
        let end = run.references();
        let mut done = 0;
        while done < end {
            let left = self.rules.n.saturating_sub(self.counter(q).count);
            if left == 0 {
                return self.decide(run, done, tally);
            }
            // Before the decision only a write to a replicated block changes anything, so the
            // references before either are counted together.
            let mut stop = end.min(done + left);
            let write = run.next_write(done).filter(|&w| w < stop && self.copies.replicated());
            if let Some(write) = write {
                stop = write;
            }
            count(self.elsewhere(), run, done, stop, tally);
            self.counter(q).count += stop - done;
            done = stop;
            if write.is_some() {
                if let Some(place) = self.pin(q, tally) {
                    return count(place, run, done, end, tally);
                }
                self.invalidations += u64::from(self.copies.set.holds_other_than(q));
                let place = self.copies.collapse(q, self.rules.global, tally);
                *self.stamp += 1;
                count(place, run, done, done + 1, tally);
                done += 1;
            }
        }
    }

    /// Makes ACE's decision at reference `at` of the run, by a processor without a copy.
    fn decide(&mut self, run: Run, at: u64, tally: &mut Tally) {
        let q = run.processor();
        if run.next_write(at) != Some(at) {
            self.copies.replicate(q, self.rules.global, tally);
            return self.with_copy(run, at, tally);
        }
        if let Some(place) = self.pin(q, tally) {
            return count(place, run, at, run.references(), tally);
        }
        self.take(q, tally);
        count(FixedPlace::Processor(q), run, at, run.references(), tally);
    }

    fn take(&mut self, q: ProcId, tally: &mut Tally) {
        self.invalidations += u64::from(self.copies.take(q, tally));
        *self.stamp += 1;
    }

    /// Pins the block if a write by `q` is one invalidation too many.
    fn pin(&mut self, q: ProcId, tally: &mut Tally) -> Option<FixedPlace> {
        let invalidation = self.copies.set.holds_other_than(q);
        if invalidation && self.invalidations >= self.rules.limit {
            tally.freezes += 1;
            self.pinned = Some(self.copies.collapse(q, self.rules.global, tally));
            return self.pinned;
        }
        None
    }

    /// The place where references without a copy are served: global memory if possible, else a
    /// remote one.
    fn elsewhere(&self) -> FixedPlace {
        if self.copies.global {
            FixedPlace::Global
        } else {
            FixedPlace::Processor(self.copies.eldest)
        }
    }
}

/// Counts the references of a run from one position to another, served at `place`.
fn count(place: FixedPlace, run: Run, from: u64, to: u64, tally: &mut Tally) {
    let (before, upto) = (run.prefix(from), run.prefix(to));
    place.count(run.processor(), upto.0 - before.0, upto.1 - before.1, tally);
}
