//! The search for layouts on a machine with a clock: each is tried by simulating the whole trace.

use homenode_advise::kind::TABLE;
use homenode_advise::{ApparentSaving, ChanceRange, DataObject, Layout, UseSurvey};
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, Waits};
use homenode_trace::TraceReader;
use rustc_hash::FxHashSet;

use super::attribution::ChangedLines;
use super::evaluator::ReportPart;
use super::followers::{FOLLOWERS_WORDS_MAX, Followers};
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
    let spare = FOLLOWERS_WORDS_MAX * BlockSize::WORD_BYTES * ROUNDS_MAX as u64;
    let trials = propose(trace, replay.pool, objects, survey, &places, &examined, spare)?;
    let mut state = LineSearchState {
        replay,
        objects,
        has_locks: survey.has_locks(),
        moved: FxHashSet::default(),
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
        objects.retain(|object| !state.moved.contains(object));
        objects.truncate(OBJECTS_TRIED_MAX);
        let open = (0..trials.len())
            .filter(|trial| objects.contains(&trials[*trial].object))
            .filter(|trial| !state.refused.contains(trial))
            .map(|trial| state.open(&trials, trial))
            .collect();
        if !state.round(&trials, open, before, round, tick)? {
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

/// A layout as it is tried in a round.
struct OpenTrial {
    trial: usize,
    layout: Layout,
    /// Static objects that move along with an aligned one.
    followers: Followers,
}

impl OpenTrial {
    /// Whether its saving comes from the lines that it changes.
    fn explains(
        &self,
        saved: i128,
        trials: &[LayoutTrial],
        state: &LineSearchState<'_>,
        [before, after]: [&LineResult; 2],
    ) -> bool {
        let LayoutTrial { old_blocks, new_blocks, .. } = &trials[self.trial];
        let mut old_blocks = [&old_blocks[..], &self.followers.old_blocks].concat();
        old_blocks.sort_unstable();
        let new_blocks = [new_blocks.clone(), self.followers.new_blocks.clone()];
        let changed = ChangedLines {
            block: state.replay.block,
            old_blocks: &old_blocks,
            new_blocks: &new_blocks,
        };
        changed.explain(saved, before, after, state.has_locks)
    }
}

pub(super) struct ObjectWords<'a> {
    objects: &'a [DataObject],
    /// Range of words (end exclusive) and the object, in order.
    extents: Vec<(u64, u64, usize)>,
}

impl<'a> ObjectWords<'a> {
    pub(super) fn new(objects: &'a [DataObject]) -> Self {
        let mut extents: Vec<(u64, u64, usize)> = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            extents.extend(object.extents.iter().map(|e| (e.first, e.first + e.words, index)));
        }
        extents.sort_unstable();
        Self { objects, extents }
    }

    fn object_of(&self, word: u64) -> Option<usize> {
        let after = self.extents.partition_point(|&(first, ..)| first <= word);
        let &(_, end, object) = self.extents[..after].last()?;
        (word < end).then_some(object)
    }

    /// Cycles of waiting for each object because of false sharing; 0 if there are few such waits.
    pub(super) fn false_sharing(&self, result: &LineResult) -> Vec<u64> {
        let mut waited = vec![Waits::default(); self.objects.len()];
        for (word, waits) in result.waits.iter() {
            if let Some(object) = self.object_of(word) {
                let Waits { transactions, cycles } = waits.of(WaitCause::FalseSharing);
                waited[object].transactions += transactions;
                waited[object].cycles += cycles;
            }
        }
        let enough = |waits: Waits| waits.transactions >= OBJECT_TRANSACTIONS;
        waited.into_iter().map(|waits| if enough(waits) { waits.cycles } else { 0 }).collect()
    }

    /// At most `most` objects with at least `least` cycles of waiting for sharing, longest first.
    /// Words that a layout has moved belong to no object.
    fn waited_for(&self, result: &LineResult, least: u64, most: usize) -> Vec<usize> {
        let mut waited = vec![Waits::default(); self.objects.len()];
        for (word, waits) in result.waits.iter() {
            if let Some(object) = self.object_of(word) {
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
    objects: &'a [DataObject],
    /// Whether threads of the program wait for locks.
    has_locks: bool,
    /// Objects that an accepted layout moves.
    moved: FxHashSet<usize>,
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
    /// A trial on top of the accepted layouts.
    fn open(&self, trials: &[LayoutTrial], trial: usize) -> OpenTrial {
        let (block, free) = (self.replay.block, trials.last().map_or(0, |t| t.new_blocks.end));
        let taken = u64::try_from(self.taken.len()).unwrap_or(u64::MAX);
        let next = free + taken * FOLLOWERS_WORDS_MAX.div_ceil(block.words());
        let what = &trials[trial];
        let followers = if TABLE[what.kind].name == "align" {
            Followers::of(what, self.objects, next, block, |object| self.moved.contains(&object))
        } else {
            Followers::default()
        };
        let moves = [&what.proposal.moves[..], &followers.moves].concat();
        OpenTrial { trial, layout: self.layout.and(&moves), followers }
    }

    /// Simulates these trials, and accepts the best one whose saving is not chance and comes from
    /// the lines that it changes. Returns whether a layout was accepted. `before` is the trace as
    /// it is.
    fn round(
        &mut self,
        trials: &[LayoutTrial],
        mut open: Vec<OpenTrial>,
        before: &LineResult,
        round: usize,
        tick: ReportPart<'_>,
    ) -> SimResult<bool> {
        let layouts: Vec<_> = open.iter().map(|open| LayoutVariant::of(&open.layout)).collect();
        let mut results = self.replay.simulate(&layouts, tick)?;
        let now = self.after.as_ref().unwrap_or(before);
        let mut gains: Vec<(i128, usize)> = Vec::with_capacity(open.len());
        for (open, result) in open.iter().zip(&results) {
            let gain = i128::from(self.cycles) - i128::from(result.cycles);
            if round == 0 || self.alone[open.trial] == 0 {
                self.alone[open.trial] = gain;
            }
            if open.explains(gain, trials, self, [now, result]) {
                gains.push((gain, open.trial));
            }
        }
        let least = (self.cycles / LEAST_PART).max(1);
        for (more, best) in best_of_each_object(&gains, trials, least) {
            if self.refused.len() >= REFUSED_MAX {
                break;
            }
            let at = open.iter().position(|open| open.trial == best).unwrap_or(0);
            let apparent = ApparentSaving {
                cycles: self.cycles,
                saved: u64::try_from(more).unwrap_or(0),
                least,
                varies: !self.refused.is_empty(),
            };
            let (now, layout, repeats) = (&self.layout, &open[at].layout, &mut self.repeats);
            let (sure, repeats) =
                saves_beyond_chance(self.replay, now, layout, &apparent, repeats, tick)?;
            if !sure {
                self.refused.insert(best);
                continue;
            }
            self.accept(open.swap_remove(at), results.swap_remove(at), trials, repeats, more);
            return Ok(true);
        }
        Ok(false)
    }

    fn accept(
        &mut self,
        accepted: OpenTrial,
        result: LineResult,
        trials: &[LayoutTrial],
        repeats: Repeats,
        more: i128,
    ) {
        let before = std::mem::replace(&mut self.repeats, repeats);
        if self.taken.is_empty() {
            self.repeats_before = before;
        }
        let OpenTrial { trial, layout, followers } = accepted;
        self.cycles = result.cycles;
        self.after = Some(result);
        self.layout = layout;
        self.moved.insert(trials[trial].object);
        self.moved.extend(followers.objects);
        self.taken.push(AcceptedLayout { trial, alone: self.alone[trial], more });
    }
}

/// Of each object's layouts with about equal savings, the one that is easiest to apply, if it saves
/// enough; those that save most first.
fn best_of_each_object(
    gains: &[(i128, usize)],
    trials: &[LayoutTrial],
    least: u64,
) -> Vec<(i128, usize)> {
    let mut objects: Vec<usize> = gains.iter().map(|&(_, trial)| trials[trial].object).collect();
    objects.sort_unstable();
    objects.dedup();
    let of = |object: usize| {
        let gains = gains.iter().filter(|&&(_, trial)| trials[trial].object == object);
        choose(&gains.copied().collect::<Vec<_>>(), trials)
    };
    let mut chosen: Vec<(i128, usize)> = objects.into_iter().filter_map(of).collect();
    chosen.retain(|&(gain, _)| gain >= i128::from(least));
    chosen.sort_by_key(|&(gain, trial)| (std::cmp::Reverse(gain), trial));
    chosen
}
