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
}

impl WakeupTable {
    /// For so many processors, none of which issues.
    #[must_use]
    pub fn new(processors: usize) -> Self {
        Self { time: vec![NEVER; processors], awake: vec![0; processors.div_ceil(GROUP)] }
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
        self.awake[processor / GROUP] |= 1 << (processor % GROUP);
    }

    /// It is not known when the processor issues.
    #[inline]
    pub fn sleep(&mut self, processor: usize) {
        self.time[processor] = NEVER;
        self.awake[processor / GROUP] &= !(1 << (processor % GROUP));
    }

    /// When somebody issues next.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> u64 {
        let (mut earliest, mut times) = (NEVER, &self.time[..]);
        for &awake in &self.awake {
            earliest = members(awake).fold(earliest, |earliest, bit| earliest.min(times[bit]));
            times = times.get(GROUP..).unwrap_or_default();
        }
        earliest
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

/// The positions of the ones, lowest first.
fn members(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        usize::try_from(first).ok()
    })
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

    #[test]
    fn any_number_of_processors_can_be_awake() {
        for processors in [3, 64, 65, 1024] {
            let mut table = WakeupTable::new(processors);
            assert_eq!((table.earliest(), at(&table, 0)), (NEVER, vec![]));
            let (middle, last) = (processors / 2, processors - 1);
            table.wake(last, 7);
            table.wake(0, 7);
            table.wake(middle, 9);
            assert_eq!((table.earliest(), at(&table, 7)), (7, vec![0, last]));
            table.wake(0, 8);
            table.sleep(last);
            assert_eq!((table.earliest(), at(&table, 8)), (8, vec![0]));
            table.sleep(0);
            assert_eq!((table.earliest(), at(&table, 9)), (9, vec![middle]));
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
