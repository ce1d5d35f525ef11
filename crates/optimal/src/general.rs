//! The optimum with replication on machines with global memory, at every price.
//!
//! Exact but slow: wide integers, every way through a read-run, one after the other. Where G <= R
//! and the keys are small, `global_place_costs` does the same faster.

use homenode_base::ProcId;
use homenode_placement::Run;

use crate::copy_plan::{CopyPlan, PlanPrices, ReadExtra, ReadSegment, ReaderView};
use crate::cycles::{WriteCycles, steps};
use crate::place_costs::ProcIndex;
use crate::wide::{RecurrenceValue, WideKey};

/// Where a block comes from, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Choice {
    /// Place before the reads.
    pub(crate) start: ProcIndex,
    pub(crate) way: CopyPlan,
    /// Who has a copy before the global one is dropped, if the way needs somebody to.
    pub(crate) witness: ProcIndex,
}

/// The best placement found: a choice for each step, and one for the reads after the last write.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) value: WideKey,
    pub(crate) path: Vec<Choice>,
}

/// Stands for the ending place itself in a choice kept for several places.
const SAME: ProcIndex = ProcIndex::MAX;

/// The cost of every ending place under way, and how each came about.
pub(crate) struct GeneralRecurrence {
    prices: PlanPrices,
    /// By lane; the last is global memory. Beyond local references.
    cost: Vec<WideKey>,
    /// Reads since the last write, in order and by lane.
    segments: Vec<ReadSegment>,
    readers: Vec<ProcIndex>,
    views: Vec<ReaderView>,
    references: u64,
    extra: Vec<ReadExtra>,
    /// Position that the views speak of, and the segment it is in.
    sight: (u64, usize),
    /// Best value and choice of every place at the step under way.
    arrived: Vec<(WideKey, Choice)>,
    /// Choices of all steps; those of one step are distinct.
    choices: Vec<Choice>,
    /// For each step and place the position in `choices`.
    origins: Vec<u32>,
}

