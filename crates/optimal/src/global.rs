//! The optimum on machines with global memory, where R is at least G.
//!
//! Global memory is one more place. Because R >= G and r >= g, having a global copy never makes a
//! later copy or reference dearer, so within a read-run it is there from the first read on or not
//! at all: three ways through a read-run, each as separable as the one without global memory
//! (`docs/optimal.md`).

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::Run;

use crate::lanes::Lane;

/// Prices as keys: cost times 2^`shift`, plus moves (see [`crate::key`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalPrices {
    pub(crate) shift: u32,
    pub(crate) one: i128,
    pub(crate) remote: i128,
    pub(crate) remote_move: i128,
    pub(crate) global: i128,
    pub(crate) global_move: i128,
}

impl GlobalPrices {
    /// Keys for a block with this many references; `None` where the recurrence does not hold: g or
    /// G infinite, a reference elsewhere cheaper than here, r below g, or R below G.
    ///
    /// An infinite r or R is replaced by 2G + 2g + 2, which is never paid: instead the block can be
    /// moved to global memory, referred to there, and moved back.
    pub(crate) fn new(prices: &Prices, references: u64) -> Option<Self> {
        let one = i128::from(prices.scale);
        let global = i128::from(prices.global_reference?);
        let global_move = i128::from(prices.global_move?);
        let never = 2 * (global_move + global + one);
        let remote = prices.remote_reference.map_or(never, i128::from);
        let remote_move = prices.remote_move.map_or(never, i128::from);
        if global < one || remote < global || remote_move < global_move {
            return None;
        }
        let shift = u64::BITS - references.leading_zeros() + 1;
        Some(Self {
            shift,
            one: one << shift,
            remote: remote << shift,
            remote_move: (remote_move << shift) + 1,
            global: global << shift,
            global_move: (global_move << shift) + 1,
        })
    }

    /// What a reader without a global copy costs beyond local references: remote references or a
    /// copy.
    fn saved_remote(&self, reads: u64) -> i128 {
        (i128::from(reads) * (self.remote - self.one)).min(self.remote_move)
    }

    /// The same with a global copy at hand.
    fn saved_global(&self, reads: u64) -> i128 {
        (i128::from(reads) * (self.global - self.one)).min(self.global_move)
    }

    /// Whether a reader without a global copy gets one of its own.
    pub(crate) fn copies_remote(&self, reads: u64) -> bool {
        self.saved_remote(reads) == self.remote_move
    }

    /// Whether a reader with a global copy at hand gets one of its own.
    pub(crate) fn copies_global(&self, reads: u64) -> bool {
        self.saved_global(reads) == self.global_move
    }

    /// Whether, while another processor's place stays home, the writer's reads between two of its
    /// writes are served through a global copy made for them.
    pub(crate) fn visits_global(&self, reads: u64) -> bool {
        reads > 0 && self.global_move + self.saved_global(reads) < self.saved_remote(reads)
    }

    /// What the reads of [`visits_global`](Self::visits_global) cost beyond local ones.
    fn saved_visit(&self, reads: u64) -> i128 {
        let visit = self.global_move + self.saved_global(reads);
        self.saved_remote(reads).min(visit)
    }

    /// Whether a chain of two moves through global memory can be cheaper than one direct move, so
    /// that the first write of a run must be a step of its own.
    fn detours(&self) -> bool {
        self.remote_move > 2 * self.global_move
    }
}

/// How a block gets through a read-run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// No global copy; copies cost R.
    Remote,
    /// From a processor, with a global copy from the first read on, or, if there is none, from the
    /// write on; copies cost G.
    Joined,
    /// From global memory, whose copy stays; copies cost G.
    Global,
}

/// Where a block comes from if it is at some place after a step. Ordered by key, then place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    key: i128,
    start: Lane,
    way: Way,
}

