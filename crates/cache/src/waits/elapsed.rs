//! The time in which at least one of several processors waits.

use std::collections::VecDeque;

/// The maximum number of stretches that are kept. No wait is so long that older ones matter.
const STRETCHES_MAX: usize = 4096;

/// Cycles in which at least one processor waited: the union of stretches of time, each added when
/// it ends. An upper bound if a wait begins before all stretches that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct ElapsedWaiting {
    cycles: u64,
    /// The start and end of the latest stretches, disjoint and in order.
    stretches: VecDeque<(u64, u64)>,
}

impl ElapsedWaiting {
    /// Adds a stretch, which ends no earlier than any added before.
    pub(super) fn add(&mut self, from: u64, until: u64) {
        if from == until {
            return;
        }
        let mut joined = (from, until);
        while let Some(&(first, end)) = self.stretches.back()
            && end >= from
        {
            self.stretches.pop_back();
            self.cycles -= end - first;
            joined.0 = joined.0.min(first);
        }
        self.cycles += joined.1 - joined.0;
        self.stretches.push_back(joined);
        if self.stretches.len() > STRETCHES_MAX {
            self.stretches.pop_front();
        }
    }

    /// Adds cycles of unknown position.
    pub(super) fn add_cycles(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// The sum.
    pub(super) fn cycles(&self) -> u64 {
        self.cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn union(stretches: &[(u64, u64)]) -> u64 {
        let mut elapsed = ElapsedWaiting::default();
        stretches.iter().for_each(|&(from, until)| elapsed.add(from, until));
        elapsed.cycles()
    }

    #[test]
    fn time_that_several_wait_counts_once() {
        assert_eq!(union(&[(0, 10), (20, 30)]), 20);
        assert_eq!(union(&[(0, 10), (5, 12), (12, 15)]), 15);
        // One waits all the time in which others wait again and again.
        assert_eq!(union(&[(10, 12), (20, 22), (30, 32), (8, 40)]), 32);
        assert_eq!(union(&[(10, 12), (20, 22), (21, 25), (11, 25)]), 15);
    }

    #[test]
    fn what_is_no_longer_kept_counts_again() {
        let stretches: Vec<_> = (0..5000).map(|n| (3 * n, 3 * n + 1)).collect();
        assert_eq!(union(&stretches), 5000);
        let with_all: Vec<_> = stretches.into_iter().chain([(0, 15_000)]).collect();
        let whole = union(&with_all);
        assert!((15_000..16_000).contains(&whole), "{whole}");
    }
}
