//! Queues at controllers and memories, which serve one item at a time.

use std::collections::VecDeque;

/// The load of one controller or memory, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLoad {
    /// Look-ups, or accesses, served.
    pub served: u64,
    /// Cycles of service.
    pub busy: u64,
    /// Cycles spent waiting in the queue.
    pub waited: u64,
    /// Longest queue at one controller or memory, including the item in service.
    pub longest: u64,
}

/// The load of a home: the controller and the memory of a node, or those of all slices of a memory
/// that several processors share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HomeLoad {
    /// Controllers, each with a part of the memory.
    pub controllers: u16,
    /// Look-ups by controllers.
    pub lookups: QueueLoad,
    /// Accesses of memory.
    pub accesses: QueueLoad,
    /// Messages from other nodes that waited for a node's input, where that takes one at a time
    /// into a controller's buffer: this queue has no limit.
    pub arrivals: QueueLoad,
}

impl QueueLoad {
    /// Adds the load of another controller or memory.
    pub fn add(&mut self, other: &Self) {
        self.served += other.served;
        self.busy += other.busy;
        self.waited += other.waited;
        self.longest = self.longest.max(other.longest);
    }
}

/// Measures one controller or memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueMeter {
    /// Cycles at which the queued items will be done, in order.
    ends: VecDeque<u64>,
    pub(crate) load: QueueLoad,
}

impl QueueMeter {
    /// An item arrives now, and is served from `start` to `end`, after all earlier ones.
    pub(crate) fn add(&mut self, now: u64, start: u64, end: u64) {
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
