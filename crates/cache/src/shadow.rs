//! Shadow values: which write every word of every copy and of memory comes from.

use crate::words::WordMask;

/// The number of the write that each word comes from; 0 before the first.
type WordValues = Vec<u64>;

/// Values of all copies and of memory, for `--check`.
pub struct ShadowValues {
    words: usize,
    writes: u64,
    /// By the block's number in the table of holders: what was written last, and what memory has.
    blocks: Vec<[WordValues; 2]>,
    /// By frame.
    copies: Vec<WordValues>,
}

const LATEST: usize = 0;
const MEMORY: usize = 1;

impl ShadowValues {
    /// Blocks of so many words, all 0, in so many frames.
    #[must_use]
    pub fn new(words: usize, frames: usize) -> Self {
        let copies = vec![WordValues::new(); frames];
        Self { words, writes: 0, blocks: Vec::new(), copies }
    }

    fn block(&mut self, number: u32) -> &mut [WordValues; 2] {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if self.blocks.len() <= number {
            let none = vec![0; self.words];
            self.blocks.resize_with(number + 1, || [none.clone(), none.clone()]);
        }
        &mut self.blocks[number]
    }

    /// What was written last to the words of a block, and what memory has.
    pub fn latest_and_memory(&mut self, number: u32) -> &[WordValues; 2] {
        self.block(number)
    }

    /// What a copy has.
    pub fn copy(&self, frame: usize) -> &[u64] {
        &self.copies[frame]
    }

    /// The copy gets what memory has.
    pub fn fetch(&mut self, frame: usize, number: u32) {
        let values = self.block(number)[MEMORY].clone();
        self.copies[frame] = values;
    }

    /// Memory gets what the copy has.
    pub fn update_memory(&mut self, frame: usize, number: u32) {
        let values = self.copies[frame].clone();
        self.block(number)[MEMORY] = values;
    }

    /// One copy gets what another has.
    pub fn supply(&mut self, from: usize, to: usize) {
        let values = self.copies[from].clone();
        self.copies[to] = values;
    }

    /// What memory has of a block, to be sent.
    pub fn memory(&mut self, number: u32) -> Vec<u64> {
        self.block(number)[MEMORY].clone()
    }

    /// The copy gets values that were sent.
    pub fn set_copy(&mut self, frame: usize, values: Vec<u64>) {
        self.copies[frame] = values;
    }

    /// Memory gets some words of values that were sent.
    pub fn set_memory<W: WordMask>(&mut self, number: u32, words: W, values: &[u64]) {
        let sent = values.iter().enumerate().filter(|&(word, _)| has(words, word));
        for (word, &value) in sent {
            self.block(number)[MEMORY][word] = value;
        }
    }

    /// A write of some words, which some copies take. Returns its number.
    pub fn write<W: WordMask>(
        &mut self,
        number: u32,
        words: W,
        takers: impl Iterator<Item = usize> + Clone,
    ) -> u64 {
        self.writes += 1;
        let value = self.writes;
        for word in (0..self.words).filter(|&word| has(words, word)) {
            self.block(number)[LATEST][word] = value;
            for frame in takers.clone() {
                if let Some(taken) = self.copies[frame].get_mut(word) {
                    *taken = value;
                }
            }
        }
        value
    }

    /// A read of some words. Returns where in the block one is stale.
    pub fn read<W: WordMask>(&mut self, frame: usize, number: u32, words: W) -> Option<u64> {
        // A block that nobody has written yet is known from here on.
        self.block(number);
        let latest = &self.blocks[usize::try_from(number).unwrap_or(usize::MAX)][LATEST];
        let may_find = |word, value| value_at(latest, word) == Some(value);
        self.stale_word(frame, words, may_find).map(|word| 4 * u64::from(word))
    }

    /// The first of some words of a copy that has what a read may not find there.
    pub fn stale_word<W: WordMask>(
        &self,
        frame: usize,
        words: W,
        mut may_find: impl FnMut(u32, u64) -> bool,
    ) -> Option<u32> {
        let copy = &self.copies[frame];
        let mut touched = words.numbers();
        touched.find(|&word| value_at(copy, word).is_none_or(|value| !may_find(word, value)))
    }
}

/// The value of a word of a block, if it has that word.
#[must_use]
pub fn value_at(block: &[u64], word: u32) -> Option<u64> {
    usize::try_from(word).ok().and_then(|word| block.get(word)).copied()
}

fn has<W: WordMask>(words: W, word: usize) -> bool {
    let word = u32::try_from(word).unwrap_or(u32::MAX);
    words.meets(W::range(word, word))
}
