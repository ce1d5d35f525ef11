//! The search for layouts on a machine with a clock: each is tried by simulating the whole trace.

use homenode_advise::{ApparentSaving, ChanceRange, DataObject, Layout, UseSurvey};
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, Waits};
use homenode_trace::TraceReader;
use rustc_hash::FxHashSet;

use super::evaluator::ReportPart;
use super::repeats::{Repeats, saves_beyond_chance};
use super::search::{AcceptedLayout, LayoutSearch, ObjectBlocks, choose, propose};
use super::trial::LayoutTrial;
use crate::error::SimResult;
use crate::lines::{LayoutVariant, LineReplay, LineResult};

/// An object is examined if waiting for its shared lines exceeds one in this many processor cycles.
const OBJECT_PART: u64 = 500;

/// The same for misses: a few of them, as at thread start, are not worth advice.
const OBJECT_TRANSACTIONS: u64 = 100;

/// A layout is advised if it saves at least one in this many of the remaining cycles. The order of
/// events depends on every delay, so smaller differences are noise.
const LEAST_PART: u64 = 40;

/// Most objects that get trial layouts in one round: those with the longest waits for sharing.
const OBJECTS_MAX: usize = 40;
const OBJECTS_TRIED_MAX: usize = 12;

const ROUNDS_MAX: usize = 8;

/// The search ends after this many layouts whose saving was chance, as each takes many simulations.
const REFUSED_MAX: usize = 6;

pub(super) struct LineSearch {
    pub(super) found: LayoutSearch,
    /// `None` if there is no such layout.
    pub(super) after: Option<LineResult>,
    /// How much of the savings may be chance; `None` if no layout seemed to save time.
    pub(super) chance: Option<ChanceRange>,
}

pub(super) fn search(
    replay: &LineReplay<'_>,
    trace: &TraceReader,
    objects: &[DataObject],
    survey: &UseSurvey,
    before: &LineResult,
    tick: ReportPart<'_>,
) -> SimResult<LineSearch> {
    let identity = Layout::default();
    let places = ObjectBlocks::new(objects, survey, &identity, replay.block);
    let words = ObjectWords::new(objects);
    let examined = words.waited_for(before, 0, OBJECTS_MAX);
    let trials = propose(trace, objects, survey, &places, &examined)?;
    let mut state = LineSearchState {
        replay,
        cycles: before.cycles,
        layout: identity,
        taken: Vec::new(),
        alone: vec![0; trials.len()],
        after: None,
        refused: FxHashSet::default(),
        repeats: Repeats::default(),
        repeats_before: Repeats::default(),
    };
    for round in 0..ROUNDS_MAX {
        let now = state.after.as_ref().unwrap_or(before);
        // No layout can save more than the time in which at least one processor waits for sharing.
        if now.waits.sharing_elapsed() < now.cycles / LEAST_PART {
            break;
        }
        let least = (now.processor_cycles() / OBJECT_PART).max(now.cycles / LEAST_PART);
        let mut objects = words.waited_for(now, least, OBJECTS_MAX);
        objects.retain(|&object| !state.taken.iter().any(|t| trials[t.trial].object == object));
        objects.truncate(OBJECTS_TRIED_MAX);
        let open: Vec<usize> = (0..trials.len())
            .filter(|trial| objects.contains(&trials[*trial].object))
            .filter(|trial| !state.refused.contains(trial))
            .collect();
        let waited: Vec<u64> =
            open.iter().map(|&trial| waited_in(now, &trials[trial], replay.block)).collect();
        if !state.round(&trials, &open, &waited, round, tick)? {
            break;
        }
    }
    let LineSearchState { taken, layout, after, repeats, repeats_before, .. } = state;
    let first = if taken.is_empty() { &repeats } else { &repeats_before };
    let after_all = after.as_ref().map(|after| repeats.after(after.cycles));
    let chance = ChanceRange::of(&first.after(before.cycles), after_all.as_deref());
    let found = LayoutSearch { trials, taken, layout, examined: examined.len() };
    Ok(LineSearch { found, after, chance })
}

/// Cycles that processors wait for the blocks that a trial changes: its object's blocks before and
/// after.
fn waited_in(result: &LineResult, trial: &LayoutTrial, block: BlockSize) -> u64 {
    let changed = |word: u64| {
        let number = word / block.words();
        trial.new_blocks.contains(&number) || trial.old_blocks.binary_search(&number).is_ok()
    };
    result.waits.iter().filter(|(word, _)| changed(*word)).map(|(_, waits)| waits.cycles()).sum()
}

struct ObjectWords<'a> {
    objects: &'a [DataObject],
    /// Range of words (end exclusive) and the object, in order.
    extents: Vec<(u64, u64, usize)>,
}

