//! What waits at a controller or a memory, which do one thing after the other.

use std::collections::VecDeque;

/// What one controller or memory did, or several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLoad {
    /// Look-ups, or accesses.
    pub served: u64,
    /// Cycles that they took.
    pub busy: u64,
    /// Cycles for which they waited for those before them.
    pub waited: u64,
    /// Most of them that one controller or memory had at a time, the one that it was busy with
    /// included.
    pub longest: u64,
}

/// What the home of pages did: the controllers and the memory of a node, or those of all slices of
/// a memory that several processors share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HomeLoad {
    /// Controllers, each with a part of the memory.
    pub controllers: u16,
    /// What controllers looked up.
    pub lookups: QueueLoad,
    /// Accesses of memory.
    pub accesses: QueueLoad,
}

impl QueueLoad {
    /// Another controller or memory together with this one.
    pub fn add(&mut self, other: &Self) {
        self.served += other.served;
        self.busy += other.busy;
        self.waited += other.waited;
        self.longest = self.longest.max(other.longest);
    }
}

/// Watches one controller or memory.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueMeter {
    /// When all that has come will have been done, in order.
    ends: VecDeque<u64>,
    pub(super) load: QueueLoad,
}

impl QueueMeter {
    /// Something comes now; it will be done from `start` to `end`, behind all that came before.
    pub(super) fn add(&mut self, now: u64, (start, end): (u64, u64)) {
        while self.ends.front().is_some_and(|&end| end <= now) {
            self.ends.pop_front();
        }
        self.ends.push_back(end);
        let load = &mut self.load;
        load.served += 1;
        load.busy += end - start;
        load.waited += start - now;
        load.longest = load.longest.max(self.ends.len() as u64);
    }
}
