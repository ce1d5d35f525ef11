//! Which layouts to take: the best first, then those that still gain.

use homenode_advise::kind::TABLE;
use homenode_advise::{Candidate, DataObject, Layout, MovedWords, UseSurvey, WordExtent};
use homenode_base::BlockSize;
use homenode_trace::TraceReader;
use homenode_trace::realign::AddressMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::evaluator::{BlockCost, LayoutEvaluator, PricedTrace, ReportPart};
use super::trial::{LayoutTrial, TrialCost, try_all};
use crate::error::SimError;

/// Objects for which layouts are tried: those with the dearest blocks.
const ITEMS_MAX: usize = 40;

/// Neither an object's blocks nor a layout are looked at that matter less than one in so many.
pub(super) const LEAST_PART: u128 = 1000;

/// Rounds of taking what gains most.
const ROUNDS_MAX: usize = 16;

/// A layout counts as good as the best of its object if it gains so many percent of it.
const AS_GOOD_PERCENT: u128 = 97;

/// A layout that was taken.
pub(super) struct AcceptedLayout {
    /// Its place in the list of trials.
    pub(super) trial: usize,
    /// Steps it saves if nothing else is done.
    pub(super) alone: i128,
    /// Steps it saves after those taken before.
    pub(super) more: i128,
}

/// Everything that was found at a point.
pub(super) struct LayoutSearch {
    pub(super) trials: Vec<LayoutTrial>,
    pub(super) taken: Vec<AcceptedLayout>,
    pub(super) layout: Layout,
    /// Objects with dear blocks, whose layouts were tried.
    pub(super) examined: usize,
}

/// The blocks in which each object has words that are used, and which of them it shares.
pub(super) struct ObjectBlocks {
    /// For each object, in order.
    blocks: Vec<Vec<u64>>,
    /// Blocks with words of several objects.
    mixed: FxHashSet<u64>,
}

impl ObjectBlocks {
    /// Where objects are under a layout.
    pub(super) fn new(
        items: &[DataObject],
        survey: &UseSurvey,
        layout: &Layout,
        block: BlockSize,
    ) -> Self {
        let mut extents: Vec<(WordExtent, usize)> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            extents.extend(item.extents.iter().map(|&extent| (extent, index)));
        }
        extents.sort_unstable();
        let mut blocks: Vec<Vec<u64>> = vec![Vec::new(); items.len()];
        let mut owner: FxHashMap<u64, usize> = FxHashMap::default();
        let mut mixed: FxHashSet<u64> = FxHashSet::default();
        let mut at = 0;
        for word in survey.touched() {
            while extents.get(at).is_some_and(|(extent, _)| extent.range().end <= word) {
                at += 1;
            }
            let Some(&(_, item)) = extents.get(at) else { break };
            let number = layout.word(word) / block.words();
            if blocks[item].last() != Some(&number) {
                blocks[item].push(number);
                if *owner.entry(number).or_insert(item) != item {
                    mixed.insert(number);
                }
            }
        }
        for list in &mut blocks {
            list.sort_unstable();
            list.dedup();
        }
        Self { blocks, mixed }
    }

    /// Whether an object shares a block with another one.
    fn crowded(&self, item: usize) -> bool {
        self.blocks[item].iter().any(|block| self.mixed.contains(block))
    }

    /// Each object with the blocks in which it is alone.
    pub(super) fn own_blocks(&self) -> impl Iterator<Item = (usize, Vec<u64>)> + '_ {
        let own = |list: &Vec<u64>| {
            list.iter().copied().filter(|block| !self.mixed.contains(block)).collect()
        };
        self.blocks.iter().map(own).enumerate()
    }
}

/// Finds the layouts that gain at a point whose blocks cost what `before` says.
pub(super) fn search(
    point: &LayoutEvaluator<'_>,
    trace: &TraceReader,
    (items, survey): (&[DataObject], &UseSurvey),
    before: &PricedTrace,
    tick: ReportPart<'_>,
) -> Result<LayoutSearch, SimError> {
    let places = ObjectBlocks::new(items, survey, &Layout::default(), point.block);
    let total: u128 = before.blocks.values().map(|cost| cost.steps).sum();
    let dear = dear_items(items, &places, before, total);
    let examined = dear.len();
    let mut trials = Vec::new();
    for item in dear {
        let case = Candidate::new(survey, &items[item], (point.block, places.crowded(item)));
        for (kind, entry) in TABLE.iter().enumerate() {
            trials.extend((entry.propose)(&case).into_iter().map(|proposal| LayoutTrial {
                item,
                kind,
                proposal,
                concerned: places.blocks[item].clone(),
                fresh: 0..0,
            }));
        }
    }
    let all: u64 = trials.iter().map(|trial| trial.proposal.length).sum();
    if all > 0 {
        settle(&mut trials, free_range_for(trace, all, point.block)?, point.block);
    }
    let mut state = SearchState {
        current: before.blocks.clone(),
        layout: Layout::default(),
        taken: Vec::new(),
        alone: vec![0; trials.len()],
        tried: vec![None; trials.len()],
        least: i128::try_from(total / LEAST_PART).unwrap_or(i128::MAX).max(1),
    };
    for round in 0..ROUNDS_MAX {
        state.evaluate(point, trace, (&trials, round), tick)?;
        if !state.take_best(&trials) {
            break;
        }
    }
    Ok(LayoutSearch { trials, taken: state.taken, layout: state.layout, examined })
}

