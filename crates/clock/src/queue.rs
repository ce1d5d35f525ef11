//! The event queue: what happens at a known time, the earliest first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Events by time. Of those at one time the lowest rank comes first, and of one rank those that
/// were pushed first (of 2^32 pushes): the order never depends on how the heap lies in memory.
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Scheduled<E>>>,
    pushed: u32,
}

struct Scheduled<E> {
    time: u64,
    /// The rank, then the number of the push: in one word, as the heap moves these about.
    order: u64,
    event: E,
}

impl<E> Scheduled<E> {
    fn key(&self) -> (u64, u64) {
        (self.time, self.order)
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }
}

impl<E> EventQueue<E> {
    /// The event happens at this time.
    pub fn push(&mut self, time: u64, rank: u32, event: E) {
        let order = u64::from(rank) << 32 | u64::from(self.pushed);
        self.pushed = self.pushed.wrapping_add(1);
        self.heap.push(Reverse(Scheduled { time, order, event }));
    }

    /// Whether nothing is to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// When the next event is.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(next)| next.time)
    }

    /// The next event, if it is now.
    #[inline]
    pub fn pop_at(&mut self, now: u64) -> Option<E> {
        if self.next_time() != Some(now) {
            return None;
        }
        self.heap.pop().map(|Reverse(next)| next.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_rank_then_as_they_were_pushed() {
        let mut queue = EventQueue::default();
        let order = [(3, 0, 'a'), (3, 2, 'b'), (3, 2, 'c'), (4, 1, 'd'), (4, 1, 'e')];
        for (time, rank, event) in [order[3], order[1], order[4], order[2], order[0]] {
            queue.push(time, rank, event);
        }
        for (time, _, event) in order {
            assert_eq!((queue.next_time(), queue.pop_at(time - 1)), (Some(time), None));
            assert_eq!(queue.pop_at(time), Some(event));
        }
        assert!(queue.is_empty());
    }
}
