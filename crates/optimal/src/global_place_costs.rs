//! The recurrence of the optimum with replication on machines with global memory, where G <= R and
//! 1 <= g <= r: one array element for each processor that refers to the block, narrow keys.
//!
//! Having a global copy then never makes a later copy or reference more expensive, so within a
//! read-run it is there from the first read on or not at all (`docs/optimal.md`).

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::Run;

use crate::copy_plan::{CopyPlan, PlanFamily, PlanPrices};
use crate::cycles::{WriteCycles, steps};
use crate::general::{Choice, Solution};
use crate::place_costs::ProcIndex;
use crate::wide::{RecurrenceValue, WideKey};

/// Larger than any value that can be part of an optimum.
const FAR: i64 = 1 << 60;

/// Copy plans, as the lowest bits of a value; the place a block comes from is in the bits above.
const NO_GLOBAL: i64 = 0;
const ADD_GLOBAL: i64 = 1;
const KEEP_GLOBAL: i64 = 2;
const PLAN_BITS: u32 = 2;

/// Prices as packed values: a key (see [`crate::key`]), then room for start and plan, so that one
/// comparison decides by cost, moves and lowest-numbered place, and tells which it was.
#[derive(Clone, Copy, Debug)]
struct PackedPrices {
    /// Bits below the key.
    room: u32,
    /// r - 1 and g - 1.
    remote: i64,
    global: i64,
    remote_move: i64,
    global_move: i64,
    splits: bool,
}

impl PackedPrices {
    /// `None` if the recurrence does not hold or the values might not fit.
    ///
    /// An infinite r or R is replaced by 2G + 2g + 2, which is never paid: instead the block can be
    /// moved to global memory, referred to there, and moved back.
    fn new(prices: &Prices, wide: &PlanPrices, procs: usize) -> Option<Self> {
        let steps = i128::from;
        let (g, global_move) = (prices.global_reference?, prices.global_move?);
        let room = procs.ilog2() + 1 + PLAN_BITS;
        let never = 2 * (steps(global_move) + steps(g) + steps(prices.scale));
        let r = prices.remote_reference.map_or(never, i128::from);
        let remote_move = prices.remote_move.map_or(never, i128::from);
        let reference = |price: i128| (price - steps(prices.scale)) << wide.shift << room;
        let moved = |price: i128| ((price << wide.shift) + 1) << room;
        // The sum over all readers must fit too.
        let most = FAR / i64::try_from(2 * procs.max(8)).ok()?;
        let narrow = |value: i128| i64::try_from(value).ok().filter(|&v| v < most);
        (wide.family == PlanFamily::FromFirstRead).then_some(())?;
        Some(Self {
            room,
            remote: narrow(reference(r))?,
            global: narrow(reference(g.into()))?,
            remote_move: narrow(moved(remote_move))?,
            global_move: narrow(moved(global_move.into()))?,
            splits: moved(remote_move) > 2 * moved(global_move.into()),
        })
    }

    fn saved(each: i64, reads: u64, copy: i64) -> i64 {
        let reads = i64::try_from(reads).unwrap_or(i64::MAX);
        each.saturating_mul(reads).min(copy)
    }
}

/// The lowest 16 bits.
fn low(value: i64) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// Finds the best placement, if the prices and the number of references allow the narrow form.
pub(crate) fn solve(
    prices: &Prices,
    wide: &PlanPrices,
    runs: &[Run],
    active: usize,
    proc_of: impl Fn(ProcId) -> ProcIndex,
    codes: &mut Vec<u16>,
) -> Option<Solution> {
    match active {
        0..=4 => GlobalPlaceCosts::<4>::run(prices, wide, runs, active, proc_of, codes),
        5..=8 => GlobalPlaceCosts::<8>::run(prices, wide, runs, active, proc_of, codes),
        9..=16 => GlobalPlaceCosts::<16>::run(prices, wide, runs, active, proc_of, codes),
        17..=64 => GlobalPlaceCosts::<64>::run(prices, wide, runs, active, proc_of, codes),
        65..=256 => GlobalPlaceCosts::<256>::run(prices, wide, runs, active, proc_of, codes),
        _ => GlobalPlaceCosts::<1024>::run(prices, wide, runs, active, proc_of, codes),
    }
}

