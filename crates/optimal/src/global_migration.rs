//! The optimum without replication on machines with global memory, in time proportional to the
//! number of runs.

use homenode_placement::{Run, Tally};

use crate::global::GlobalPrices;

/// A processor, or global memory: one past the last processor, so that it is the last to be chosen.
pub(crate) type Place = u16;

/// Source: Bolosky figure 4.1, in Dietz's form: besides the processor that refers, only global
/// memory can become a better place to be. Costs are kept less what they would be had all
/// references been remote. O(1) per run.
pub(crate) struct GlobalMigration {
    prices: GlobalPrices,
    global: Place,
    /// By processor.
    saved: Vec<i128>,
    best: (i128, Place),
    in_global: i128,
    references: i128,
    /// For each step, where the block came from if it is at the run's processor afterwards, and if
    /// it is in global memory.
    from: Vec<(Place, Place)>,
}

impl GlobalMigration {
    pub(crate) fn new(prices: GlobalPrices, processors: u16) -> Self {
        Self {
            prices,
            global: processors,
            saved: vec![0; usize::from(processors)],
            best: (0, 0),
            in_global: 0,
            references: 0,
            from: Vec::new(),
        }
    }

    /// The key of the best placement, and the place of every step.
    pub(crate) fn solve(mut self, runs: &[Run]) -> (i128, Vec<Place>) {
        for run in runs {
            for count in steps(*run) {
                self.step(run.processor(), i128::from(count));
            }
        }
        let in_global = (self.in_global, self.global);
        let (key, mut at) = self.best.min(in_global);
        let mut path = Vec::with_capacity(self.from.len());
        let each = runs.iter().flat_map(|&run| steps(run).map(move |_| run.processor()));
        let processors: Vec<Place> = each.collect();
        for (&q, &(own, global)) in processors.iter().zip(&self.from).rev() {
            path.push(at);
            if at == q {
                at = own;
            } else if at == self.global {
                at = global;
            }
        }
        path.reverse();
        (self.references * self.prices.remote + key, path)
    }

    fn step(&mut self, q: Place, count: i128) {
        let p = &self.prices;
        let own = &mut self.saved[usize::from(q)];
        let stay = (*own, q);
        let come = (self.best.0 + p.remote_move, self.best.1);
        let fetch = (self.in_global + p.global_move, self.global);
        let arrive = stay.min(come).min(fetch);
        let leave = (self.best.0 + p.global_move, self.best.1);
        let global = (self.in_global, self.global).min(leave);
        self.from.push((arrive.1, global.1));
        *own = arrive.0 - count * (p.remote - p.one);
        self.in_global = global.0 - count * (p.remote - p.global);
        self.best = self.best.min((*own, q));
        self.references += count;
    }

    /// Counts the events of a path.
    pub(crate) fn count(runs: &[Run], path: &[Place], global: Place, tally: &mut Tally) {
        let mut before = path.first().copied().unwrap_or(global);
        let mut places = path.iter().copied();
        for run in runs {
            let mut done = 0;
            for count in steps(*run) {
                let place = places.next().unwrap_or(before);
                let prefix = (run.prefix(done), run.prefix(done + count));
                let (reads, writes) = (prefix.1.0 - prefix.0.0, prefix.1.1 - prefix.0.1);
                if before != place {
                    let with_global = before == global || place == global;
                    let moves =
                        if with_global { &mut tally.global_moves } else { &mut tally.remote_moves };
                    *moves += 1;
                    tally.faults += 1;
                    let write = run.next_write(done) == Some(done);
                    let takes = before != global && before != run.processor();
                    tally.invalidations += u64::from(write && takes);
                }
                before = place;
                let (r, w) = if place == run.processor() {
                    (&mut tally.local_reads, &mut tally.local_writes)
                } else if place == global {
                    (&mut tally.global_reads, &mut tally.global_writes)
                } else {
                    (&mut tally.remote_reads, &mut tally.remote_writes)
                };
                *r += reads;
                *w += writes;
                done += count;
            }
        }
    }
}

/// References of each step of a run: the first is one of its own, because a detour through global
/// memory may reach the processor only at the second.
pub(crate) fn steps(run: Run) -> impl Iterator<Item = u64> {
    let rest = run.references() - 1;
    [Some(1), (rest > 0).then_some(rest)].into_iter().flatten()
}
