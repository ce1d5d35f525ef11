//! The event queue: what happens at a known time, the earliest first.
//!
//! Nearly all events are a few hundred cycles ahead. They lie in a wheel, by their time modulo its
//! size; those that are further ahead wait in a heap until the wheel has come round to them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::wakeup::NEVER;

/// Cycles that the wheel reaches ahead: a power of two.
const REACH: u64 = 1024;
/// Slots in a word of the map of those that have events.
const WORD: u64 = 64;

/// Events by time. Of those at one time the lowest rank comes first, and of one rank those that
/// were pushed first (of 2^32 pushes): the order never depends on how they lie in memory. Time does
/// not go back: nothing is pushed before what was popped last.
pub struct EventQueue<E> {
    slots: Vec<Slot<E>>,
    /// A bit for each slot that has events.
    occupied: Vec<u64>,
    far: BinaryHeap<Reverse<Scheduled<E>>>,
    /// The time from which the wheel reaches.
    from: u64,
    /// When the next event is, or [`NEVER`].
    next: u64,
    pushed: u32,
}

/// The events of one time.
struct Slot<E> {
    /// Each with its rank, then the number of its push, in one word.
    events: Vec<(u64, E)>,
    /// Whether they are in order, the first one last.
    sorted: bool,
}

struct Scheduled<E> {
    time: u64,
    order: u64,
    event: E,
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
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
        (self.time, self.order).cmp(&(other.time, other.order))
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            slots: (0..REACH).map(|_| Slot { events: Vec::new(), sorted: true }).collect(),
            occupied: (0..REACH / WORD).map(|_| 0).collect(),
            far: BinaryHeap::new(),
            from: 0,
            next: NEVER,
            pushed: 0,
        }
    }
}

/// The number of a slot, and its place in the map.
#[inline]
fn place(time: u64) -> (usize, usize, u64) {
    let slot = time % REACH;
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    (index(slot), index(slot / WORD), 1 << (slot % WORD))
}

impl<E> EventQueue<E> {
    /// The event happens at this time.
    #[inline]
    pub fn push(&mut self, time: u64, rank: u32, event: E) {
        let order = u64::from(rank) << 32 | u64::from(self.pushed);
        self.pushed = self.pushed.wrapping_add(1);
        if time < self.from + REACH {
            self.put(time, order, event);
        } else {
            self.far.push(Reverse(Scheduled { time, order, event }));
        }
        self.next = self.next.min(time);
    }

    #[inline]
    fn put(&mut self, time: u64, order: u64, event: E) {
        let (slot, word, bit) = place(time);
        let slot = &mut self.slots[slot];
        slot.sorted = slot.events.is_empty();
        slot.events.push((order, event));
        self.occupied[word] |= bit;
    }

    /// Whether nothing is to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    /// When the next event is.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        (self.next != NEVER).then_some(self.next)
    }

    /// The next event, if it is now.
    #[inline]
    pub fn pop_at(&mut self, now: u64) -> Option<E> {
        if self.next != now || now == NEVER {
            return None;
        }
        if self.from != now {
            self.turn_to(now);
        }
        let (slot, word, bit) = place(now);
        let slot = &mut self.slots[slot];
        if !slot.sorted {
            slot.events.sort_unstable_by_key(|&(order, _)| Reverse(order));
            slot.sorted = true;
        }
        let popped = slot.events.pop();
        if slot.events.is_empty() {
            self.occupied[word] &= !bit;
            self.next = self.find_next();
        }
        popped.map(|(_, event)| event)
    }

    /// The wheel reaches ahead from this time.
    fn turn_to(&mut self, now: u64) {
        self.from = now;
        while let Some(Reverse(first)) = self.far.peek()
            && first.time < now + REACH
        {
            let Some(Reverse(Scheduled { time, order, event })) = self.far.pop() else { break };
            self.put(time, order, event);
        }
    }

    /// When the next event is, or [`NEVER`].
    fn find_next(&self) -> u64 {
        let far = self.far.peek().map_or(NEVER, |Reverse(first)| first.time);
        let (_, first, bit) = place(self.from);
        let words = self.occupied.len();
        // The word of the first slot comes once more at the end, with what it has before that slot.
        for step in 0..=words {
            let mut found = self.occupied[(first + step) % words];
            if step == 0 {
                found &= !(bit - 1);
            }
            if found != 0 {
                let slot =
                    ((first + step) % words) as u64 * WORD + u64::from(found.trailing_zeros());
                let ahead = slot.wrapping_sub(self.from) % REACH;
                return far.min(self.from + ahead);
            }
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

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

    /// A list that is sorted for every event says the same, however far ahead events are, and also
    /// of those that are pushed while others of their time are popped.
    #[test]
    fn the_wheel_does_as_a_sorted_list() {
        let mut rng = Rng::new(3);
        let (mut queue, mut list) = (EventQueue::default(), Vec::new());
        let (mut now, mut pushed) = (0, 0u32);
        for _ in 0..200_000 {
            let ahead = match rng.below(8) {
                0 => rng.below(5_000),
                1 => REACH - 1 + rng.below(3),
                2 => 0,
                _ => rng.below(200),
            };
            let rank = u32::try_from(rng.below(4)).unwrap();
            if list.len() < 40 && rng.below(2) == 0 {
                queue.push(now + ahead, rank, pushed);
                list.push((now + ahead, rank, pushed));
                pushed += 1;
                continue;
            }
            list.sort_unstable();
            assert_eq!(queue.next_time(), list.first().map(|&(time, ..)| time));
            let Some(time) = queue.next_time() else { continue };
            now = time;
            assert_eq!(queue.pop_at(now), Some(list.remove(0).2));
        }
        assert!(pushed > 50_000);
    }
}