/// The cost of every ending place under way, and how each came about.
pub(crate) struct GlobalSolver {
    prices: GlobalPrices,
    /// By lane; the last is global memory.
    cost: Vec<i128>,
    saved_remote: Vec<i128>,
    saved_global: Vec<i128>,
    reads: Vec<u64>,
    readers: Vec<Lane>,
    base: i128,
    /// Origins of all lanes at the step under way.
    arrived: Vec<Origin>,
    /// Start and way of all lanes, step by step.
    origins: Vec<(Lane, Way)>,
}

/// The best placement found: for each step its start and way, and the start and way of the reads
/// after the last write.
pub(crate) struct Solution {
    pub(crate) key: i128,
    pub(crate) path: Vec<(Lane, Way)>,
}

impl GlobalSolver {
    /// Free at any of the `active` processors or in global memory.
    pub(crate) fn new(prices: GlobalPrices, active: usize) -> Self {
        Self {
            prices,
            cost: vec![0; active + 1],
            saved_remote: vec![0; active],
            saved_global: vec![0; active],
            reads: vec![0; active],
            readers: Vec::new(),
            base: 0,
            arrived: Vec::with_capacity(active + 1),
            origins: Vec::new(),
        }
    }

    /// Finds the best placement.
    pub(crate) fn solve(mut self, runs: &[Run], lane_of: impl Fn(ProcId) -> Lane) -> Solution {
        for &run in runs {
            let lane = lane_of(run.processor());
            for step in steps(run, &self.prices) {
                self.step(lane, step);
            }
        }
        let (joined, end) = self.settle();
        let best = self.leave(joined).into_iter().min();
        let best = best.unwrap_or(Origin { key: 0, start: end, way: Way::Global });
        let mut path = vec![(best.start, best.way)];
        let mut at = usize::from(best.start);
        for origins in self.origins.chunks_exact(self.cost.len()).rev() {
            path.push(origins[at]);
            at = usize::from(origins[at].0);
        }
        path.reverse();
        Solution { key: self.base + best.key, path }
    }

    /// The cheapest ways through the reads to no place in particular.
    fn leave(&self, joined: i128) -> Vec<Origin> {
        let mut ways = Vec::new();
        let last = self.cost.len() - 1;
        for (lane, start) in (0..).zip(0..last) {
            let remote = self.cost[start] - self.saved_remote[start];
            ways.push(Origin { key: remote, start: lane, way: Way::Remote });
            if !self.readers.is_empty() {
                let key =
                    joined + self.prices.global_move + self.cost[start] - self.saved_global[start];
                ways.push(Origin { key, start: lane, way: Way::Joined });
            }
        }
        let start = Lane::try_from(last).unwrap_or(Lane::MAX);
        ways.push(Origin { key: joined + self.cost[last], start, way: Way::Global });
        ways
    }

    /// Ends the read-run: adds what it costs without a global copy to the base, and returns what
    /// it costs more (or, negative, less) with one, and the lane of global memory.
    fn settle(&mut self) -> (i128, Lane) {
        let mut joined = 0;
        for &lane in &self.readers {
            let j = usize::from(lane);
            self.saved_remote[j] = self.prices.saved_remote(self.reads[j]);
            self.saved_global[j] = self.prices.saved_global(self.reads[j]);
            joined += self.saved_global[j] - self.saved_remote[j];
            self.base += self.saved_remote[j] + i128::from(self.reads[j]) * self.prices.one;
        }
        (joined, Lane::try_from(self.cost.len() - 1).unwrap_or(Lane::MAX))
    }