impl<'a> ObjectWords<'a> {
    fn new(objects: &'a [DataObject]) -> Self {
        let mut extents: Vec<(u64, u64, usize)> = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            extents.extend(object.extents.iter().map(|e| (e.first, e.first + e.words, index)));
        }
        extents.sort_unstable();
        Self { objects, extents }
    }

    /// At most `most` objects with at least `least` cycles of waiting for sharing, longest first.
    /// Words that a layout has moved belong to no object.
    fn waited_for(&self, result: &LineResult, least: u64, most: usize) -> Vec<usize> {
        let mut waited = vec![Waits::default(); self.objects.len()];
        for (word, waits) in result.waits.iter() {
            let after = self.extents.partition_point(|&(first, ..)| first <= word);
            if let Some(&(_, end, object)) = self.extents[..after].last()
                && word < end
            {
                for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
                    waited[object].transactions += waits.of(cause).transactions;
                    waited[object].cycles += waits.of(cause).cycles;
                }
            }
        }
        let mut found: Vec<usize> = (0..self.objects.len())
            .filter(|&object| {
                let Waits { transactions, cycles } = waited[object];
                let enough = cycles > least && transactions >= OBJECT_TRANSACTIONS;
                enough && self.objects[object].movable()
            })
            .collect();
        found.sort_by_key(|&object| (std::cmp::Reverse(waited[object].cycles), object));
        found.truncate(most);
        found
    }
}

struct LineSearchState<'a> {
    replay: &'a LineReplay<'a>,
    cycles: u64,
    layout: Layout,
    taken: Vec<AcceptedLayout>,
    alone: Vec<i128>,
    after: Option<LineResult>,
    /// Trials whose saving is, if anything, chance.
    refused: FxHashSet<usize>,
    /// The trace under the accepted layouts and as it is, with latencies a few cycles longer.
    repeats: Repeats,
    repeats_before: Repeats,
}

impl LineSearchState<'_> {
    /// Simulates these trials on top of the accepted layouts, and accepts the best one whose saving
    /// is not chance. Returns whether a layout was accepted. `waited` has the cycles that
    /// processors wait for the lines of each trial. A trial that saves more than the reduction of
    /// that wait is rejected: the rest of its saving comes from a changed order of threads at locks
    /// or of first touches of pages.
    fn round(
        &mut self,
        trials: &[LayoutTrial],
        open: &[usize],
        waited: &[u64],
        round: usize,
        tick: ReportPart<'_>,
    ) -> SimResult<bool> {
        let mut gains: Vec<(i128, usize)> = Vec::with_capacity(open.len());
        let layouts: Vec<Layout> =
            open.iter().map(|&trial| self.layout.and(&trials[trial].proposal.moves)).collect();
        let layouts: Vec<_> = layouts.iter().map(LayoutVariant::of).collect();
        let mut results = self.replay.simulate(&layouts, tick)?;
        for ((&trial, &waited), result) in open.iter().zip(waited).zip(&results) {
            let gain = i128::from(self.cycles) - i128::from(result.cycles);
            if round == 0 || self.alone[trial] == 0 {
                self.alone[trial] = gain;
            }
            let waits = waited_in(result, &trials[trial], self.replay.block);
            if gain <= i128::from(waited) - i128::from(waits) {
                gains.push((gain, trial));
            }
        }
        // Of one object's layouts with about equal savings, the one that is easiest to apply.
        let mut chosen: Vec<(i128, usize)> = Vec::new();
        let mut objects: Vec<usize> = open.iter().map(|&trial| trials[trial].object).collect();
        objects.sort_unstable();
        objects.dedup();
        for object in objects {
            let of_it = gains.iter().filter(|&&(_, trial)| trials[trial].object == object);
            chosen.extend(choose(&of_it.copied().collect::<Vec<_>>(), trials));
        }
        let least = (self.cycles / LEAST_PART).max(1);
        chosen.retain(|&(gain, _)| gain >= i128::from(least));
        chosen.sort_by_key(|&(gain, trial)| (std::cmp::Reverse(gain), trial));
        for (more, best) in chosen {
            if self.refused.len() >= REFUSED_MAX {
                break;
            }
            let layout = self.layout.and(&trials[best].proposal.moves);
            let apparent = ApparentSaving {
                cycles: self.cycles,
                saved: u64::try_from(more).unwrap_or(0),
                least,
                varies: !self.refused.is_empty(),
            };
            let (now, repeats) = (&self.layout, &mut self.repeats);
            let (sure, repeats) =
                saves_beyond_chance(self.replay, now, &layout, &apparent, repeats, tick)?;
            if !sure {
                self.refused.insert(best);
                continue;
            }
            let before = std::mem::replace(&mut self.repeats, repeats);
            if self.taken.is_empty() {
                self.repeats_before = before;
            }
            let at = open.iter().position(|&trial| trial == best).unwrap_or(0);
            let accepted = results.swap_remove(at);
            self.cycles = accepted.cycles;
            self.after = Some(accepted);
            self.layout = layout;
            self.taken.push(AcceptedLayout { trial: best, alone: self.alone[best], more });
            return Ok(true);
        }
        Ok(false)
    }
}
