//! The optimum without replication on machines with global memory, in time proportional to the
//! number of runs.

use homenode_placement::Run;

use crate::copy_plan::PlanPrices;
use crate::wide::{RecurrenceValue, WideKey};

/// A processor, or global memory: one past the last processor, so that it is the last to be chosen.
pub(crate) type PlaceIndex = u16;

/// Source: Bolosky figure 4.1, in Dietz's form: besides the processor that refers, only global
/// memory can become a better place. Costs are relative to those of remote references only. O(1)
/// per run.
struct GlobalMigration<V> {
    remote: V,
    in_global_more: V,
    remote_move: V,
    global_move: V,
    global: PlaceIndex,
    saved: Vec<V>,
    best: (V, PlaceIndex),
    in_global: V,
    references: u64,
    /// For each step, where the block came from if it is at the run's processor afterwards, and if
    /// it is in global memory.
    from: Vec<(PlaceIndex, PlaceIndex)>,
}

pub(crate) fn solve(
    prices: &PlanPrices,
    runs: &[Run],
    references: u64,
    processors: u16,
) -> (WideKey, Vec<PlaceIndex>) {
    let dearest = prices.remote.max(prices.remote_move).max(prices.global_move);
    let most = dearest.times(references + 2);
    if prices.global.infinite == 0 && i64::of(most).is_some() {
        GlobalMigration::<i64>::new(prices, processors).solve(runs, prices)
    } else {
        GlobalMigration::<WideKey>::new(prices, processors).solve(runs, prices)
    }
}

impl<V: RecurrenceValue> GlobalMigration<V> {
    fn new(prices: &PlanPrices, processors: u16) -> Self {
        let value = |price: WideKey| V::of(price).unwrap_or_default();
        Self {
            remote: value(prices.remote),
            in_global_more: value(prices.global),
            remote_move: value(prices.remote_move),
            global_move: value(prices.global_move),
            global: processors,
            saved: vec![V::default(); usize::from(processors)],
            best: (V::default(), 0),
            in_global: V::default(),
            references: 0,
            from: Vec::new(),
        }
    }

    fn solve(mut self, runs: &[Run], prices: &PlanPrices) -> (WideKey, Vec<PlaceIndex>) {
        for run in runs {
            for count in steps(*run) {
                self.step(run.processor(), count);
            }
        }
        let in_global = (self.in_global, self.global);
        let (key, mut at) = self.best.min(in_global);
        let mut path = Vec::with_capacity(self.from.len());
        let each = runs.iter().flat_map(|&run| steps(run).map(move |_| run.processor()));
        let processors: Vec<PlaceIndex> = each.collect();
        for (&q, &(own, global)) in processors.iter().zip(&self.from).rev() {
            path.push(at);
            if at == q {
                at = own;
            } else if at == self.global {
                at = global;
            }
        }
        path.reverse();
        ((prices.one + prices.remote).times(self.references) + key.wide(), path)
    }

    fn step(&mut self, q: PlaceIndex, count: u64) {
        let own = &mut self.saved[usize::from(q)];
        let stay = (*own, q);
        let come = (self.best.0 + self.remote_move, self.best.1);
        let fetch = (self.in_global + self.global_move, self.global);
        // Pairs of cost and place: on equal costs the lower-numbered origin wins.
        let arrive = stay.min(come).min(fetch);
        // From the values before this step, as `arrive`: a block makes one move a step.
        let leave = (self.best.0 + self.global_move, self.best.1);
        let global = (self.in_global, self.global).min(leave);
        self.from.push((arrive.1, global.1));
        *own = arrive.0 - self.remote.times(count);
        self.in_global = global.0 - (self.remote - self.in_global_more).times(count);
        self.best = self.best.min((*own, q));
        self.references += count;
    }
}

/// References of each step of a run: the first is one of its own, because a detour through global
/// memory may reach the processor only at the second.
pub(crate) fn steps(run: Run) -> impl Iterator<Item = u64> {
    let rest = run.references() - 1;
    [Some(1), (rest > 0).then_some(rest)].into_iter().flatten()
}
