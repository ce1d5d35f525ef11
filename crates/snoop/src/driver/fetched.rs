//! The blocks that each process has fetched, to tell the misses that switches of processes cause.

use std::hint::select_unpredictable;

use crate::counts::ContextSwitchMisses;

/// For each process, the blocks that it fetched and that no reference of its own replaced since. If
/// one of them misses as a cold or replaced block, another process replaced it, or the process has
/// left it in the cache of another processor.
///
/// Caches of one kind (for data, for instructions) share a process's set: it follows the process.
#[derive(Debug, Default)]
pub(super) struct FetchedBlocks {
    /// By cache: the set of the process that runs there.
    current: Vec<usize>,
    /// Sets of blocks, as bits by the number of the block.
    sets: Vec<Vec<u64>>,
    pub(super) misses: ContextSwitchMisses,
}

impl FetchedBlocks {
    pub(super) fn new(caches: usize) -> Self {
        Self { current: vec![0; caches], ..Self::default() }
    }

    /// From now on references of a cache are those of the process with this set.
    pub(super) fn switch(&mut self, cache: usize, set: usize) {
        self.current[cache] = set;
        if self.sets.len() <= set {
            self.sets.resize(set + 1, Vec::new());
        }
    }

    /// Adds a block that the running process fetches.
    pub(super) fn fetch(&mut self, cache: usize, number: u32) {
        add(&mut self.sets[self.current[cache]], number);
    }

    /// Counts a miss on a block that the cache had before, or not, and that replaces another one.
    pub(super) fn miss(&mut self, cache: usize, number: u32, replaced: Option<u32>, had: bool) {
        let set = &mut self.sets[self.current[cache]];
        let again = add(set, number);
        let ContextSwitchMisses { cold, replacement } = &mut self.misses;
        *select_unpredictable(had, replacement, cold) += again;
        if let Some(number) = replaced {
            let (word, bit) = place(number);
            if let Some(word) = set.get_mut(word) {
                *word &= !bit;
            }
        }
    }
}

/// Adds a block. Returns 1 if it was there, else 0.
#[inline]
fn add(set: &mut Vec<u64>, number: u32) -> u64 {
    let (word, bit) = place(number);
    if set.len() <= word {
        grow(set, word);
    }
    let before = set[word];
    set[word] = before | bit;
    before >> (number % 64) & 1
}

#[cold]
fn grow(set: &mut Vec<u64>, word: usize) {
    set.resize((word + 1).next_power_of_two(), 0);
}

#[inline]
fn place(number: u32) -> (usize, u64) {
    (usize::try_from(number / 64).unwrap_or(usize::MAX), 1 << (number % 64))
}
