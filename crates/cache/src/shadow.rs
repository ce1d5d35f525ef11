//! Shadow values: the number of the write that each word of each copy and of memory comes from.

use crate::words::WordMask;

/// The number of the write that each word comes from; 0 before the first.
type WordValues = Vec<u64>;

/// Values of all copies and of memory, for `--check`.
pub struct ShadowValues {
    words: usize,
    writes: u64,
    /// By the block's number in the table of holders: the latest values, and those of memory.
    blocks: Vec<[WordValues; 2]>,
    /// By frame.
    copies: Vec<WordValues>,
}

const LATEST: usize = 0;
const MEMORY: usize = 1;

impl ShadowValues {
    /// Blocks of this number of words, all 0, for this number of frames.
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

    /// The latest values of a block, and those of memory.
    pub fn latest_and_memory(&mut self, number: u32) -> &[WordValues; 2] {
        self.block(number)
    }

    /// The values of a copy.
    pub fn copy(&self, frame: usize) -> &[u64] {
        &self.copies[frame]
    }

    /// Copies the values of memory to a frame.
    pub fn fetch(&mut self, frame: usize, number: u32) {
        let values = self.block(number)[MEMORY].clone();
        self.copies[frame] = values;
    }

    /// Copies the values of a frame to memory.
    pub fn update_memory(&mut self, frame: usize, number: u32) {
        let values = self.copies[frame].clone();
        self.block(number)[MEMORY] = values;
    }

    /// Copies the values of one frame to another.
    pub fn supply(&mut self, from: usize, to: usize) {
        let values = self.copies[from].clone();
        self.copies[to] = values;
    }

    /// The values of a block in memory.
    pub fn memory(&mut self, number: u32) -> Vec<u64> {
        self.block(number)[MEMORY].clone()
    }

    /// Sets the values of a copy.
    pub fn set_copy(&mut self, frame: usize, values: Vec<u64>) {
        self.copies[frame] = values;
    }

    /// Sets some words of a block in memory.
    pub fn set_memory<W: WordMask>(&mut self, number: u32, words: W, values: &[u64]) {
        let sent = values.iter().enumerate().filter(|&(word, _)| has(words, word));
        for (word, &value) in sent {
            self.block(number)[MEMORY][word] = value;
        }
    }

    /// Writes some words in the copies that receive them. Returns the number of the write.
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

    /// Reads some words. Returns the offset within the block of one that is stale.
    pub fn read<W: WordMask>(&mut self, frame: usize, number: u32, words: W) -> Option<u64> {
        // The block may not have been written yet.
        self.block(number);
        let latest = &self.blocks[usize::try_from(number).unwrap_or(usize::MAX)][LATEST];
        let may_find = |word, value| value_at(latest, word) == Some(value);
        self.stale_word(frame, words, may_find).map(|word| 4 * u64::from(word))
    }

    /// The first of some words of a copy whose value a read must not find.
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