impl GeneralRecurrence {
    /// Free at any of the `active` processors or in global memory.
    pub(crate) fn new(prices: PlanPrices, active: usize) -> Self {
        Self {
            prices,
            cost: vec![WideKey::ZERO; active + 1],
            segments: Vec::new(),
            readers: Vec::new(),
            views: vec![ReaderView::default(); active],
            references: 0,
            extra: Vec::with_capacity(active),
            sight: (0, 0),
            arrived: Vec::with_capacity(active + 1),
            choices: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Finds the best placement.
    pub(crate) fn solve(mut self, runs: &[Run], lane_of: impl Fn(ProcId) -> ProcIndex) -> Solution {
        for &run in runs {
            let lane = lane_of(run.processor());
            for step in steps(run, self.prices.splits()) {
                self.step(lane, step);
            }
        }
        let leave = self.leave();
        let mut path = vec![leave.1];
        let mut at = leave.1.start;
        for origins in self.origins.chunks_exact(self.cost.len()).rev() {
            let index = usize::try_from(origins[usize::from(at)]).unwrap_or(usize::MAX);
            let choice = self.choices[index].at(at);
            path.push(choice);
            at = choice.start;
        }
        path.reverse();
        let value = leave.0 + self.prices.one.times(self.references);
        Solution { value, path }
    }

    /// The cheapest way through the last reads: to stay where one is.
    ///
    /// No place is forced to hold the block, so what the cheapest ending place pays to be held is
    /// taken off: a start at a processor ends there too, and a witness holds in any case.
    fn leave(&mut self) -> (WideKey, Choice) {
        let mut best = None;
        for way in self.ways() {
            self.sight(way);
            let total = self.look(way);
            let (from, start) = self.start(way);
            let (more, witness) = self.witness(way);
            let choice = Choice { start, way, witness };
            let found = (total + from + more, choice);
            best = Some(best.map_or(found, |b: (WideKey, Choice)| b.min(found)));
        }
        best.unwrap_or((WideKey::ZERO, Choice { start: 0, way: CopyPlan::Remote, witness: 0 }))
    }

    fn ways(&self) -> Vec<CopyPlan> {
        let reads = self.readers.iter().map(|&lane| self.views[usize::from(lane)].reads);
        self.prices.ways(&self.segments, reads)
    }

    fn step(&mut self, lane: ProcIndex, step: WriteCycles) {
        self.references += (step.writes + step.reads) * step.repeats;
        if step.writes > 0 {
            self.write(lane, step);
        }
        if step.reads > 0 {
            self.read(lane, step.reads);
        }
    }

    fn read(&mut self, lane: ProcIndex, reads: u64) {
        let view = &mut self.views[usize::from(lane)];
        if view.reads == 0 {
            self.readers.push(lane);
            view.first = self.segments.is_empty();
        }
        view.reads += reads;
        match self.segments.last_mut() {
            Some(last) if last.lane == lane => last.reads += reads,
            last => {
                let at = last.map_or(0, |s| s.at + s.reads);
                self.segments.push(ReadSegment { lane, at, reads });
            }
        }
    }

    /// Writes, and repetitions of reads and writes, by one processor.
    fn write(&mut self, writer: ProcIndex, step: WriteCycles) {
        let p = self.prices;
        self.arrive();
        let writes = step.writes * step.repeats;
        let again = step.repeats - 1;
        let elsewhere = p.remote.times(writes) + p.visit(step.reads).0.times(again);
        let held = p.global.times(step.reads).min(p.global_move);
        let in_global = p.global.times(writes) + held.times(again);
        let global = self.arrived.len() - 1;
        let first = self.choices.len();
        for (m, (value, choice)) in self.arrived.iter().enumerate() {
            let extra = match m {
                _ if m == usize::from(writer) => WideKey::ZERO,
                _ if m == global => in_global,
                _ => elsewhere,
            };
            self.cost[m] = *value + extra;
            let found = self.choices[first..].iter().position(|c| c == choice);
            let index = first + found.unwrap_or(self.choices.len() - first);
            if found.is_none() {
                self.choices.push(*choice);
            }
            self.origins.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        self.segments.clear();
        self.sight = (0, 0);
        for lane in self.readers.drain(..) {
            self.views[usize::from(lane)] = ReaderView::default();
        }
    }

    /// What each processor pays in a way, into `extra`; returns the sum and what the way costs.
    fn look(&mut self, way: CopyPlan) -> WideKey {
        let nothing = self.prices.extra(way, ReaderView::default());
        self.extra.clear();
        self.extra.resize(self.views.len(), nothing);
        let mut total = self.prices.joining(way);
        for &lane in &self.readers {
            let extra = self.prices.extra(way, self.views[usize::from(lane)]);
            total = total + extra.free;
            self.extra[usize::from(lane)] = extra;
        }
        total
    }

    /// The cheapest start of a way, less what the start itself saves.
    fn start(&self, way: CopyPlan) -> (WideKey, ProcIndex) {
        let last = self.cost.len() - 1;
        if way.starts_global() {
            return (self.cost[last], ProcIndex::try_from(last).unwrap_or(SAME));
        }
        let starts = (0..).zip(self.cost[..last].iter().zip(&self.extra));
        starts.map(|(lane, (cost, e))| (*cost - e.free, lane)).min().unwrap_or((WideKey::ZERO, 0))
    }

    /// The cheapest processor to have a copy before the global one is dropped, and what it pays for
    /// that.
    fn witness(&self, way: CopyPlan) -> (WideKey, ProcIndex) {
        if !way.needs_witness() {
            return (WideKey::ZERO, 0);
        }
        let each = (0..).zip(&self.extra);
        let each = each.map(|(lane, e)| (self.prices.global_move - e.free, lane));
        each.min().unwrap_or((WideKey::ZERO, 0))
    }

    /// The cheapest origin of every place at a write.
    fn arrive(&mut self) {
        let global = self.cost.len() - 1;
        let lane_of = |m: usize| ProcIndex::try_from(m).unwrap_or(SAME);
        let nowhere = Choice { start: SAME, way: CopyPlan::Remote, witness: 0 };
        let far = WideKey { infinite: i64::MAX, key: 0 };
        self.arrived.clear();
        self.arrived.resize(global + 1, (far, nowhere));
        for way in self.ways() {
            self.sight(way);
            let total = self.look(way);
            let (from, start) = self.start(way);
            let (witness_pays, witness) = self.witness(way);
            let come = Choice { start, way, witness };
            for m in 0..global {
                let e = self.extra[m];
                let mut best = (total + from + witness_pays + (e.held - e.free), come);
                if !way.starts_global() {
                    let stay = total + self.cost[m] - e.free;
                    best = best.min((stay, Choice { start: SAME, ..come }));
                } else if way.needs_witness() {
                    let own = total + from + (self.prices.global_move - e.free);
                    best = best.min((own, Choice { witness: SAME, ..come }));
                }
                let better = |b: (WideKey, Choice)| (b.0, b.1.at(lane_of(m)));
                if better(best) < better(self.arrived[m]) {
                    self.arrived[m] = best;
                }
            }
            let enter = total + from + witness_pays + self.prices.entering(way);
            self.arrived[global] = self.arrived[global].min((enter, come));
        }
    }

    /// Tells every processor its reads before the position a way speaks of. Positions mostly
    /// ascend, so that this takes a few steps for each.
    fn sight(&mut self, way: CopyPlan) {
        let at = way.position();
        for s in self.segments.iter().skip(self.sight.1).take(2) {
            self.views[usize::from(s.lane)].at = [false; 2];
        }
        if at < self.sight.0 {
            self.sight = (0, 0);
            for &lane in &self.readers {
                self.views[usize::from(lane)].before = 0;
            }
        }
        while let Some(s) = self.segments.get(self.sight.1) {
            let to = at.min(s.at + s.reads);
            self.views[usize::from(s.lane)].before += to - self.sight.0;
            self.sight.0 = to;
            if at < s.at + s.reads {
                break;
            }
            self.sight.1 += 1;
        }
        for s in self.segments.iter().skip(self.sight.1).take(2) {
            let has = |at: u64| (s.at..s.at + s.reads).contains(&at);
            let seen = &mut self.views[usize::from(s.lane)].at;
            *seen = [seen[0] || has(at), seen[1] || has(at + 1)];
        }
    }
}

impl Choice {
    /// The choice for one place.
    fn at(self, place: ProcIndex) -> Self {
        let own = |lane: ProcIndex| if lane == SAME { place } else { lane };
        Self { start: own(self.start), witness: own(self.witness), ..self }
    }
}
