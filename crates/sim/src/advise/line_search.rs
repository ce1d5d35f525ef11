//! The search for layouts on a machine with a clock: each is tried by simulating the whole trace.

use homenode_advise::{DataObject, Layout, UseSurvey};
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, Waits};
use homenode_trace::TraceReader;
use rustc_hash::FxHashSet;

use super::evaluator::ReportPart;
use super::repeats::{ChanceRange, Repeats, SeemingSaving, saves_surely};
use super::search::{AcceptedLayout, LayoutSearch, ObjectBlocks, choose, propose};
use super::trial::LayoutTrial;
use crate::error::SimError;
use crate::lines::{LayoutVariant, LineReplay, LineResult};

/// An object is examined if processors wait for sharing of its lines for more than one in so many
/// of their cycles.
const OBJECT_PART: u64 = 500;

/// The same for misses: a handful, as when threads begin, are nobody's problem.
const OBJECT_TRANSACTIONS: u64 = 100;

/// A layout is advised if it saves at least one in so many of the cycles that are left. What
/// happens in which order depends on every delay, so that smaller differences say nothing.
const LEAST_PART: u64 = 40;

/// Most objects for which layouts are proposed, and for which they are tried in a round: those
/// whose sharing is waited for longest.
const OBJECTS_MAX: usize = 40;
const OBJECTS_TRIED_MAX: usize = 12;

/// Most rounds of accepting the layout that saves most.
const ROUNDS_MAX: usize = 8;

/// Most layouts that turn out to save by chance before the search ends: each was simulated often.
const REFUSED_MAX: usize = 6;

/// The layouts that save time, and the trace with all of them.
pub(super) struct LineSearch {
    pub(super) found: LayoutSearch,
    /// `None` if there is no such layout.
    pub(super) after: Option<LineResult>,
    /// How much of what they save may be chance, if any seemed to save time.
    pub(super) chance: Option<ChanceRange>,
}

/// Finds the layouts that save time, of a trace with this result.
pub(super) fn search(
    replay: &LineReplay<'_>,
    trace: &TraceReader,
    (objects, survey, before): (&[DataObject], &UseSurvey, &LineResult),
    tick: ReportPart<'_>,
) -> Result<LineSearch, SimError> {
    let identity = Layout::default();
    let places = ObjectBlocks::new(objects, survey, &identity, replay.block);
    let words = ObjectWords::new(objects);
    let examined = words.waited_for(before, (0, OBJECTS_MAX));
    let trials = propose(trace, (objects, survey), &places, &examined)?;
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
        // No layout saves more time than that in which somebody waits for sharing.
        if now.waits.sharing_elapsed() < now.cycles / LEAST_PART {
            break;
        }
        let least = (now.processor_cycles() / OBJECT_PART).max(now.cycles / LEAST_PART);
        let mut objects = words.waited_for(now, (least, OBJECTS_MAX));
        objects.retain(|&object| !state.taken.iter().any(|t| trials[t.trial].object == object));
        objects.truncate(OBJECTS_TRIED_MAX);
        let open: Vec<usize> = (0..trials.len())
            .filter(|trial| objects.contains(&trials[*trial].object))
            .filter(|trial| !state.refused.contains(trial))
            .collect();
        let waited: Vec<u64> =
            open.iter().map(|&trial| waited_in(now, &trials[trial], replay.block)).collect();
        if !state.round(&trials, (&open, &waited), round, tick)? {
            break;
        }
    }
    let LineSearchState { taken, layout, after, repeats, repeats_before, .. } = state;
    let first = if taken.is_empty() { &repeats } else { &repeats_before };
    let last = after.as_ref().map(|after| (after.cycles, &repeats));
    let chance = ChanceRange::of((before.cycles, first), last);
    let found = LayoutSearch { trials, taken, layout, examined: examined.len() };
    Ok(LineSearch { found, after, chance })
}

/// Cycles that processors wait for the blocks that a trial changes: those of its object before and
/// after.
fn waited_in(result: &LineResult, trial: &LayoutTrial, block: BlockSize) -> u64 {
    let changed = |word: u64| {
        let number = word / block.words();
        trial.new_blocks.contains(&number) || trial.old_blocks.binary_search(&number).is_ok()
    };
    result.waits.iter().filter(|(word, _)| changed(*word)).map(|(_, waits)| waits.cycles()).sum()
}

/// Which object a word belongs to.
struct ObjectWords<'a> {
    objects: &'a [DataObject],
    /// First word, one past the last, and the object, in order.
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

    /// The objects for whose lines processors wait because others use them, for at least so many
    /// cycles, and at most so many objects: longest first. Words that a layout has moved are
    /// nobody's.
    fn waited_for(&self, result: &LineResult, (least, most): (u64, usize)) -> Vec<usize> {
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
    /// Execution time under the layouts accepted so far.
    cycles: u64,
    layout: Layout,
    taken: Vec<AcceptedLayout>,
    /// What each trial saves by itself.
    alone: Vec<i128>,
    after: Option<LineResult>,
    /// Trials that save time by chance, if at all.
    refused: FxHashSet<usize>,
    /// The trace under the layouts accepted so far, and as it is, a few cycles slower.
    repeats: Repeats,
    repeats_before: Repeats,
}

impl LineSearchState<'_> {
    /// Simulates these trials on top of the layouts accepted so far, and accepts the best that does
    /// not save by chance. Returns whether one saves enough. `waited` are the cycles that
    /// processors wait for the lines that each trial changes: what saves more time than these
    /// become fewer does so elsewhere, because threads happen to come to their locks, or to a
    /// page that is nowhere yet, in another order. It is not accepted.
    fn round(
        &mut self,
        trials: &[LayoutTrial],
        (open, waited): (&[usize], &[u64]),
        round: usize,
        tick: ReportPart<'_>,
    ) -> Result<bool, SimError> {
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
        // The layout that is easiest to follow of those of one object that are about as good.
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
            let seems = SeemingSaving {
                cycles: self.cycles,
                saved: u64::try_from(more).unwrap_or(0),
                least,
                varies: !self.refused.is_empty(),
            };
            let (both, repeats) = ((&self.layout, &layout), &mut self.repeats);
            let (sure, repeats) = saves_surely(self.replay, both, &seems, repeats, tick)?;
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
