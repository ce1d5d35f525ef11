//! The wake-up table: when each processor issues its next operation.

/// No known time.
pub const NEVER: u64 = u64::MAX;

/// Processors in a group: one bit each.
const GROUP: usize = 64;

/// When each processor issues its next operation. Most wait for memory most of the time: only the
/// others are looked through.
pub struct WakeupTable {
    time: Vec<u64>,
    /// By group, a bit for each processor that issues at a known time.
    awake: Vec<u64>,
    /// The earliest time of those who were looked at or woken since [`Self::begin_round`].
    earliest: u64,
}

impl WakeupTable {
    /// For so many processors, none of which issues.
    #[must_use]
    pub fn new(processors: usize) -> Self {
        let awake = vec![0; processors.div_ceil(GROUP)];
        Self { time: vec![NEVER; processors], awake, earliest: NEVER }
    }

    /// When a processor issues, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn time(&self, processor: usize) -> u64 {
        self.time[processor]
    }

    /// A processor that issues at a known time does so at this time.
    #[inline]
    pub fn postpone(&mut self, processor: usize, time: u64) {
        debug_assert!(self.time[processor] != NEVER, "only who is awake is put off");
        self.time[processor] = time;
    }

    /// The processor issues at this time.
    #[inline]
    pub fn wake(&mut self, processor: usize, time: u64) {
        self.time[processor] = time;
        self.earliest = self.earliest.min(time);
        self.awake[processor / GROUP] |= 1 << (processor % GROUP);
    }

    /// It is not known when the processor issues.
    #[inline]
    pub fn sleep(&mut self, processor: usize) {
        self.time[processor] = NEVER;
        self.awake[processor / GROUP] &= !(1 << (processor % GROUP));
    }

    /// Everybody who is awake is looked at again.
    #[inline]
    pub fn begin_round(&mut self) {
        self.earliest = NEVER;
    }

    /// A processor was looked at, and has issued what it issues now.
    #[inline]
    pub fn end_turn(&mut self, processor: usize) {
        self.earliest = self.earliest.min(self.time[processor]);
    }

    /// When somebody issues next, after all who are awake were looked at.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> u64 {
        debug_assert_eq!(self.earliest, self.search(), "everybody was looked at");
        self.earliest
    }

    /// The same from everybody's time.
    fn search(&self) -> u64 {
        self.time.iter().copied().min().unwrap_or(NEVER)
    }

    /// The processors that issue at a known time, from this processor on.
    #[inline]
    #[must_use]
    pub fn awake_from(&self, from: usize) -> AwakeProcessors {
        let group = from / GROUP;
        // Those below `from` have had their turn.
        AwakeProcessors { group, members: self.awake[group] & (u64::MAX << (from % GROUP)) }
    }
}

/// Goes through the processors that are awake, the lowest first. A group is looked up once, when it
/// is reached: the table may change meanwhile, but for who is woken.
pub struct AwakeProcessors {
    group: usize,
    members: u64,
}

impl AwakeProcessors {
    /// The next one.
    #[inline]
    pub fn next(&mut self, table: &WakeupTable) -> Option<usize> {
        while self.members == 0 {
            self.group += 1;
            self.members = *table.awake.get(self.group)?;
        }
        let member = self.members.trailing_zeros() as usize;
        self.members &= self.members - 1;
        Some(self.group * GROUP + member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awake(table: &WakeupTable, from: usize) -> Vec<usize> {
        let mut awake = table.awake_from(from);
        std::iter::from_fn(|| awake.next(table)).collect()
    }

    /// Those who issue at this time.
    fn at(table: &WakeupTable, time: u64) -> Vec<usize> {
        let mut awake = awake(table, 0);
        awake.retain(|&processor| table.time(processor) == time);
        awake
    }

    /// When somebody issues next, after a look at everybody.
    fn earliest(table: &mut WakeupTable) -> u64 {
        table.begin_round();
        for processor in awake(table, 0) {
            table.end_turn(processor);
        }
        table.earliest()
    }

    #[test]
    fn any_number_of_processors_can_be_awake() {
        for processors in [3, 64, 65, 1024] {
            let mut table = WakeupTable::new(processors);
            assert_eq!((earliest(&mut table), at(&table, 0)), (NEVER, vec![]));
            let (middle, last) = (processors / 2, processors - 1);
            table.wake(last, 7);
            table.wake(0, 7);
            table.wake(middle, 9);
            assert_eq!((earliest(&mut table), at(&table, 7)), (7, vec![0, last]));
            table.wake(0, 8);
            table.sleep(last);
            assert_eq!((earliest(&mut table), at(&table, 8)), (8, vec![0]));
            table.sleep(0);
            assert_eq!((earliest(&mut table), at(&table, 9)), (9, vec![middle]));
            table.wake(last, 3);
            assert_eq!(at(&table, 3), [last]);
        }
    }

    #[test]
    fn those_who_had_their_turn_are_left_out() {
        let mut table = WakeupTable::new(130);
        [0, 63, 64, 65, 129].iter().for_each(|&processor| table.wake(processor, 1));
        assert_eq!(awake(&table, 65), [65, 129]);
        assert_eq!(awake(&table, 1), [63, 64, 65, 129]);
    }
}
