//! Completed runs on their way from the builder to the histories.

use homenode_base::{BlockSize, ProcId};

use crate::history::{Histories, HistoryTotals, Run};

/// The number of parts in which histories can be taken; each is sorted separately.
pub const PARTS: usize = 8;

/// Runs per chunk of a list, so that it grows without being copied.
const CHUNK_RUNS: usize = 1 << 14;

const WIDE: u32 = u32::MAX;

/// A run with the index of its block.
///
/// ```text
/// shape   31        16 15     8 7      0
///         [ repeats  ] [writes] [reads ]
/// ```
#[derive(Clone, Copy)]
struct ListedRun {
    time_and_processor: u64,
    index: u32,
    shape: u32,
}

/// Runs of some blocks, in order of completion.
#[derive(Default)]
pub(crate) struct RunList {
    chunks: Vec<Vec<ListedRun>>,
    /// Repeats, writes and reads of the runs whose shape is [`WIDE`], in order.
    wide: Vec<(u32, u16, u16)>,
    len: usize,
}

impl RunList {
    #[inline]
    fn push(&mut self, index: u32, run: Run) {
        let (repeats, writes, reads) = (run.repeats(), run.cycle_writes(), run.cycle_reads());
        // Nearly all runs are short: their counts share one word; others go into the wide list.
        let packed = repeats << 16 | writes << 8 | reads;
        let narrow = repeats < 1 << 16 && writes < 1 << 8 && reads < 1 << 8;
        let shape = u32::try_from(packed).ok().filter(|&shape| narrow && shape != WIDE);
        if shape.is_none() {
            self.wide.push(run.shape());
        }
        if self.len.is_multiple_of(CHUNK_RUNS) {
            self.chunks.push(Vec::with_capacity(CHUNK_RUNS));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            let time_and_processor = run.time_and_processor();
            chunk.push(ListedRun { time_and_processor, index, shape: shape.unwrap_or(WIDE) });
        }
        self.len += 1;
    }

    /// Passes every run to `take`, in order, and frees each chunk once it is read.
    pub(crate) fn drain(self, mut take: impl FnMut(u32, Run)) {
        let mut wide = self.wide.into_iter();
        for chunk in self.chunks {
            for listed in chunk {
                let (repeats, writes, reads) = if listed.shape == WIDE {
                    wide.next().unwrap_or_default()
                } else {
                    let [reads, writes, low, high] = listed.shape.to_le_bytes();
                    let repeats = u16::from_le_bytes([low, high]);
                    (u32::from(repeats), u16::from(writes), u16::from(reads))
                };
                let packed = listed.time_and_processor;
                take(listed.index, Run::from_packed(packed, repeats, writes, reads));
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct RunLists(pub(crate) [RunList; PARTS]);

impl RunLists {
    #[inline]
    pub(crate) fn push(&mut self, index: u32, run: Run) {
        self.0[place(index) % PARTS].push(index, run);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|list| list.len).sum()
    }
}

/// All runs of a shard of a trace, not yet sorted by block.
pub struct UnsortedHistories {
    pub(crate) block_size: BlockSize,
    pub(crate) processors: ProcId,
    pub(crate) numbers: Vec<u64>,
    pub(crate) runs: RunLists,
    /// What was counted.
    pub totals: HistoryTotals,
}

impl UnsortedHistories {
    /// Removes and returns the histories of one part, below [`PARTS`]. Their totals are 0.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn take(&mut self, part: usize) -> Histories {
        let numbers = self.numbers.iter().skip(part).step_by(PARTS).copied().collect();
        let list = std::mem::take(&mut self.runs.0[part]);
        self.sort(numbers, vec![list], |index| place(index) / PARTS)
    }

    pub(crate) fn take_all(&mut self) -> Histories {
        let numbers = std::mem::take(&mut self.numbers);
        let lists = std::mem::take(&mut self.runs).0.into();
        let histories = self.sort(numbers, lists, place);
        Histories { totals: self.totals.clone(), ..histories }
    }

    /// Counting sort of the runs by block, keeping their order within each.
    fn sort(
        &self,
        numbers: Vec<u64>,
        lists: Vec<RunList>,
        place: impl Fn(u32) -> usize,
    ) -> Histories {
        // The sizes of all blocks come first, so that each run is written once, to its final place.
        let mut offsets = vec![0usize; numbers.len() + 1];
        let mut len = 0;
        for list in &lists {
            len += list.len;
            for listed in list.chunks.iter().flatten() {
                offsets[place(listed.index) + 1] += 1;
            }
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut runs = vec![Run::new(0, 0, 1, 0, 1); len];
        for list in lists {
            list.drain(|index, run| {
                let slot = &mut next[place(index)];
                runs[*slot] = run;
                *slot += 1;
            });
        }
        Histories {
            block_size: self.block_size,
            processors: self.processors,
            numbers,
            offsets,
            runs,
            totals: HistoryTotals::default(),
        }
    }
}

fn place(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_run_is_sixteen_bytes() {
        assert_eq!(size_of::<ListedRun>(), 16);
    }

    #[test]
    fn shapes_of_any_size_are_restored() {
        let mut list = RunList::default();
        let sizes = [0u16, 1, 255, 256, u16::MAX];
        let mut expected = Vec::new();
        for repeats in [1u32, 65_535, 65_536, u32::MAX] {
            for writes in sizes {
                for reads in sizes.into_iter().filter(|&reads| reads > 0 || writes > 0) {
                    let run = Run::new(7, 1023, repeats, writes, reads);
                    list.push(u32::try_from(expected.len()).unwrap(), run);
                    expected.push(run);
                }
            }
        }
        let mut found = Vec::new();
        list.drain(|index, run| {
            assert_eq!(place(index), found.len());
            found.push(run);
        });
        assert_eq!(found, expected);
    }
}
