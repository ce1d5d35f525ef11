//! The optimum without replication, in time proportional to the number of runs.

use homenode_base::ProcId;
use homenode_placement::{Run, Tally};

use crate::key::{CostKey, KeyPrices};

/// Source: Bolosky §4.2.1: Dietz's observation that some optimal placement only ever moves a block
/// to the processor that refers to it. All references count as writes. Let v(q) be the cost of
/// ending at q less the cost if all references had been remote. A run of t references by q changes
/// v(q) alone: v(q) := min(v(q), min v + R) - t (r - 1). O(1) per run.
#[derive(Default)]
pub(crate) struct Migration {
    /// v by processor, in a width that holds it.
    narrow: Vec<i64>,
    wide: Vec<i128>,
    /// For each run, where the block came from if it is at the run's processor afterwards.
    from: Vec<ProcId>,
    /// For each run, where the block is.
    path: Vec<ProcId>,
}

impl Migration {
    pub(crate) fn solve(&mut self, runs: &[Run], prices: &KeyPrices, processors: u16) -> i128 {
        self.from.clear();
        // There are fewer than 2^shift references.
        let most = (prices.remote - prices.one).checked_mul(1 << prices.shift);
        let most = most.and_then(|most| most.checked_add(prices.moved));
        let processors = usize::from(processors);
        let (saved, references, last) = if most.is_some_and(|most| most < i64::FAR.wide()) {
            forward(&mut self.narrow, &mut self.from, runs, prices, processors)
        } else {
            forward(&mut self.wide, &mut self.from, runs, prices, processors)
        };
        let mut at = last;
        self.path.clear();
        for (run, &from) in runs.iter().zip(&self.from).rev() {
            self.path.push(at);
            at = if run.processor() == at { from } else { at };
        }
        self.path.reverse();
        i128::from(references) * prices.remote + saved
    }

    pub(crate) fn path(&self) -> &[ProcId] {
        &self.path
    }

    pub(crate) fn count(&self, runs: &[Run], tally: &mut Tally) {
        let mut before = self.path.first().copied();
        for (run, &place) in runs.iter().zip(&self.path) {
            if before != Some(place) {
                tally.remote_moves += 1;
                tally.faults += 1;
                tally.invalidations += u64::from(!run.is_read_only());
            }
            before = Some(place);
            if place == run.processor() {
                tally.local_reads += run.reads();
                tally.local_writes += run.writes();
            } else {
                tally.remote_reads += run.reads();
                tally.remote_writes += run.writes();
            }
        }
    }
}

/// The recurrence: the least v at the end, the number of references, and the place with that v.
fn forward<K: CostKey>(
    saved: &mut Vec<K>,
    places: &mut Vec<ProcId>,
    runs: &[Run],
    prices: &KeyPrices,
    processors: usize,
) -> (i128, u64, ProcId) {
    saved.clear();
    saved.resize(processors, K::of(0));
    let (moved, more) = (K::of(prices.moved), K::of(prices.remote - prices.one));
    let (mut best, mut at) = (K::of(0), 0);
    let mut references = 0;
    for run in runs {
        let q = run.processor();
        let own = &mut saved[usize::from(q)];
        // Ties go to the lower-numbered place: a step is 1 where q has the lower number.
        let come = best + moved;
        let stays = *own < come + K::step(q <= at);
        places.push(if stays { q } else { at });
        let count = run.references();
        // Only the place of the processor that refers gains on all others.
        *own = (*own).min(come) - more.times(count);
        references += count;
        if *own < best + K::step(q < at) {
            (best, at) = (*own, q);
        }
    }
    (best.wide(), references, at)
}
