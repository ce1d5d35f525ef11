//! The automaton that the page-coherence policies share.

use homenode_base::{ProcId, ProcessorSet, Time};

use super::counters::Counters;
use super::parameters::{BY, CHARGE_MAPPINGS, COUNT, COUNTER, D, F, counter_limit};
use crate::builder::Times;
use crate::history::{Block, Run};
use crate::policy::{ParamValues, PlacementSetup, Policy, PolicyParam, SetPolicy};
use crate::tally::Tally;

/// When a block is frozen and defrosted, in references.
#[derive(Clone, Copy, Debug)]
struct Freezing {
    /// An invalidation at most this long ago freezes.
    f: u64,
    /// Whether any write is an invalidation, and not only one that removes copies.
    by_writes: bool,
    /// Everything defrosts at multiples of this.
    d: u64,
}

#[derive(Clone, Copy, Debug)]
struct Delaying {
    /// Value of the parameter `counter`.
    counter: u64,
    /// Whether writes count as well.
    accesses: bool,
}

#[derive(Clone, Copy, Debug)]
struct CoherenceRules {
    /// Whether a write updates the other copies instead of removing them.
    updates: bool,
    freezing: Option<Freezing>,
    delaying: Option<Delaying>,
    /// Whether remote mappings and freezes are charged as entries into the operating system.
    charge_mappings: bool,
}

/// Source: Markatos and Chronaki, sections 3.2 and 3.3; the appendix where it differs. O(1) per
/// run.
///
/// The first toucher is the home of a block and holds its first copy. The home always holds one.
pub(super) struct Automaton {
    rules: CoherenceRules,
    counters: Counters,
}

impl CoherenceRules {
    /// The rules of a policy that has the parameters of [`super::parameters`] that it needs.
    fn new(updates: bool, params: &[PolicyParam], values: &ParamValues) -> Self {
        let value = |of: PolicyParam| {
            let at = params.iter().position(|param| param.name == of.name);
            at.map(|at| values.get(at))
        };
        let is_on = |of| value(of) == Some(1);
        let freezing = value(F).zip(value(D));
        let freezing = freezing.map(|(f, d)| Freezing { f, by_writes: is_on(BY), d });
        let delaying = value(COUNTER).map(|counter| Delaying { counter, accesses: is_on(COUNT) });
        Self { updates, freezing, delaying, charge_mappings: is_on(CHARGE_MAPPINGS) }
    }
}

impl Automaton {
    /// The policy with the values of its parameters; `updates` as in the rules.
    pub(super) fn build(
        setup: &PlacementSetup,
        updates: bool,
        params: &[PolicyParam],
        values: &ParamValues,
    ) -> Box<dyn Policy> {
        let rules = CoherenceRules::new(updates, params, values);
        let limit = rules.delaying.map_or(0, |d| counter_limit(d.counter, setup.block_size));
        let counters = Counters::new(setup.processors, limit);
        Self { rules, counters }.for_processors(setup.processors)
    }

    /// Walks one block. `BY_WRITES`: any write is an invalidation. A constant, because most
    /// policies do not need it.
    #[inline]
    fn runs<const WORDS: usize, const BY_WRITES: bool>(
        &mut self,
        Block { runs, .. }: Block<'_>,
        tally: &mut Tally,
    ) {
        let Some(first) = runs.first() else { return };
        self.counters.forget_all();
        let mut state = State::<WORDS, BY_WRITES> {
            set: ProcessorSet::single(first.processor()),
            copies: 1,
            home: first.processor(),
            invalidated: None,
            frozen_until: 0,
            rules: self.rules,
            counters: &mut self.counters,
        };
        for &run in runs {
            if state.set.contains(run.processor()) {
                state.with_copy(run, RunPart::whole(run), tally);
            } else {
                state.without_copy(run, tally);
            }
        }
    }
}

impl SetPolicy for Automaton {
    fn block<const WORDS: usize>(&mut self, block: Block<'_>, tally: &mut Tally) {
        if self.rules.freezing.is_some_and(|freezing| freezing.by_writes) {
            self.runs::<WORDS, true>(block, tally);
        } else {
            self.runs::<WORDS, false>(block, tally);
        }
    }

    fn split_period(&self) -> Option<u64> {
        self.rules.freezing.map(|freezing| freezing.d)
    }