/// The cost of every ending place, relative to `base`.
struct GlobalPlaceCosts<'a, const L: usize> {
    prices: PackedPrices,
    cost: [i64; L],
    in_global: i64,
    /// The cost of a reader beyond local references, without a global copy and with one.
    saved_remote: [i64; L],
    saved_global: [i64; L],
    reads: [u64; L],
    readers: Vec<ProcIndex>,
    base: i128,
    references: u64,
    /// Start and plan by step and place, global memory last.
    codes: &'a mut Vec<u16>,
}

impl<'a, const L: usize> GlobalPlaceCosts<'a, L> {
    fn run(
        prices: &Prices,
        wide: &PlanPrices,
        runs: &[Run],
        active: usize,
        proc_of: impl Fn(ProcId) -> ProcIndex,
        codes: &'a mut Vec<u16>,
    ) -> Option<Solution> {
        let packed = PackedPrices::new(prices, wide, L)?;
        codes.clear();
        let mut cost = [FAR; L];
        cost[..active].fill(0);
        let mut procs = Self {
            prices: packed,
            cost,
            in_global: 0,
            saved_remote: [0; L],
            saved_global: [0; L],
            reads: [0; L],
            readers: Vec::with_capacity(active),
            base: 0,
            references: 0,
            codes,
        };
        for &run in runs {
            let proc = proc_of(run.processor());
            for step in steps(run, packed.splits) {
                procs.step(proc, step);
            }
        }
        Some(procs.finish(wide, active))
    }

    fn step(&mut self, proc: ProcIndex, step: WriteCycles) {
        self.references += (step.writes + step.reads) * step.repeats;
        if step.writes > 0 {
            self.write(proc, step);
        }
        if step.reads > 0 {
            let reads = &mut self.reads[usize::from(proc)];
            if *reads == 0 {
                self.readers.push(proc);
            }
            *reads += step.reads;
        }
    }

    /// Ends the read-run: adds its cost without a global copy to the base, and returns the
    /// additional cost (negative if cheaper) with one.
    fn settle(&mut self) -> i64 {
        let p = &self.prices;
        let mut with_global = 0;
        for &proc in &self.readers {
            let j = usize::from(proc);
            self.saved_remote[j] = PackedPrices::saved(p.remote, self.reads[j], p.remote_move);
            self.saved_global[j] = PackedPrices::saved(p.global, self.reads[j], p.global_move);
            with_global += self.saved_global[j] - self.saved_remote[j];
            self.base += i128::from(self.saved_remote[j]);
        }
        with_global
    }

    /// The cheapest start at a processor without a global copy, and with one; start and plan in the
    /// low bits.
    fn starts(&self) -> (i64, i64) {
        let (mut remote, mut start_with_global) = (i64::MAX, i64::MAX);
        let mut code = 0;
        for m in 0..L {
            remote = remote.min(self.cost[m] - self.saved_remote[m] + code + NO_GLOBAL);
            start_with_global =
                start_with_global.min(self.cost[m] - self.saved_global[m] + code + ADD_GLOBAL);
            code += 1 << PLAN_BITS;
        }
        (remote, start_with_global)
    }

    /// Code of a start in global memory, which is the last place.
    fn global_start(&self) -> i64 {
        (1 << (self.prices.room - 1)) + KEEP_GLOBAL
    }

