//! Greedy search for layouts: accept the best first, then those that still save cost.

use homenode_advise::kind::TABLE;
use homenode_advise::{Candidate, DataObject, Layout, MovedBytes, UseSurvey, WordExtent};
use homenode_base::BlockSize;
use homenode_trace::TraceReader;
use homenode_transform::realign::AddressMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bytes::ByteObjects;
use super::evaluator::{BlockCost, LayoutEvaluator, PricedReferences, PricedTrace, ReportPart};
use super::trial::{LayoutTrial, TrialCost, try_all};
use crate::error::{SimResult, config_error};

/// Most objects for which layouts are tried: those with the costliest blocks.
const OBJECTS_MAX: usize = 40;

/// An object or a layout is considered only if it is worth more than one in this many of the cost.
pub(super) const LEAST_PART: u128 = 100;

const ROUNDS_MAX: usize = 16;

/// A layout counts as good as the best one of its object from this percentage of the best saving
/// on.
const AS_GOOD_PERCENT: u128 = 97;

pub(super) struct AcceptedLayout {
    pub(super) trial: usize,
    /// Steps of cost that it saves alone.
    pub(super) alone: i128,
    /// Steps that it saves after those accepted before.
    pub(super) more: i128,
}

pub(super) struct LayoutSearch {
    pub(super) trials: Vec<LayoutTrial>,
    pub(super) taken: Vec<AcceptedLayout>,
    pub(super) layout: Layout,
    pub(super) examined: usize,
}

pub(super) struct ObjectBlocks {
    block: BlockSize,
    blocks: Vec<Vec<u64>>,
    /// Blocks with words of several objects.
    mixed: FxHashSet<u64>,
}

impl ObjectBlocks {
    pub(super) fn new(
        objects: &[DataObject],
        survey: &UseSurvey,
        layout: &Layout,
        block: BlockSize,
    ) -> Self {
        let mut extents: Vec<(WordExtent, usize)> = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            extents.extend(object.extents.iter().map(|&extent| (extent, index)));
        }
        extents.sort_unstable();
        let mut blocks: Vec<Vec<u64>> = vec![Vec::new(); objects.len()];
        let mut at = 0;
        for word in survey.touched() {
            while extents.get(at).is_some_and(|(extent, _)| extent.range().end <= word) {
                at += 1;
            }
            let Some(&(_, object)) = extents.get(at) else { break };
            let number = layout.word(word) / block.words();
            if blocks[object].last() != Some(&number) {
                blocks[object].push(number);
            }
        }
        for list in &mut blocks {
            list.sort_unstable();
            list.dedup();
        }
        let mut all: Vec<u64> = blocks.iter().flatten().copied().collect();
        all.sort_unstable();
        let mixed = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        Self { block, blocks, mixed }
    }

    /// Whether an object shares a block with another object.
    fn crowded(&self, object: usize) -> bool {
        self.blocks[object].iter().any(|block| self.mixed.contains(block))
    }

    /// Whether several threads use one of an object's blocks during the parallel part: without that
    /// no layout reduces sharing.
    pub(super) fn is_contended(&self, object: usize, survey: &UseSurvey) -> bool {
        let words = self.block.words();
        self.blocks[object].iter().any(|b| survey.is_contended(b * words..(b + 1) * words))
    }

    /// Each object with the blocks that hold only its words.
    pub(super) fn own_blocks(&self) -> impl Iterator<Item = (usize, Vec<u64>)> + '_ {
        let own = |list: &Vec<u64>| {
            list.iter().copied().filter(|block| !self.mixed.contains(block)).collect()
        };
        self.blocks.iter().map(own).enumerate()
    }
}

