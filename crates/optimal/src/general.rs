//! The optimum with replication on machines with global memory, at every price.
//!
//! Exact but slow: wide integers, every copy plan of a read-run, one after the other. Where G <= R
//! and the keys are small, `global_place_costs` does the same faster.

use homenode_base::ProcId;
use homenode_placement::Run;

use crate::copy_plan::{CopyPlan, DividedReads, PlanPrices, ReadExtra, ReadSegment};
use crate::cycles::{WriteCycles, steps};
use crate::place_costs::ProcIndex;
use crate::wide::{RecurrenceValue, WideKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Choice {
    pub(crate) start: ProcIndex,
    pub(crate) plan: CopyPlan,
    pub(crate) holder: ProcIndex,
}

/// The best placement found: a choice for each step, and one for the reads after the last write.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) value: WideKey,
    pub(crate) path: Vec<Choice>,
}

/// Stands for the ending place itself in a choice kept for several places.
const SAME: ProcIndex = ProcIndex::MAX;

/// The cost of every ending place so far, and the choices that led to it.
pub(crate) struct GeneralRecurrence {
    prices: PlanPrices,
    cost: Vec<WideKey>,
    /// Reads since the last write, in order and by processor index.
    segments: Vec<ReadSegment>,
    readers: Vec<ProcIndex>,
    views: Vec<DividedReads>,
    references: u64,
    extra: Vec<ReadExtra>,
    /// Position at which the views divide the reads, and the segment it is in.
    divided_at: (u64, usize),
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
            views: vec![DividedReads::default(); active],
            references: 0,
            extra: Vec::with_capacity(active),
            divided_at: (0, 0),
            arrived: Vec::with_capacity(active + 1),
            choices: Vec::new(),
            origins: Vec::new(),
        }
    }

    pub(crate) fn solve(mut self, runs: &[Run], proc_of: impl Fn(ProcId) -> ProcIndex) -> Solution {
        for &run in runs {
            let proc = proc_of(run.processor());
            for step in steps(run, self.prices.splits()) {
                self.step(proc, step);
            }
        }
        // Forwards only the choices are kept; backwards from the cheapest end they give the path.
        let end_of_history = self.end_of_history();
        let mut path = vec![end_of_history.1];
        let mut at = end_of_history.1.start;
        for origins in self.origins.chunks_exact(self.cost.len()).rev() {
            let index = usize::try_from(origins[usize::from(at)]).unwrap_or(usize::MAX);
            let choice = self.choices[index].at(at);
            path.push(choice);
            at = choice.start;
        }
        path.reverse();
        let value = end_of_history.0 + self.prices.one.times(self.references);
        Solution { value, path }
    }

    /// Chooses the cheapest plan for the last reads, after which the block stays where it is.
    ///
    /// No place is forced to hold the block, so what the cheapest ending place pays to be held is
    /// taken off: a start at a processor ends there too, and a holder has a copy in any case.
    fn end_of_history(&mut self) -> (WideKey, Choice) {
        let mut best = None;
        for plan in self.plans() {
            self.divide_reads(plan);
            let total = self.price_plan(plan);
            let (from, start) = self.cheapest_start(plan);
            let (more, holder) = self.cheapest_holder(plan);
            let choice = Choice { start, plan, holder };
            let found = (total + from + more, choice);
            best = Some(best.map_or(found, |b: (WideKey, Choice)| b.min(found)));
        }
        best.unwrap_or((WideKey::ZERO, Choice { start: 0, plan: CopyPlan::NoGlobal, holder: 0 }))
    }

    fn plans(&self) -> Vec<CopyPlan> {
        let reads = self.readers.iter().map(|&proc| self.views[usize::from(proc)].reads);
        self.prices.plans(&self.segments, reads)
    }

    fn step(&mut self, proc: ProcIndex, step: WriteCycles) {
        self.references += (step.writes + step.reads) * step.repeats;
        if step.writes > 0 {
            self.write(proc, step);
        }
        if step.reads > 0 {
            self.read(proc, step.reads);
        }
    }

    fn read(&mut self, proc: ProcIndex, reads: u64) {
        let view = &mut self.views[usize::from(proc)];
        if view.reads == 0 {
            self.readers.push(proc);
            view.first = self.segments.is_empty();
        }
        view.reads += reads;
        match self.segments.last_mut() {
            Some(last) if last.proc == proc => last.reads += reads,
            last => {
                let at = last.map_or(0, |s| s.at + s.reads);
                self.segments.push(ReadSegment { proc, at, reads });
            }
        }
    }

    fn write(&mut self, writer: ProcIndex, step: WriteCycles) {
        let p = self.prices;
        self.find_origins();
        let writes = step.writes * step.repeats;
        let again = step.repeats - 1;
        // The cost of all writes of the group at a place other than the writer, which may fetch a
        // copy for the reads between two of them, and their cost in global memory.
        let elsewhere = p.remote.times(writes) + p.reads_between_writes(step.reads).0.times(again);
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
            // Few choices differ within a step, so a search is cheaper than one choice a place.
            let found = self.choices[first..].iter().position(|c| c == choice);
            let index = first + found.unwrap_or(self.choices.len() - first);
            if found.is_none() {
                self.choices.push(*choice);
            }
            self.origins.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        self.segments.clear();
        self.divided_at = (0, 0);
        for proc in self.readers.drain(..) {
            self.views[usize::from(proc)] = DividedReads::default();
        }
    }

    /// Sets `extra` to the cost of each processor under a plan; returns the cost of the plan: their
    /// sum and the global copy that it makes.
    fn price_plan(&mut self, plan: CopyPlan) -> WideKey {
        let nothing = self.prices.extra(plan, DividedReads::default());
        self.extra.clear();
        self.extra.resize(self.views.len(), nothing);
        let mut total = self.prices.global_copy_cost(plan);
        for &proc in &self.readers {
            let extra = self.prices.extra(plan, self.views[usize::from(proc)]);
            total = total + extra.free;
            self.extra[usize::from(proc)] = extra;
        }
        total
    }

    /// The cheapest start of a plan, less the savings of the start itself.
    fn cheapest_start(&self, plan: CopyPlan) -> (WideKey, ProcIndex) {
        let last = self.cost.len() - 1;
        if plan.starts_global() {
            return (self.cost[last], ProcIndex::try_from(last).unwrap_or(SAME));
        }
        let starts = (0..).zip(self.cost[..last].iter().zip(&self.extra));
        starts.map(|(proc, (cost, e))| (*cost - e.free, proc)).min().unwrap_or((WideKey::ZERO, 0))
    }

    fn cheapest_holder(&self, plan: CopyPlan) -> (WideKey, ProcIndex) {
        if !plan.needs_holder() {
            return (WideKey::ZERO, 0);
        }
        let each = (0..).zip(&self.extra);
        let each = each.map(|(proc, e)| (self.prices.global_move - e.free, proc));
        each.min().unwrap_or((WideKey::ZERO, 0))
    }

    /// The cheapest origin of every place at a write.
    fn find_origins(&mut self) {
        let global = self.cost.len() - 1;
        let proc_of = |m: usize| ProcIndex::try_from(m).unwrap_or(SAME);
        let nowhere = Choice { start: SAME, plan: CopyPlan::NoGlobal, holder: 0 };
        let far = WideKey { infinite: i64::MAX, key: 0 };
        self.arrived.clear();
        self.arrived.resize(global + 1, (far, nowhere));
        for plan in self.plans() {
            self.divide_reads(plan);
            let total = self.price_plan(plan);
            let (from, start) = self.cheapest_start(plan);
            let (holder_pays, holder) = self.cheapest_holder(plan);
            let come = Choice { start, plan, holder };
            for m in 0..global {
                let e = self.extra[m];
                let mut best = (total + from + holder_pays + (e.held - e.free), come);
                if !plan.starts_global() {
                    let stay = total + self.cost[m] - e.free;
                    best = best.min((stay, Choice { start: SAME, ..come }));
                } else if plan.needs_holder() {
                    let own = total + from + (self.prices.global_move - e.free);
                    best = best.min((own, Choice { holder: SAME, ..come }));
                }
                // Costs first, then the choice itself: the order of plans and places breaks ties.
                let better = |b: (WideKey, Choice)| (b.0, b.1.at(proc_of(m)));
                if better(best) < better(self.arrived[m]) {
                    self.arrived[m] = best;
                }
            }
            let enter = total + from + holder_pays + self.prices.enter_global_cost(plan);
            self.arrived[global] = self.arrived[global].min((enter, come));
        }
    }

    /// Divides the reads of every processor at the position of a plan. Positions mostly ascend, so
    /// that this takes a few steps for each.
    fn divide_reads(&mut self, plan: CopyPlan) {
        let at = plan.position();
        for s in self.segments.iter().skip(self.divided_at.1).take(2) {
            self.views[usize::from(s.proc)].at = [false; 2];
        }
        if at < self.divided_at.0 {
            self.divided_at = (0, 0);
            for &proc in &self.readers {
                self.views[usize::from(proc)].before = 0;
            }
        }
        while let Some(s) = self.segments.get(self.divided_at.1) {
            let to = at.min(s.at + s.reads);
            self.views[usize::from(s.proc)].before += to - self.divided_at.0;
            self.divided_at.0 = to;
            if at < s.at + s.reads {
                break;
            }
            self.divided_at.1 += 1;
        }
        for s in self.segments.iter().skip(self.divided_at.1).take(2) {
            let has = |at: u64| (s.at..s.at + s.reads).contains(&at);
            let seen = &mut self.views[usize::from(s.proc)].at;
            *seen = [seen[0] || has(at), seen[1] || has(at + 1)];
        }
    }
}

impl Choice {
    /// The best choice for one place.
    fn at(self, place: ProcIndex) -> Self {
        let own = |proc: ProcIndex| if proc == SAME { place } else { proc };
        Self { start: own(self.start), holder: own(self.holder), ..self }
    }
}
