//! PLATINUM: follow the references, but freeze blocks that processors write alternately, and
//! defrost them periodically.

use homenode_base::{ProcId, ProcessorSet, Time};

use super::place::LocationSet;
use super::set_policy::SetPolicy;
use super::{DefaultValue, Entry, ParamKind, PolicyError, PolicyParam, RunsOn};
use crate::history::{Block, Run};
use crate::tally::Tally;

/// Source: Bolosky §5.1 with its footnote 1 (exponential back-off, after Cox).
///
/// A read without a copy replicates, a write makes the writer's copy the only one. But if the last
/// invalidation was made by another processor at most `t1` references ago, a reference without a
/// copy freezes the block where it is; until the next multiple of `t2` references without a copy
/// are remote. With `backoff=on` a block frozen again within `t2` of its last defrost stays frozen
/// twice as many periods as before. With `frozen=global` frozen blocks go to global memory. O(1)
/// per run.
pub const ENTRY: Entry = Entry {
    name: "platinum",
    summary: "replicate and migrate; freeze blocks invalidated at most t1 ago; defrost every t2",
    source: "Bolosky 1993, section 5.1; Cox and Fowler 1989",
    params: &[
        PolicyParam {
            name: "t1",
            kind: ParamKind::Count { min: 0 },
            default: DefaultValue::Milliseconds(10, 10_000),
            unit: "references",
            doc: "an invalidation at most this long ago freezes the block",
        },
        PolicyParam {
            name: "t2",
            kind: ParamKind::Count { min: 1 },
            default: DefaultValue::Milliseconds(1_000, 1_000_000),
            unit: "references",
            doc: "frozen blocks defrost at every multiple of this Time",
        },
        PolicyParam {
            name: "backoff",
            kind: ParamKind::Choice(&["off", "on"]),
            default: DefaultValue::Fixed(0),
            unit: "",
            doc: "blocks frozen again soon stay frozen longer and longer",
        },
        PolicyParam {
            name: "frozen",
            kind: ParamKind::Choice(&["local", "global"]),
            default: DefaultValue::Fixed(0),
            unit: "",
            doc: "where frozen blocks stay: where they are, or in global memory",
        },
    ],
    tested_with: &[
        "t1=4,t2=16",
        "t1=30,t2=7",
        "t1=0,t2=50",
        "t1=12,t2=10,backoff=on",
        "t1=6,t2=25,frozen=global",
        "t1=12,t2=10,backoff=on,frozen=global",
    ],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |setup, values| {
        if values.get(3) == 1 && !setup.global {
            return Err(PolicyError::Machine {
                policy: "platinum:frozen=global".into(),
                machine: "without global memory",
                remedy: "choose --policy platinum:frozen=local, or a --machine with prices g and G",
            });
        }
        let platinum = Platinum {
            t1: values.get(0),
            t2: values.get(1),
            backoff: values.get(2) == 1,
            to_global: values.get(3) == 1,
        };
        Ok(platinum.for_processors(setup.processors))
    },
};

/// Periods a block stays frozen at most, as a power of two.
const LEVEL_MAX: u32 = 16;

#[derive(Clone, Copy)]
struct Platinum {
    t1: u64,
    t2: u64,
    backoff: bool,
    to_global: bool,
}

struct State<const WORDS: usize> {
    copies: LocationSet<WORDS>,
    last_invalidation: Option<(Time, ProcId)>,
    /// Time of the last defrost or, while frozen, of the next one; 0: never frozen.
    defrost: Time,
    level: u32,
}

impl SetPolicy for Platinum {
    fn block<const WORDS: usize>(&mut self, Block { runs, .. }: Block<'_>, tally: &mut Tally) {
        let Some(first) = runs.first() else { return };
        let mut state = State {
            copies: LocationSet::<WORDS>::at(first.processor()),
            last_invalidation: None,
            defrost: 0,
            level: 0,
        };
        for &run in runs {
            // A run never crosses a multiple of t2, so whether the block is frozen at its first
            // reference holds for all of them.
            if run.time() >= state.defrost {
                self.decide(&mut state, run, tally);
            }
            let (reads, writes) = (run.reads(), run.writes());
            if state.copies.set.contains(run.processor()) {
                tally.local_reads += reads;
                tally.local_writes += writes;
            } else if state.copies.global {
                tally.global_reads += reads;
                tally.global_writes += writes;
            } else {
                tally.remote_reads += reads;
                tally.remote_writes += writes;
            }
        }
    }

    fn split_period(&self) -> Option<u64> {
        Some(self.t2)
    }
}

impl Platinum {
    fn decide<const W: usize>(self, state: &mut State<W>, run: Run, tally: &mut Tally) {
        let (q, now) = (run.processor(), run.time());
        let holds = state.copies.set.contains(q);
        if run.is_read_only() && holds || state.copies.only(q) {
            return;
        }
        let recent = state.last_invalidation.is_some_and(|(t, w)| w != q && now - t <= self.t1);
        if !holds && recent {
            self.freeze(state, run, tally);
        } else if run.is_read_only() {
            state.copies.replicate(q, false, tally);
        } else if state.copies.take(q, tally) {
            state.last_invalidation = Some((now, q));
        }
    }

    /// Freezes the block. Without global memory P is a single copy here: the invalidation left one,
    /// and any reference that would have added a second within t1 froze the block instead.
    fn freeze<const W: usize>(self, state: &mut State<W>, run: Run, tally: &mut Tally) {
        let (q, now) = (run.processor(), run.time());
        tally.freezes += 1;
        if self.to_global {
            let write = !run.is_read_only();
            let invalidation = write && state.copies.set.holds_other_than(q);
            tally.invalidations += u64::from(invalidation);
            tally.global_moves += u64::from(!state.copies.global);
            let eldest = state.copies.eldest;
            state.copies = LocationSet { set: ProcessorSet::EMPTY, global: true, eldest };
            if invalidation {
                state.last_invalidation = Some((now, q));
            }
        }
        tally.faults += 1;
        // Back-off doubles the number of periods, not their length: defrosts stay multiples of t2.
        let again = state.defrost > 0 && now - state.defrost <= self.t2;
        state.level = if again && self.backoff { (state.level + 1).min(LEVEL_MAX) } else { 0 };
        let periods = now / self.t2 + (1 << state.level);
        state.defrost = periods.saturating_mul(self.t2);
    }
}