pub(super) fn search(
    point: &LayoutEvaluator<'_>,
    priced: &PricedReferences<'_>,
    objects: &[DataObject],
    before: &PricedTrace,
    tick: ReportPart<'_>,
) -> SimResult<LayoutSearch> {
    let survey = priced.survey;
    let places = ObjectBlocks::new(objects, survey, &Layout::default(), point.block);
    let total: u128 = before.blocks.values().map(|cost| cost.steps).sum();
    let costly = costly_objects(objects, &places, before, total);
    let examined = costly.len();
    let trials = propose(priced.trace, point.pool, objects, survey, &places, &costly, 0)?;
    let mut state = SearchState {
        current: before.blocks.clone(),
        layout: Layout::default(),
        taken: Vec::new(),
        alone: vec![0; trials.len()],
        tried: vec![None; trials.len()],
        least: i128::try_from(total / LEAST_PART).unwrap_or(i128::MAX).max(1),
    };
    for round in 0..ROUNDS_MAX {
        state.evaluate(point, priced.misses, &trials, round, tick)?;
        if !state.take_best(&trials) {
            break;
        }
    }
    Ok(LayoutSearch { trials, taken: state.taken, layout: state.layout, examined })
}

/// The layouts of all kinds for these objects, each at addresses that the trace does not use.
/// `spare` bytes behind the last one stay free, too.
pub(super) fn propose(
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    objects: &[DataObject],
    survey: &UseSurvey,
    places: &ObjectBlocks,
    examined: &[usize],
    spare: u64,
) -> SimResult<Vec<LayoutTrial>> {
    let contended = |&object: &usize| places.is_contended(object, survey);
    let examined: Vec<usize> = examined.iter().copied().filter(contended).collect();
    let in_bytes = ByteObjects::of(trace, pool, objects, survey, &examined)?;
    let mut trials = Vec::new();
    for object in examined {
        let crowded = places.crowded(object);
        let of = |survey, object| Candidate::new(survey, object, places.block, crowded);
        let candidates = [
            Some(of(survey, &objects[object])),
            in_bytes.get(object).map(|(survey, object)| of(survey, object)),
        ];
        for (kind, entry) in TABLE.iter().enumerate() {
            let proposed = candidates.iter().flatten().flat_map(entry.propose);
            trials.extend(proposed.map(|proposal| LayoutTrial {
                object,
                kind,
                proposal,
                old_blocks: places.blocks[object].clone(),
                new_blocks: 0..0,
            }));
        }
    }
    let all: u64 = trials.iter().map(|trial| trial.proposal.length).sum();
    if all > 0 {
        let free = free_range_for(trace, all.saturating_add(spare), places.block)?;
        assign_addresses(&mut trials, free, places.block);
    }
    Ok(trials)
}

/// The objects whose blocks cost most beyond local references, costliest first.
fn costly_objects(
    objects: &[DataObject],
    places: &ObjectBlocks,
    before: &PricedTrace,
    total: u128,
) -> Vec<usize> {
    let extra = |block: &u64| before.blocks.get(block).map_or(0, |cost| cost.extra);
    let sums = places.blocks.iter().map(|list| list.iter().map(extra).sum::<u128>());
    let mut ranked: Vec<(u128, usize)> = sums.zip(0..).collect();
    ranked.retain(|&(sum, object)| sum > total / LEAST_PART && objects[object].movable());
    ranked.sort_unstable_by_key(|&(sum, object)| (std::cmp::Reverse(sum), object));
    ranked.truncate(OBJECTS_MAX);
    ranked.into_iter().map(|(_, object)| object).collect()
}

fn free_range_for(trace: &TraceReader, bytes: u64, block: BlockSize) -> SimResult<u64> {
    let found = AddressMap::of(trace).free_range(bytes, block.bytes());
    found.map(|word| word * BlockSize::WORD_BYTES).ok_or_else(|| {
        config_error(
            "the trace's addresses leave no room for another layout; keep a part of them with \
             `homenode transform select --address`",
        )
    })
}

/// Moves every trial to free addresses of its own.
fn assign_addresses(trials: &mut [LayoutTrial], mut next: u64, block: BlockSize) {
    for trial in trials {
        trial.proposal.moves.iter_mut().for_each(|piece: &mut MovedBytes| piece.to += next);
        let end = next + trial.proposal.length;
        trial.new_blocks = next / block.bytes()..end / block.bytes();
        next = end;
    }
}