    fn write(&mut self, writer: ProcIndex, step: WriteCycles) {
        let p = self.prices;
        let with_global = self.settle();
        let (remote, start_with_global) = self.starts();
        let mask = (1 << p.room) - 1;
        let best = remote & !mask;
        let (elsewhere, in_global) = self.extra(step);
        let add_global = if self.readers.is_empty() { FAR } else { with_global + p.global_move };
        let come_remote = remote + p.remote_move;
        let come_with_global = (start_with_global + add_global + p.global_move)
            .min(with_global + self.in_global + p.global_move + self.global_start());
        // Minima instead of branches: which plan wins at a place is hard to predict.
        let mut codes = [0u16; L];
        let mut code = 0;
        for (m, origin) in codes.iter_mut().enumerate() {
            let stay_remote = self.cost[m] + code + NO_GLOBAL;
            let stay_with_global = self.cost[m] + add_global + code + ADD_GLOBAL;
            let value = (stay_remote.min(come_remote) - self.saved_remote[m])
                .min(stay_with_global.min(come_with_global) - self.saved_global[m]);
            *origin = low(value & mask);
            self.cost[m] = (value & !mask) - best + elsewhere;
            code += 1 << PLAN_BITS;
        }
        let stay = with_global + self.in_global + self.global_start();
        let enter = with_global + start_with_global + p.global_move;
        // Joining at the write is never cheaper than at the first read, but may cost the same.
        let value = stay.min(enter).min(remote + p.global_move);
        self.codes.extend_from_slice(&codes);
        self.codes.push(low(value & mask));
        self.in_global = (value & !mask) - best + in_global;
        self.cost[usize::from(writer)] -= elsewhere;
        self.base += i128::from(best);
        for proc in self.readers.drain(..) {
            let j = usize::from(proc);
            (self.reads[j], self.saved_remote[j], self.saved_global[j]) = (0, 0, 0);
        }
    }

    /// The cost of a step beyond local references at another processor, and in global memory.
    fn extra(&self, step: WriteCycles) -> (i64, i64) {
        let p = &self.prices;
        let (mut elsewhere, mut in_global) = (0, 0);
        let far = 3 * p.remote_move;
        if step.repeats > 1 {
            let again = i64::try_from(step.repeats - 1).unwrap_or(i64::MAX);
            let alone = PackedPrices::saved(p.remote, step.reads, p.remote_move);
            let served = PackedPrices::saved(p.global, step.reads, p.global_move);
            let visit = if step.reads > 0 { alone.min(p.global_move + served) } else { 0 };
            elsewhere = visit.saturating_mul(again).min(far);
            in_global = served.saturating_mul(again).min(far);
        }
        let writes = step.writes * step.repeats;
        elsewhere += PackedPrices::saved(p.remote, writes, far);
        in_global += PackedPrices::saved(p.global, writes, far);
        (elsewhere.min(far), in_global.min(far))
    }

    /// The cheapest plan for the last reads, and the path back from there.
    fn finish(mut self, wide: &PlanPrices, active: usize) -> Solution {
        let with_global = self.settle();
        let (remote, start_with_global) = self.starts();
        let in_global = with_global + self.in_global + self.global_start();
        let with_global = with_global + start_with_global + self.prices.global_move;
        let mut best = remote.min(in_global);
        if !self.readers.is_empty() {
            best = best.min(with_global);
        }
        let room = self.prices.room;
        let code = low(best & ((1 << room) - 1));
        let key = (self.base + i128::from(best)) >> room;
        let mut path = vec![Self::choice(code, active)];
        for codes in self.codes.chunks_exact(L + 1).rev() {
            let at = path[path.len() - 1].start;
            let at = if usize::from(at) == active { L } else { usize::from(at) };
            path.push(Self::choice(codes[at], active));
        }
        path.reverse();
        let value = WideKey { infinite: 0, key } + wide.one.times(self.references);
        Solution { value, path }
    }

    fn choice(code: u16, active: usize) -> Choice {
        let start = usize::from(code >> PLAN_BITS);
        let start = if start >= L { active } else { start };
        let plan = match i64::from(code) & ((1 << PLAN_BITS) - 1) {
            NO_GLOBAL => CopyPlan::NoGlobal,
            ADD_GLOBAL => CopyPlan::AddGlobal,
            _ => CopyPlan::KeepGlobal,
        };
        Choice { start: ProcIndex::try_from(start).unwrap_or(ProcIndex::MAX), plan, holder: 0 }
    }
}
