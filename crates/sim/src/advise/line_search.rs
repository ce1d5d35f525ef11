//! The search for layouts on a machine with a clock: each is tried by simulating the whole trace.

use homenode_advise::kind::TABLE;
use homenode_advise::{Candidate, DataObject, Layout, UseSurvey};
use homenode_cache::{WaitCause, Waits};
use homenode_trace::TraceReader;

use super::evaluator::ReportPart;
use super::search::{
    AcceptedLayout, LayoutSearch, ObjectBlocks, assign_addresses, choose, free_range_for,
};
use super::trial::LayoutTrial;
use crate::error::SimError;
use crate::lines::{LineReplay, LineResult};

/// An object is examined if processors wait for sharing of its lines for more than one in so many of
/// their cycles.
const OBJECT_PART: u64 = 500;

/// The same for misses: a handful, as when threads begin, are nobody's problem.
const OBJECT_TRANSACTIONS: u64 = 100;

/// A layout is advised if it saves at least one in so many cycles. What happens in which order
/// depends on every delay, so that smaller differences say nothing.
const LEAST_PART: u64 = 100;

/// Most objects for which layouts are tried: those whose sharing is waited for longest.
const OBJECTS_MAX: usize = 12;

/// Most rounds of accepting the layout that saves most.
const ROUNDS_MAX: usize = 8;

/// Layouts simulated at a time: each takes caches of its own.
const TOGETHER_MAX: usize = 8;

/// The layouts that save time, and the trace without and with all of them.
pub(super) struct LineSearch {
    pub(super) found: LayoutSearch,
    pub(super) before: LineResult,
    /// `None` if there is no such layout.
    pub(super) after: Option<LineResult>,
}

/// Finds the layouts that save time.
pub(super) fn search(
    replay: &LineReplay<'_>,
    trace: &TraceReader,
    (objects, survey): (&[DataObject], &UseSurvey),
    tick: ReportPart<'_>,
) -> Result<LineSearch, SimError> {
    let identity = Layout::default();
    let mut before = replay.simulate(&[&identity], tick)?;
    let Some(before) = before.pop() else {
        let problem = "there is nothing to simulate".to_owned();
        return Err(SimError::Config { problem });
    };
    let places = ObjectBlocks::new(objects, survey, &identity, replay.block);
    let examined = waited_for(objects, &before);
    let mut trials = Vec::new();
    for &object in &examined {
        let crowded = places.crowded(object);
        let candidate = Candidate::new(survey, &objects[object], (replay.block, crowded));
        for (kind, entry) in TABLE.iter().enumerate() {
            trials.extend((entry.propose)(&candidate).into_iter().map(|proposal| LayoutTrial {
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
        assign_addresses(&mut trials, free_range_for(trace, all, replay.block)?, replay.block);
    }
    let mut state = LineSearchState {
        replay,
        least: i128::from(before.cycles / LEAST_PART).max(1),
        cycles: before.cycles,
        layout: identity,
        taken: Vec::new(),
        alone: vec![0; trials.len()],
        after: None,
    };
    let mut open: Vec<usize> = (0..trials.len()).collect();
    for round in 0..ROUNDS_MAX {
        open = state.round(&trials, &open, round, tick)?;
        if open.is_empty() {
            break;
        }
    }
    let LineSearchState { taken, layout, after, .. } = state;
    let found = LayoutSearch { trials, taken, layout, examined: examined.len() };
    Ok(LineSearch { found, before, after })
}

/// The objects for whose lines processors wait because others use them, longest first.
fn waited_for(objects: &[DataObject], before: &LineResult) -> Vec<usize> {
    let mut extents: Vec<(u64, u64, usize)> = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        extents.extend(object.extents.iter().map(|e| (e.first, e.first + e.words, index)));
    }
    extents.sort_unstable();
    let mut waited = vec![Waits::default(); objects.len()];
    for (word, waits) in &before.waits {
        let after = extents.partition_point(|&(first, ..)| first <= *word);
        if let Some(&(_, end, object)) = extents[..after].last()
            && *word < end
        {
            for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
                waited[object].transactions += waits.of(cause).transactions;
                waited[object].cycles += waits.of(cause).cycles;
            }
        }
    }
    let least = before.processor_cycles() / OBJECT_PART;
    let mut found: Vec<usize> = (0..objects.len())
        .filter(|&object| {
            let Waits { transactions, cycles } = waited[object];
            cycles > least && transactions >= OBJECT_TRANSACTIONS && objects[object].movable()
        })
        .collect();
    found.sort_by_key(|&object| (std::cmp::Reverse(waited[object].cycles), object));
    found.truncate(OBJECTS_MAX);
    found
}

struct LineSearchState<'a> {
    replay: &'a LineReplay<'a>,
    /// Fewest cycles that a layout must save.
    least: i128,
    /// Execution time under the layouts accepted so far.
    cycles: u64,
    layout: Layout,
    taken: Vec<AcceptedLayout>,
    /// What each trial saves by itself.
    alone: Vec<i128>,
    after: Option<LineResult>,
}

impl LineSearchState<'_> {
    /// Simulates these trials on top of the layouts accepted so far, and accepts the best. Returns
    /// the trials that may still save something on top of that: the best of every other object.
    fn round(
        &mut self,
        trials: &[LayoutTrial],
        open: &[usize],
        round: usize,
        tick: ReportPart<'_>,
    ) -> Result<Vec<usize>, SimError> {
        let mut gains: Vec<(i128, usize)> = Vec::with_capacity(open.len());
        let mut results: Vec<LineResult> = Vec::with_capacity(open.len());
        for some in open.chunks(TOGETHER_MAX) {
            let layouts: Vec<Layout> =
                some.iter().map(|&trial| self.layout.and(&trials[trial].proposal.moves)).collect();
            let layouts: Vec<&Layout> = layouts.iter().collect();
            results.extend(self.replay.simulate(&layouts, tick)?);
        }
        for (&trial, result) in open.iter().zip(&results) {
            let gain = i128::from(self.cycles) - i128::from(result.cycles);
            if round == 0 {
                self.alone[trial] = gain;
            }
            gains.push((gain, trial));
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
        chosen.retain(|&(gain, _)| gain >= self.least);
        chosen.sort_by_key(|&(gain, trial)| (std::cmp::Reverse(gain), trial));
        let Some((&(more, best), rest)) = chosen.split_first() else { return Ok(Vec::new()) };
        let at = open.iter().position(|&trial| trial == best).unwrap_or(0);
        let accepted = results.swap_remove(at);
        self.cycles = accepted.cycles;
        self.after = Some(accepted);
        self.layout = self.layout.and(&trials[best].proposal.moves);
        self.taken.push(AcceptedLayout { trial: best, alone: self.alone[best], more });
        Ok(rest.iter().map(|&(_, trial)| trial).collect())
    }
}