    /// The cheapest origin of every place at a write.
    fn arrive(&mut self, joined: i128, global: Lane) {
        let p = &self.prices;
        let last = usize::from(global);
        let from = |saved: &[i128]| {
            let mut best = (self.cost[0] - saved[0], 0);
            for ((cost, saved), lane) in self.cost[..last].iter().zip(saved).zip(0..).skip(1) {
                if cost - saved < best.0 {
                    best = (cost - saved, lane);
                }
            }
            best
        };
        let (remote, remote_from) = from(&self.saved_remote);
        let (join, join_from) = from(&self.saved_global);
        let in_global = joined + self.cost[last];
        let joined = joined + p.global_move;
        let any_reads = !self.readers.is_empty();
        self.arrived.clear();
        for (lane, m) in (0..global).zip(0..last) {
            let saved = (self.saved_remote[m], self.saved_global[m]);
            let origin = |key, start, way| Origin { key, start, way };
            let mut best = origin(self.cost[m] - saved.0, lane, Way::Remote)
                .min(origin(remote + p.remote_move - saved.0, remote_from, Way::Remote))
                .min(origin(in_global + p.global_move - saved.1, global, Way::Global));
            if any_reads {
                let come = join + p.global_move - saved.1;
                best = best
                    .min(origin(joined + self.cost[m] - saved.1, lane, Way::Joined))
                    .min(origin(joined + come, join_from, Way::Joined));
            }
            self.arrived.push(best);
        }
        let stay = Origin { key: in_global, start: global, way: Way::Global };
        let come = Origin { key: joined + join, start: join_from, way: Way::Joined };
        self.arrived.push(stay.min(come));
    }

    fn step(&mut self, lane: Lane, step: Cycles) {
        if step.writes > 0 {
            self.write(lane, step);
        }
        if step.reads > 0 {
            let reads = &mut self.reads[usize::from(lane)];
            if *reads == 0 {
                self.readers.push(lane);
            }
            *reads += step.reads;
        }
    }

    /// Writes, and repetitions of reads and writes, by one processor.
    fn write(&mut self, writer: Lane, step: Cycles) {
        let p = self.prices;
        let (joined, global) = self.settle();
        self.arrive(joined, global);
        let all_writes = i128::from(step.writes) * i128::from(step.repeats);
        let again = i128::from(step.repeats - 1);
        let elsewhere = all_writes * (p.remote - p.one) + again * p.saved_visit(step.reads);
        let in_global = all_writes * (p.global - p.one) + again * p.saved_global(step.reads);
        self.base += (all_writes + again * i128::from(step.reads)) * p.one;
        for ((cost, origin), m) in self.cost.iter_mut().zip(&self.arrived).zip(0..) {
            let extra = match m {
                _ if m == writer => 0,
                _ if m == global => in_global,
                _ => elsewhere,
            };
            *cost = origin.key + extra;
        }
        self.origins.extend(self.arrived.iter().map(|o| (o.start, o.way)));
        for lane in self.readers.drain(..) {
            let j = usize::from(lane);
            (self.reads[j], self.saved_remote[j], self.saved_global[j]) = (0, 0, 0);
        }
    }
}

/// `repeats` times `writes` writes and `reads` reads, with the last reads still to be placed; no
/// writes: reads only, in one repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycles {
    pub(crate) writes: u64,
    pub(crate) reads: u64,
    pub(crate) repeats: u64,
}

/// The steps of a run. Its first write is one of its own where a detour through global memory can
/// pay: to there at the first write, on to the writer at the second.
pub(crate) fn steps(run: Run, prices: &GlobalPrices) -> impl Iterator<Item = Cycles> + use<> {
    let (writes, reads, repeats) = (run.cycle_writes(), run.cycle_reads(), run.repeats());
    let steps = if run.is_read_only() {
        [Some(Cycles { writes: 0, reads: run.references(), repeats: 1 }), None, None]
    } else if !prices.detours() || run.writes() == 1 {
        [Some(Cycles { writes, reads, repeats }), None, None]
    } else if writes == 1 {
        let first = Cycles { writes: 1, reads, repeats: 1 };
        [Some(first), Some(Cycles { writes, reads, repeats: repeats - 1 }), None]
    } else {
        let first = Cycles { writes: 1, reads: 0, repeats: 1 };
        let second = Cycles { writes: writes - 1, reads, repeats: 1 };
        let rest = (repeats > 1).then_some(Cycles { writes, reads, repeats: repeats - 1 });
        [Some(first), Some(second), rest]
    };
    steps.into_iter().flatten()
}
