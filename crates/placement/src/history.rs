//! Histories: for each block its references in Time order, run-length coded.

use std::ops::AddAssign;

use homenode_base::{BlockSize, ProcId, Time};

use crate::tally::Tally;

/// References to one block by one processor, with no other processor's references between them.
///
/// Either reads only (`writes` is 0), or `repeats` times `writes` writes followed by `reads` reads.
/// Only the first reference's Time is kept. Policies are exact all the same, because two references
/// always begin a run: the first write after another processor's reference, and the first reference
/// after every multiple of the requested split periods.
///
/// ```text
/// visit of one processor   R R R W R R W R R W W R
/// runs                     [R3] [(W R2) x 2] [W2 R]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Time of the first reference in the upper 48 bits, the processor in the lower 16.
    time_and_processor: u64,
    repeats: u32,
    writes: u16,
    reads: u16,
}

impl Run {
    /// A run; `time` must be below 2^48.
    #[must_use]
    pub fn new(time: Time, processor: ProcId, repeats: u32, writes: u16, reads: u16) -> Self {
        debug_assert!(time < 1 << 48 && repeats > 0);
        Self { time_and_processor: time << 16 | u64::from(processor), repeats, writes, reads }
    }

    /// Time of the first reference and the processor, packed as in the run.
    pub(crate) fn time_and_processor(self) -> u64 {
        self.time_and_processor
    }

    /// Repeats, writes and reads of one repetition.
    pub(crate) fn shape(self) -> (u32, u16, u16) {
        (self.repeats, self.writes, self.reads)
    }

    /// A run from [`time_and_processor`](Self::time_and_processor) and the [`shape`](Self::shape).
    pub(crate) fn from_packed(
        time_and_processor: u64,
        repeats: u32,
        writes: u16,
        reads: u16,
    ) -> Self {
        Self { time_and_processor, repeats, writes, reads }
    }

    /// Time of the first reference.
    #[must_use]
    pub fn time(self) -> Time {
        self.time_and_processor >> 16
    }

    /// The processor that made the references.
    #[must_use]
    pub fn processor(self) -> ProcId {
        let [low, high, ..] = self.time_and_processor.to_le_bytes();
        ProcId::from_le_bytes([low, high])
    }

    /// Writes at the beginning of each repetition.
    #[must_use]
    pub fn cycle_writes(self) -> u64 {
        u64::from(self.writes)
    }

    /// Reads at the end of each repetition.
    #[must_use]
    pub fn cycle_reads(self) -> u64 {
        u64::from(self.reads)
    }

    /// Repetitions, at least 1.
    #[must_use]
    pub fn repeats(self) -> u64 {
        u64::from(self.repeats)
    }

    /// All reads of the run.
    #[must_use]
    pub fn reads(self) -> u64 {
        u64::from(self.reads) * u64::from(self.repeats)
    }

    /// All writes of the run.
    #[must_use]
    pub fn writes(self) -> u64 {
        u64::from(self.writes) * u64::from(self.repeats)
    }

    /// All references of the run.
    #[must_use]
    pub fn references(self) -> u64 {
        (u64::from(self.reads) + u64::from(self.writes)) * u64::from(self.repeats)
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        self.writes == 0
    }

    /// The numbers of reads and of writes among the first `count` references.
    #[must_use]
    pub fn prefix(self, count: u64) -> (u64, u64) {
        let cycle = self.cycle_writes() + self.cycle_reads();
        let in_last = (count % cycle).min(self.cycle_writes());
        let writes = count / cycle * self.cycle_writes() + in_last;
        (count - writes, writes)
    }

    /// Position of the write with this number among those of a run that has any.
    #[must_use]
    pub fn position_of_write(self, number: u64) -> u64 {
        let (writes, reads) = (self.cycle_writes(), self.cycle_reads());
        number / writes * (writes + reads) + number % writes
    }

    /// Position of the first write at or after position `from`, if there is one.
    #[must_use]
    pub fn next_write(self, from: u64) -> Option<u64> {
        if self.is_read_only() || from >= self.references() {
            return None;
        }
        let cycle = self.cycle_writes() + self.cycle_reads();
        let at = if from % cycle < self.cycle_writes() { from } else { (from / cycle + 1) * cycle };
        (at < self.references()).then_some(at)
    }
}

/// One block and its history.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Number of the block: address divided by block size.
    pub number: u64,
    /// Its references in Time order, at least one run.
    pub runs: &'a [Run],
}

/// All histories of a trace, or of one shard of it, at one block size.
#[derive(Clone, Debug)]
pub struct Histories {
    pub(crate) block_size: BlockSize,
    pub(crate) processors: u16,
    pub(crate) numbers: Vec<u64>,
    /// Where each block's runs begin, and one past the end.
    pub(crate) offsets: Vec<usize>,
    pub(crate) runs: Vec<Run>,
    /// What was counted.
    pub totals: HistoryTotals,
}

/// Numbers of references. Only the first shard of a trace has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryTotals {
    /// Data references taken into account, each counted once, even if it touches several blocks.
    pub references: u64,
    /// References that are counted without a history: private ones, counted as local, one per block
    /// touched.
    pub outside: Tally,
    /// The references in `outside`, each counted once.
    pub outside_references: u64,
}

impl AddAssign<&Self> for HistoryTotals {
    fn add_assign(&mut self, other: &Self) {
        self.references += other.references;
        self.outside += &other.outside;
        self.outside_references += other.outside_references;
    }
}

impl Histories {
    /// The block size.
    #[must_use]
    pub fn block_size(&self) -> BlockSize {
        self.block_size
    }

    /// Processors of the machine: thread i runs on processor i modulo this.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.processors
    }

    /// Number of blocks with a history.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether no block has a history.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Block `i`, in order of first reference.
    ///
    /// # Panics
    /// When `i` is not below [`len`](Self::len).
    #[must_use]
    pub fn block(&self, i: usize) -> Block<'_> {
        Block { number: self.numbers[i], runs: &self.runs[self.offsets[i]..self.offsets[i + 1]] }
    }

    /// All blocks in order of first reference.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.len()).map(|i| self.block(i))
    }

    /// Runs of all blocks together.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_sixteen_bytes() {
        assert_eq!(size_of::<Run>(), 16);
    }

    #[test]
    fn prefix_and_writes_agree_with_the_spelled_out_run() {
        let run = Run::new(5, 1023, 3, 2, 3);
        let spelled: Vec<bool> = [true, true, false, false, false].repeat(3);
        assert_eq!((run.time(), run.processor(), run.references()), (5, 1023, 15));
        for k in 0..=15u64 {
            let writes = spelled.iter().zip(0..k).filter(|(w, _)| **w).count() as u64;
            assert_eq!(run.prefix(k), (k - writes, writes), "{k}");
            let next = (k..15).find(|&i| spelled[usize::try_from(i).unwrap()]);
            assert_eq!(run.next_write(k), next, "{k}");
        }
        let positions = (0..15).filter(|&i| spelled[i]).map(|i| i as u64);
        assert!(positions.eq((0..6).map(|number| run.position_of_write(number))));
        assert_eq!(Run::new(0, 0, 2, 0, 4).next_write(0), None);
    }
}
