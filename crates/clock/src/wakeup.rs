//! The wake-up table: the cycle in which each processor issues its next operation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time of an event that is not scheduled.
pub const NEVER: u64 = u64::MAX;

const NO_PROCESSOR: usize = usize::MAX;

/// Processors in a group, with one bit each.
const GROUP: usize = 64;
/// Cycles that the wheel spans: one slot each, and one bit of a word for each slot.
const REACH: u64 = 64;

/// The cycle in which each processor issues its next operation. A timing wheel has, for each of the
/// next cycles, the set of processors that issue in it, so that a cycle looks only at those; a heap
/// has the processors that issue later.
pub struct WakeupTable {
    time: Vec<u64>,
    /// Words in a set of processors.
    groups: usize,
    /// The set of each slot.
    wheel: Vec<u64>,
    /// A bit for each slot whose set is not empty.
    occupied: u64,
    far: BinaryHeap<Reverse<(u64, usize)>>,
    /// The cycle of the current round: the first of the wheel's span.
    from: u64,
    /// Processors of this round that have not had their turn.
    due: Vec<u64>,
    /// The first group of `due` that may have members.
    group: usize,
    /// The processor that has its turn, or [`NO_PROCESSOR`].
    turn: usize,
}

impl WakeupTable {
    /// A table of sleeping processors.
    #[must_use]
    pub fn new(processors: usize) -> Self {
        let groups = processors.div_ceil(GROUP);
        Self {
            time: vec![NEVER; processors],
            groups,
            wheel: vec![0; groups * (slot(NEVER) + 1)],
            occupied: 0,
            far: BinaryHeap::new(),
            from: 0,
            due: vec![0; groups],
            group: groups,
            turn: NO_PROCESSOR,
        }
    }

    /// The cycle in which a processor issues, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn time(&self, processor: usize) -> u64 {
        self.time[processor]
    }

    /// Sets the next issue time of the processor that has its turn.
    #[inline]
    pub fn postpone(&mut self, processor: usize, time: u64) {
        debug_assert!(self.time[processor] != NEVER, "only an awake processor is postponed");
        self.time[processor] = time;
    }

    /// Wakes a sleeping processor at this time, which may be in the current round only for the
    /// processor that has its turn.
    #[inline]
    pub fn wake(&mut self, processor: usize, time: u64) {
        debug_assert!(self.time[processor] == NEVER, "only a sleeping processor is woken");
        self.time[processor] = time;
        if processor != self.turn {
            self.put(processor, time);
        }
    }

    /// Lets an awake processor issue earlier than so far, outside its turn.
    pub fn bring_forward(&mut self, processor: usize, time: u64) {
        let before = std::mem::replace(&mut self.time[processor], time);
        debug_assert!(time < before && before != NEVER, "only an awake processor issues earlier");
        self.take_out(processor, before);
        self.put(processor, time);
    }

    /// Puts a processor to sleep: its next issue time is unknown.
    #[inline]
    pub fn sleep(&mut self, processor: usize) {
        let time = std::mem::replace(&mut self.time[processor], NEVER);
        if processor != self.turn && time != NEVER {
            self.take_out(processor, time);
        }
    }

    /// Begins the round of all processors that issue at this time; none issues before it.
    #[inline]
    pub fn begin_round(&mut self, now: u64) {
        self.from = now;
        if self.far_next() < now.saturating_add(REACH) {
            self.refill_wheel();
        }
        self.group = self.groups;
        let bit = 1 << slot(now);
        if self.occupied & bit != 0 {
            self.occupied ^= bit;
            let set = slot(now) * self.groups;
            self.due.swap_with_slice(&mut self.wheel[set..set + self.groups]);
            self.group = 0;
        }
    }

    /// Gives the turn to the lowest processor of the round that has not had it.
    #[inline]
    pub fn next_turn(&mut self) -> Option<usize> {
        while let Some(members) = self.due.get_mut(self.group) {
            if *members != 0 {
                let member = members.trailing_zeros() as usize;
                *members &= *members - 1;
                self.turn = self.group * GROUP + member;
                return Some(self.turn);
            }
            self.group += 1;
        }
        None
    }

    /// Returns the turn of the processor that [`Self::next_turn`] returned last.
    pub fn put_back(&mut self, processor: usize) {
        self.turn = NO_PROCESSOR;
        self.due[processor / GROUP] |= 1 << (processor % GROUP);
    }

    /// Ends the turn of a processor.
    #[inline]
    pub fn end_turn(&mut self, processor: usize) {
        self.turn = NO_PROCESSOR;
        let time = self.time[processor];
        if time != NEVER {
            self.put(processor, time);
        }
    }

    /// The earliest issue time of any processor, once all have had their turn.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> u64 {
        let in_wheel = if self.occupied == 0 {
            NEVER
        } else {
            let ahead = self.occupied.rotate_right((self.from % REACH) as u32).trailing_zeros();
            self.from + u64::from(ahead)
        };
        in_wheel.min(self.far_next())
    }

    /// The earliest issue time beyond the wheel's span, or [`NEVER`].
    #[inline]
    fn far_next(&self) -> u64 {
        self.far.peek().map_or(NEVER, |Reverse((time, _))| *time)
    }

    #[inline]
    fn put(&mut self, processor: usize, time: u64) {
        if time - self.from < REACH {
            self.wheel[slot(time) * self.groups + processor / GROUP] |= 1 << (processor % GROUP);
            self.occupied |= 1 << slot(time);
        } else {
            self.far.push(Reverse((time, processor)));
        }
    }

    /// Removes a processor that was woken and sleeps again before its turn.
    #[cold]
    fn take_out(&mut self, processor: usize, time: u64) {
        let set = slot(time) * self.groups;
        let group = &mut self.wheel[set + processor / GROUP];
        let member = 1 << (processor % GROUP);
        if *group & member == 0 {
            self.far.retain(|&Reverse((_, other))| other != processor);
            return;
        }
        *group &= !member;
        if self.wheel[set..set + self.groups].iter().all(|&members| members == 0) {
            self.occupied &= !(1 << slot(time));
        }
    }

    /// Moves processors that are now within the wheel's span from the heap into the wheel.
    #[cold]
    fn refill_wheel(&mut self) {
        while let Some(&Reverse((time, processor))) = self.far.peek()
            && time - self.from < REACH
        {
            self.far.pop();
            self.put(processor, time);
        }
    }
}