/// The objects whose blocks cost most beyond local references, dearest first.
fn dear_items(
    items: &[DataObject],
    places: &ObjectBlocks,
    before: &PricedTrace,
    total: u128,
) -> Vec<usize> {
    let extra = |block: &u64| before.blocks.get(block).map_or(0, |cost| cost.extra);
    let sums = places.blocks.iter().map(|list| list.iter().map(extra).sum::<u128>());
    let mut ranked: Vec<(u128, usize)> = sums.zip(0..).collect();
    ranked.retain(|&(sum, item)| sum > total / LEAST_PART && items[item].movable());
    ranked.sort_unstable_by_key(|&(sum, item)| (std::cmp::Reverse(sum), item));
    ranked.truncate(ITEMS_MAX);
    ranked.into_iter().map(|(_, item)| item).collect()
}

/// First word of free memory for so many.
fn free_range_for(trace: &TraceReader, words: u64, block: BlockSize) -> Result<u64, SimError> {
    let bytes = words.checked_mul(BlockSize::WORD_BYTES);
    let found = bytes.and_then(|bytes| AddressMap::of(trace).free_range(bytes, block.bytes()));
    found.ok_or_else(|| SimError::Config {
        problem:
            "the trace's addresses leave no room for another layout; keep a part of them with \
                  `homenode transform select --address`"
                .to_owned(),
    })
}

/// Gives every trial memory of its own.
fn settle(trials: &mut [LayoutTrial], mut next: u64, block: BlockSize) {
    for trial in trials {
        trial.proposal.pieces.iter_mut().for_each(|piece: &mut MovedWords| piece.to += next);
        let end = next + trial.proposal.length;
        trial.fresh = next / block.words()..end / block.words();
        next = end;
    }
}

struct SearchState {
    /// What each block costs now.
    current: FxHashMap<u64, BlockCost>,
    layout: Layout,
    taken: Vec<AcceptedLayout>,
    /// What each trial saves by itself.
    alone: Vec<i128>,
    /// What each trial costs on top of what was taken; none if that has changed.
    tried: Vec<Option<TrialCost>>,
    /// Steps that are worth mentioning.
    least: i128,
}

impl SearchState {
    /// Tries what was not tried since its blocks changed.
    fn evaluate(
        &mut self,
        point: &LayoutEvaluator<'_>,
        trace: &TraceReader,
        (trials, round): (&[LayoutTrial], usize),
        tick: ReportPart<'_>,
    ) -> Result<(), SimError> {
        let is_taken = |item: usize| self.taken.iter().any(|t| trials[t.trial].item == item);
        let open: Vec<usize> = (0..trials.len())
            .filter(|&i| self.tried[i].is_none() && !is_taken(trials[i].item))
            .collect();
        let what: Vec<&LayoutTrial> = open.iter().map(|&i| &trials[i]).collect();
        let runs_of = |block: u64| self.current.get(&block).map_or(0, |cost| cost.runs);
        let found = try_all(point, trace, (&self.layout, &what), runs_of, tick)?;
        for (i, tried) in open.into_iter().zip(found) {
            if round == 0 {
                self.alone[i] = self.gain(&trials[i], &tried);
            }
            self.tried[i] = Some(tried);
        }
        Ok(())
    }

    fn gain(&self, trial: &LayoutTrial, tried: &TrialCost) -> i128 {
        let now = trial.concerned.iter().filter_map(|block| self.current.get(block));
        let now: u128 = now.map(|cost| cost.steps).sum();
        let signed = |steps: u128| i128::try_from(steps).unwrap_or(i128::MAX);
        signed(now) - signed(tried.steps)
    }

    /// Takes the best trial of each object, as long as none concerns a block of another one taken
    /// in this round. False if none is worth it.
    fn take_best(&mut self, trials: &[LayoutTrial]) -> bool {
        let mut best: FxHashMap<usize, Vec<(i128, usize)>> = FxHashMap::default();
        for (i, trial) in trials.iter().enumerate() {
            if self.taken.iter().any(|taken| trials[taken.trial].item == trial.item) {
                continue;
            }
            if let Some(tried) = &self.tried[i] {
                best.entry(trial.item).or_default().push((self.gain(trial, tried), i));
            }
        }
        let mut chosen: Vec<(i128, usize)> =
            best.into_values().filter_map(|list| choose(&list, trials)).collect();
        chosen.retain(|&(gain, _)| gain >= self.least);
        chosen.sort_unstable_by_key(|&(gain, i)| (std::cmp::Reverse(gain), i));
        let mut changed: FxHashSet<u64> = FxHashSet::default();
        for &(more, i) in &chosen {
            let trial = &trials[i];
            if trial.concerned.iter().any(|block| changed.contains(block)) {
                continue;
            }
            changed.extend(&trial.concerned);
            self.layout = self.layout.and(&trial.proposal.pieces);
            for block in &trial.concerned {
                self.current.remove(block);
            }
            if let Some(tried) = self.tried[i].take() {
                self.current.extend(tried.blocks);
            }
            self.taken.push(AcceptedLayout { trial: i, alone: self.alone[i], more });
        }
        for (trial, tried) in trials.iter().zip(&mut self.tried) {
            if trial.concerned.iter().any(|block| changed.contains(block)) {
                *tried = None;
            }
        }
        !changed.is_empty()
    }
}

/// Of the layouts of one object the one that is easiest to follow among those nearly as good as the
/// best.
fn choose(list: &[(i128, usize)], trials: &[LayoutTrial]) -> Option<(i128, usize)> {
    let best = list.iter().map(|&(gain, _)| gain).max().filter(|&gain| gain > 0)?;
    let best = u128::try_from(best).ok()?;
    let good =
        |gain: i128| u128::try_from(gain).is_ok_and(|gain| gain * 100 >= best * AS_GOOD_PERCENT);
    let near = list.iter().filter(|&&(gain, _)| good(gain));
    near.min_by_key(|&&(_, i)| (trials[i].kind, trials[i].proposal.extra_bytes, i)).copied()
}