struct SearchState {
    current: FxHashMap<u64, BlockCost>,
    layout: Layout,
    taken: Vec<AcceptedLayout>,
    alone: Vec<i128>,
    /// Cost of each trial on top of the accepted layouts; `None` once its blocks have changed.
    tried: Vec<Option<TrialCost>>,
    /// Least saving, in steps, of an accepted layout.
    least: i128,
}

impl SearchState {
    /// Simulates the trials whose blocks have changed since the last simulation.
    fn evaluate(
        &mut self,
        point: &LayoutEvaluator<'_>,
        trace: &TraceReader,
        trials: &[LayoutTrial],
        round: usize,
        tick: ReportPart<'_>,
    ) -> SimResult<()> {
        let is_taken = |object: usize| self.taken.iter().any(|t| trials[t.trial].object == object);
        let open: Vec<usize> = (0..trials.len())
            .filter(|&i| self.tried[i].is_none() && !is_taken(trials[i].object))
            .collect();
        let what: Vec<&LayoutTrial> = open.iter().map(|&i| &trials[i]).collect();
        let runs_of = |block: u64| self.current.get(&block).map_or(0, |cost| cost.runs);
        let found = try_all(point, trace, &self.layout, &what, runs_of, tick)?;
        for (i, tried) in open.into_iter().zip(found) {
            if round == 0 {
                self.alone[i] = self.gain(&trials[i], &tried);
            }
            self.tried[i] = Some(tried);
        }
        Ok(())
    }

    fn gain(&self, trial: &LayoutTrial, tried: &TrialCost) -> i128 {
        let now = trial.old_blocks.iter().filter_map(|block| self.current.get(block));
        let now: u128 = now.map(|cost| cost.steps).sum();
        let signed = |steps: u128| i128::try_from(steps).unwrap_or(i128::MAX);
        signed(now) - signed(tried.steps)
    }

    /// Accepts the best trial of each object, unless it changes a block of another one accepted in
    /// this round. Returns false if no trial saves enough.
    fn take_best(&mut self, trials: &[LayoutTrial]) -> bool {
        let mut best: FxHashMap<usize, Vec<(i128, usize)>> = FxHashMap::default();
        for (i, trial) in trials.iter().enumerate() {
            if self.taken.iter().any(|taken| trials[taken.trial].object == trial.object) {
                continue;
            }
            if let Some(tried) = &self.tried[i] {
                best.entry(trial.object).or_default().push((self.gain(trial, tried), i));
            }
        }
        let mut chosen: Vec<(i128, usize)> =
            best.into_values().filter_map(|list| choose(&list, trials)).collect();
        chosen.retain(|&(gain, _)| gain >= self.least);
        chosen.sort_unstable_by_key(|&(gain, i)| (std::cmp::Reverse(gain), i));
        let mut changed: FxHashSet<u64> = FxHashSet::default();
        for &(more, i) in &chosen {
            let trial = &trials[i];
            if trial.old_blocks.iter().any(|block| changed.contains(block)) {
                continue;
            }
            changed.extend(&trial.old_blocks);
            self.layout = self.layout.and(&trial.proposal.moves);
            for block in &trial.old_blocks {
                self.current.remove(block);
            }
            if let Some(tried) = self.tried[i].take() {
                self.current.extend(tried.blocks);
            }
            self.taken.push(AcceptedLayout { trial: i, alone: self.alone[i], more });
        }
        for (trial, tried) in trials.iter().zip(&mut self.tried) {
            if trial.old_blocks.iter().any(|block| changed.contains(block)) {
                *tried = None;
            }
        }
        !changed.is_empty()
    }
}

/// Of one object's layouts with nearly the best saving, the one that is easiest to apply.
pub(super) fn choose(list: &[(i128, usize)], trials: &[LayoutTrial]) -> Option<(i128, usize)> {
    let best = list.iter().map(|&(gain, _)| gain).max().filter(|&gain| gain > 0)?;
    let best = u128::try_from(best).ok()?;
    let good =
        |gain: i128| u128::try_from(gain).is_ok_and(|gain| gain * 100 >= best * AS_GOOD_PERCENT);
    let near = list.iter().filter(|&&(gain, _)| good(gain));
    near.min_by_key(|&&(_, i)| (trials[i].kind, trials[i].proposal.extra_bytes, i)).copied()
}