    /// A freeze depends on the Time of the read that would replicate. Without a counter that is the
    /// first read of a visit; a counter may reach 0 at any read.
    fn times(&self) -> Times {
        match (self.rules.freezing, self.rules.delaying) {
            (None, _) => Times::Visits,
            (Some(Freezing { by_writes: false, .. }), None) => Times::FirstReads,
            (Some(_), _) => Times::All,
        }
    }
}

struct State<'a, const WORDS: usize, const BY_WRITES: bool> {
    set: ProcessorSet<WORDS>,
    copies: u64,
    home: ProcId,
    invalidated: Option<Time>,
    /// Time of the next defrost; 0 if not frozen.
    frozen_until: Time,
    rules: CoherenceRules,
    counters: &'a mut Counters,
}

/// Consecutive references of a run.
#[derive(Clone, Copy)]
struct RunPart {
    reads: u64,
    writes: u64,
    /// Position in the run of the first of the writes, if there are any. Its Time, the run's Time
    /// plus the position, is exact if [`Policy::times`] requests it.
    first_write: u64,
}

/// The reference of a run at which its processor requests a copy, and the parts before and after.
struct CopyTrigger {
    before: RunPart,
    at: u64,
    is_write: bool,
    after: RunPart,
}

impl RunPart {
    #[inline]
    fn whole(run: Run) -> Self {
        Self { reads: run.reads(), writes: run.writes(), first_write: 0 }
    }

    fn between(run: Run, from: u64, to: u64) -> Self {
        let (before, upto) = (run.prefix(from), run.prefix(to));
        let first_write = run.next_write(from).unwrap_or(0);
        Self { reads: upto.0 - before.0, writes: upto.1 - before.1, first_write }
    }
}

impl CopyTrigger {
    #[inline]
    fn first_read(run: Run) -> Self {
        let (writes, reads) = (run.cycle_writes(), run.cycle_reads());
        Self {
            before: RunPart { reads: 0, writes, first_write: 0 },
            at: writes,
            is_write: false,
            after: RunPart {
                reads: run.reads() - 1,
                writes: run.writes() - writes,
                first_write: writes + reads,
            },
        }
    }

    /// Splits the run at any position.
    fn at(run: Run, at: u64) -> Self {
        Self {
            before: RunPart::between(run, 0, at),
            at,
            is_write: run.next_write(at) == Some(at),
            after: RunPart::between(run, at + 1, run.references()),
        }
    }
}