#[inline]
fn slot(time: u64) -> usize {
    (time % REACH) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    /// The processors that have their turn at this time; `next` gives the next time of each.
    fn round(table: &mut WakeupTable, now: u64, mut next: impl FnMut(usize) -> u64) -> Vec<usize> {
        table.begin_round(now);
        let mut turns = Vec::new();
        while let Some(processor) = table.next_turn() {
            assert_eq!(table.time(processor), now);
            match next(processor) {
                NEVER => table.sleep(processor),
                time => table.postpone(processor, time),
            }
            table.end_turn(processor);
            turns.push(processor);
        }
        turns
    }

    #[test]
    fn any_number_of_processors_can_be_awake() {
        for processors in [3, 64, 65, 1024] {
            let mut table = WakeupTable::new(processors);
            assert_eq!(table.earliest(), NEVER);
            let (middle, last) = (processors / 2, processors - 1);
            table.wake(last, 7);
            table.wake(0, 7);
            table.wake(middle, 9);
            assert_eq!(table.earliest(), 7);
            let turns = round(&mut table, 7, |processor| if processor == 0 { 8 } else { NEVER });
            assert_eq!((turns, table.earliest()), (vec![0, last], 8));
            assert_eq!(round(&mut table, 8, |_| NEVER), [0]);
            table.wake(last, 1000);
            assert_eq!(round(&mut table, 9, |_| 999), [middle]);
            assert_eq!(table.earliest(), 999);
            assert_eq!(round(&mut table, 999, |_| NEVER), [middle]);
            assert_eq!(round(&mut table, 1000, |_| NEVER), [last]);
            assert_eq!(table.earliest(), NEVER);
        }
    }

    #[test]
    fn a_processor_woken_during_its_turn_continues_in_it() {
        let mut table = WakeupTable::new(2);
        table.wake(1, 4);
        table.begin_round(4);
        assert_eq!(table.next_turn(), Some(1));
        table.sleep(1);
        table.wake(1, 4);
        assert_eq!(table.time(1), 4);
        table.postpone(1, 6);
        table.end_turn(1);
        assert_eq!((table.next_turn(), table.earliest()), (None, 6));
    }

    #[test]
    fn a_processor_that_sleeps_again_before_its_turn_gets_none() {
        let mut table = WakeupTable::new(70);
        for (processor, time) in [(1, 4), (69, 4), (2, 500), (3, 600)] {
            table.wake(processor, time);
        }
        table.sleep(69);
        table.sleep(2);
        assert_eq!(round(&mut table, 4, |_| NEVER), [1]);
        assert_eq!(table.earliest(), 600);
        table.wake(1, 5);
        table.sleep(1);
        assert_eq!(table.earliest(), 600);
        assert_eq!(round(&mut table, 600, |_| NEVER), [3]);
    }

    #[test]
    fn a_processor_that_is_put_back_gets_the_next_turn() {
        let mut table = WakeupTable::new(130);
        [0, 63, 64, 65, 129].iter().for_each(|&processor| table.wake(processor, 1));
        table.begin_round(1);
        assert_eq!(
            [table.next_turn(), table.next_turn(), table.next_turn()].last(),
            Some(&Some(64))
        );
        table.put_back(64);
        let rest: Vec<usize> = std::iter::from_fn(|| table.next_turn()).collect();
        assert_eq!(rest, [64, 65, 129]);
    }

    /// The table agrees with a list of all times, however far ahead they are.
    #[test]
    fn the_wheel_agrees_with_a_list_of_times() {
        let mut rng = Rng::new(5);
        let mut table = WakeupTable::new(70);
        let mut times = [NEVER; 70];
        let mut now = 0;
        for _ in 0..20_000 {
            let sleeper = usize::try_from(rng.below(70)).unwrap();
            if times[sleeper] == NEVER {
                times[sleeper] = now + rng.below(3) * rng.below(100);
                table.wake(sleeper, times[sleeper]);
            }
            let hurried = usize::try_from(rng.below(70)).unwrap();
            if times[hurried] != NEVER && times[hurried] > now + 1 {
                times[hurried] = now + 1 + rng.below(times[hurried] - now - 1);
                table.bring_forward(hurried, times[hurried]);
            }
            let earliest = times.iter().copied().min().unwrap();
            assert_eq!(table.earliest(), earliest);
            now = earliest;
            let expected: Vec<usize> = (0..70).filter(|&at| times[at] == now).collect();
            let turns = round(&mut table, now, |processor| {
                let ahead = [1, 5, 63, 64, 65, 700, 0][usize::try_from(rng.below(7)).unwrap()];
                times[processor] = if ahead == 0 { NEVER } else { now + ahead };
                times[processor]
            });
            assert_eq!(turns, expected);
        }
    }
}
