//! The event queue: scheduled events, earliest first.
//!
//! Nearly all events are a few hundred cycles ahead, or a few thousand where many requests queue at
//! one node. They are kept in a timing wheel, by their time modulo its size; events further ahead
//! wait in a heap until the wheel reaches them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::wakeup::NEVER;

/// Cycles that the wheel spans, with one slot each.
const REACH: usize = WORDS * WORD;
/// Slots in a word of the bitmap of occupied slots.
const WORD: usize = 64;
/// Words of that bitmap, with one bit each in the summary word.
const WORDS: usize = 64;
const NONE: u32 = u32::MAX;

/// Events ordered by time, then by rank, lowest first, then by push (over 2^32 pushes). The order
/// never depends on addresses in memory. Time is monotonic: no event is pushed for a time before
/// the last one popped.
pub struct EventQueue<E> {
    slots: [Slot; REACH],
    occupied: [u64; WORDS],
    /// A bit for each word of `occupied` that is not 0.
    occupied_words: u64,
    /// List nodes of the wheel's events; each slot heads a list. Nodes of popped events form the
    /// free list, most recent first.
    links: Vec<EventLink>,
    free: u32,
    /// The event of each node. They are apart from the links so that a list search touches few
    /// cache lines of the host.
    events: Vec<Option<E>>,
    far: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Time of the first event of `far`, or [`NEVER`].
    far_next: u64,
    /// First cycle of the wheel's span.
    from: u64,
    /// Time of the next event, or [`NEVER`].
    next: u64,
    pushed: u32,
}

/// The ordered list of the events of one cycle.
#[derive(Clone, Copy)]
struct Slot {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct EventLink {
    /// The rank in the upper half, the number of the push in the lower.
    order: u64,
    next: u32,
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
            slots: [Slot { first: NONE, last: NONE }; REACH],
            occupied: [0; WORDS],
            occupied_words: 0,
            links: Vec::new(),
            free: NONE,
            events: Vec::new(),
            far: BinaryHeap::new(),
            far_next: NEVER,
            from: 0,
            next: NEVER,
            pushed: 0,
        }
    }
}

#[inline]
fn slot_of(time: u64) -> usize {
    usize::try_from(time % REACH as u64).unwrap_or(0)
}

impl<E> EventQueue<E> {
    /// Schedules an event.
    #[inline]
    pub fn push(&mut self, time: u64, rank: u32, event: E) {
        let order = u64::from(rank) << 32 | u64::from(self.pushed);
        self.pushed = self.pushed.wrapping_add(1);
        if time < self.from + REACH as u64 {
            self.put(time, order, event);
        } else {
            self.far.push(Reverse(Scheduled { time, order, event }));
            self.far_next = self.far_next.min(time);
        }
        self.next = self.next.min(time);
    }

    #[inline]
    fn put(&mut self, time: u64, order: u64, event: E) {
        let place = self.allocate(order, event);
        let slot = slot_of(time);
        let Slot { first, last } = self.slots[slot];
        if first == NONE {
            self.slots[slot] = Slot { first: place, last: place };
            self.occupied[slot / WORD] |= 1 << (slot % WORD);
            self.occupied_words |= 1 << (slot / WORD);
        } else if self.links[last as usize].order < order {
            self.links[last as usize].next = place;
            self.slots[slot].last = place;
        } else if order < self.links[first as usize].order {
            self.links[place as usize].next = first;
            self.slots[slot].first = place;
        } else {
            let mut before = first;
            while self.links[self.links[before as usize].next as usize].order < order {
                before = self.links[before as usize].next;
            }
            self.links[place as usize].next = self.links[before as usize].next;
            self.links[before as usize].next = place;
        }
    }

    /// Stores an event in a node, reusing a free one.
    #[inline]
    fn allocate(&mut self, order: u64, event: E) -> u32 {
        let link = EventLink { order, next: NONE };
        let at = self.free;
        if let Some(place) = self.links.get_mut(at as usize) {
            self.free = place.next;
            *place = link;
            self.events[at as usize] = Some(event);
            return at;
        }
        let at = u32::try_from(self.links.len()).unwrap_or(NONE);
        self.links.push(link);
        self.events.push(Some(event));
        at
    }

    /// Whether no event is scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    /// Time of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        (self.next != NEVER).then_some(self.next)
    }

    /// Removes and returns the next event if its time is `now`.
    #[inline]
    pub fn pop_at(&mut self, now: u64) -> Option<E> {
        if self.next != now || now == NEVER { None } else { self.pop() }
    }

    fn pop(&mut self) -> Option<E> {
        self.from = self.next;
        if self.far_next < self.from + REACH as u64 {
            self.refill_wheel();
        }
        let slot = slot_of(self.from);
        let at = self.slots[slot].first;
        let link = self.links.get_mut(at as usize)?;
        let next = std::mem::replace(&mut link.next, self.free);
        let popped = self.events[at as usize].take();
        self.free = at;
        self.slots[slot].first = next;
        if next == NONE {
            let word = slot / WORD;
            self.occupied[word] &= !(1 << (slot % WORD));
            self.occupied_words &= !(u64::from(self.occupied[word] == 0) << word);
            self.next = self.find_next();
        }
        popped
    }

    /// Moves the far events that are now within the wheel's span into it.
    #[cold]
    fn refill_wheel(&mut self) {
        while self.far_next < self.from + REACH as u64 {
            let Some(Reverse(Scheduled { time, order, event })) = self.far.pop() else { break };
            self.put(time, order, event);
            self.far_next = self.far.peek().map_or(NEVER, |Reverse(first)| first.time);
        }
    }

    /// Time of the next event, or [`NEVER`].
    #[inline]
    fn find_next(&self) -> u64 {
        let slot = slot_of(self.from);
        let word = slot / WORD;
        let same_word = self.occupied[word] >> (slot % WORD);
        if same_word != 0 {
            return self.from + u64::from(same_word.trailing_zeros());
        }
        if self.occupied_words == 0 {
            return self.far_next;
        }
        // The word itself comes last: its slots before this one are a full turn of the wheel ahead.
        let after = u32::try_from(word + 1).unwrap_or(0);
        let further = after + self.occupied_words.rotate_right(after).trailing_zeros();
        let word = further as usize % WORDS;
        let found = word * WORD + self.occupied[word].trailing_zeros() as usize;
        let ahead = found.wrapping_sub(slot) % REACH;
        self.from + ahead as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    #[test]
    fn events_pop_by_time_then_rank_then_push_order() {
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

    /// The queue agrees with a sorted list, however far ahead events are, including events that are
    /// pushed while others of the same time are popped.
    #[test]
    fn the_wheel_pops_in_the_order_of_a_sorted_list() {
        let mut rng = Rng::new(3);
        let (mut queue, mut list) = (EventQueue::default(), Vec::new());
        let (mut now, mut pushed) = (0, 0u32);
        for _ in 0..200_000 {
            let ahead = match rng.below(8) {
                0 => rng.below(4 * REACH as u64),
                1 => REACH as u64 - 1 + rng.below(3),
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