impl<const WORDS: usize, const BY_WRITES: bool> State<'_, WORDS, BY_WRITES> {
    #[inline]
    fn with_copy(&mut self, run: Run, part: RunPart, tally: &mut Tally) {
        tally.local_reads += part.reads;
        tally.local_writes += part.writes;
        if BY_WRITES {
            self.written(run, part);
        }
        if self.rules.updates {
            self.multicast(part.writes, tally);
        } else if self.copies > 1 && part.writes > 0 {
            self.take(run.processor(), run.time() + part.first_write, tally);
        }
    }

    #[inline]
    fn without_copy(&mut self, run: Run, tally: &mut Tally) {
        let q = run.processor();
        let frozen = self.thaw(run.time());
        let Some(delaying) = self.rules.delaying else {
            // Only a read replicates: a run of writes stays remote however long it is.
            if frozen || run.cycle_reads() == 0 {
                self.map(q, tally);
                return self.remote(run, RunPart::whole(run), tally);
            }
            if run.cycle_writes() > 0 {
                self.map(q, tally);
            }
            return self.copy(run, CopyTrigger::first_read(run), tally);
        };
        self.map(q, tally);
        let exhausted = if frozen { None } else { self.exhausted(run, delaying) };
        match exhausted {
            Some(at) => self.copy(run, CopyTrigger::at(run, at), tally),
            None => self.remote(run, RunPart::whole(run), tally),
        }
    }

    /// Counts a run; returns the position of the access that brings the counter to 0, if one does.
    #[inline]
    fn exhausted(&mut self, run: Run, delaying: Delaying) -> Option<u64> {
        let counted = if delaying.accesses { run.references() } else { run.reads() };
        // Counted accesses before the one that brings the counter to 0.
        let last = self.counters.left(run.processor()) - 1;
        if counted <= last {
            self.counters.count(run.processor(), counted);
            return None;
        }
        if delaying.accesses {
            return Some(last);
        }
        // Whole cycles and the writes of its own cycle precede read number `last`.
        let (writes, reads) = (run.cycle_writes(), run.cycle_reads());
        Some(last / reads * (writes + reads) + writes + last % reads)
    }

    /// A reference requests a copy and gets it unless the block freezes. A write that requests
    /// one is performed at the home, before the interrupt.
    fn copy(&mut self, run: Run, trigger: CopyTrigger, tally: &mut Tally) {
        let CopyTrigger { mut before, at, is_write, mut after } = trigger;
        let q = run.processor();
        if is_write {
            // The write itself is served remotely, so it counts as before the copy.
            before.first_write = if before.writes > 0 { before.first_write } else { at };
            before.writes += 1;
        }
        self.remote(run, before, tally);
        if self.freezes(run.time() + at, tally) {
            self.counters.map(q);
            self.counters.restart(q);
            // The read that was refused a copy is remote like those after it.
            after.reads += u64::from(!is_write);
            return self.remote(run, after, tally);
        }
        // The mapping fault is charged with the replication it leads to, or by itself.
        let interrupted = self.rules.delaying.is_some();
        tally.faults += 1 + u64::from(interrupted && !self.rules.charge_mappings);
        tally.replications += 1;
        tally.remote_moves += 1;
        tally.replicating_reads += u64::from(!is_write);
        self.set.insert(q);
        self.copies += 1;
        self.counters.forget(q);
        self.with_copy(run, after, tally);
    }

    #[inline]
    fn remote(&mut self, run: Run, part: RunPart, tally: &mut Tally) {
        tally.remote_reads += part.reads;
        tally.remote_writes += part.writes;
        if BY_WRITES {
            self.written(run, part);
        }
        if self.rules.updates {
            tally.forwarded_writes += part.writes;
            self.multicast(part.writes, tally);
        } else if self.copies > 1 && part.writes > 0 {
            // Only the home's copy remains.
            tally.invalidations += 1;
            self.removed(run.time() + part.first_write);
            self.set = ProcessorSet::single(self.home);
            self.copies = 1;
        }
    }

    /// Writes that update all copies other than the one that they are performed on.
    #[inline]
    fn multicast(&self, writes: u64, tally: &mut Tally) {
        let others = self.copies - 1;
        tally.update_packets += writes * others;
        tally.multicast_writes += if others > 0 { writes } else { 0 };
    }

    /// A write by `q`, which holds one of several copies, removes all others: `q` is the home.
    fn take(&mut self, q: ProcId, now: Time, tally: &mut Tally) {
        tally.invalidations += 1;
        self.removed(now);
        self.set = ProcessorSet::single(q);
        self.copies = 1;
        // All other processors map the block at its old home; those mappings become invalid.
        if self.home != q {
            self.home = q;
            self.counters.forget_all();
        }
    }

    /// Copies were removed at this Time.
    #[inline]
    fn removed(&mut self, now: Time) {
        // With `BY_WRITES`, `written` has recorded the last write already.
        if !BY_WRITES {
            self.invalidated = Some(now);
        }
    }

    /// Records the last write among these references, for policies in which any write is an
    /// invalidation.
    fn written(&mut self, run: Run, part: RunPart) {
        if part.writes > 0 {
            // Exact because [`Self::times`] requests [`Times::All`]. The writes of a part are
            // consecutive among the writes of its run.
            let before = run.prefix(part.first_write).1;
            self.invalidated = Some(run.time() + run.position_of_write(before + part.writes - 1));
        }
    }

    /// Maps the block remotely for `q`, if the policy depends on mappings.
    #[inline]
    fn map(&mut self, q: ProcId, tally: &mut Tally) {
        let charged = self.rules.charge_mappings;
        if charged || self.rules.delaying.is_some() {
            let new = self.counters.map(q);
            tally.faults += u64::from(new && charged);
        }
    }

    /// Whether the block is still frozen. Without a counter, only the page fault of the next read
    /// makes a copy possible again, so the defrost ends all remote mappings.
    #[inline]
    fn thaw(&mut self, now: Time) -> bool {
        if self.frozen_until == 0 || now < self.frozen_until {
            return self.frozen_until > 0;
        }
        self.frozen_until = 0;
        if self.rules.delaying.is_none() {
            self.counters.forget_all();
        }
        false
    }

    /// Freezes the block if it was invalidated recently.
    fn freezes(&mut self, now: Time, tally: &mut Tally) -> bool {
        let Some(Freezing { f, d, .. }) = self.rules.freezing else { return false };
        if self.invalidated.is_none_or(|then| now.saturating_sub(then) > f) {
            return false;
        }
        self.frozen_until = (now / d + 1).saturating_mul(d);
        tally.freezes += 1;
        tally.faults += u64::from(self.rules.charge_mappings);
        true
    }
}
