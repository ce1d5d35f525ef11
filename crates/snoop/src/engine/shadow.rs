//! Shadow values: which write every word of every copy and of memory comes from.

use super::words::Words;

/// The number of the write that each word comes from; 0 before the first.
type Values = Vec<u64>;

/// Values of all copies and of memory, for `--check`.
pub(crate) struct Shadow {
    words: usize,
    writes: u64,
    /// By the directory's number of a block: what was written last, and what memory has.
    blocks: Vec<[Values; 2]>,
    /// By frame.
    copies: Vec<Values>,
}

const LATEST: usize = 0;
const MEMORY: usize = 1;

impl Shadow {
    pub(crate) fn new(words: usize, frames: usize) -> Self {
        let copies = vec![Values::new(); frames];
        Self { words, writes: 0, blocks: Vec::new(), copies }
    }

    fn block(&mut self, number: u32) -> &mut [Values; 2] {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if self.blocks.len() <= number {
            let none = vec![0; self.words];
            self.blocks.resize_with(number + 1, || [none.clone(), none.clone()]);
        }
        &mut self.blocks[number]
    }

    /// What was written last to the words of a block, and what memory has.
    pub(crate) fn latest_and_memory(&mut self, number: u32) -> &[Values; 2] {
        self.block(number)
    }

    /// What a copy has.
    pub(crate) fn copy(&self, frame: usize) -> &[u64] {
        &self.copies[frame]
    }

    /// The copy gets what memory has.
    pub(crate) fn fetch(&mut self, frame: usize, number: u32) {
        let values = self.block(number)[MEMORY].clone();
        self.copies[frame] = values;
    }

    /// Memory gets what the copy has.
    pub(crate) fn update_memory(&mut self, frame: usize, number: u32) {
        let values = self.copies[frame].clone();
        self.block(number)[MEMORY] = values;
    }

    /// One copy gets what another has.
    pub(crate) fn supply(&mut self, from: usize, to: usize) {
        let values = self.copies[from].clone();
        self.copies[to] = values;
    }

    /// A write of some words, which some copies take.
    pub(crate) fn write<W: Words>(
        &mut self,
        number: u32,
        words: W,
        takers: impl Iterator<Item = usize> + Clone,
    ) {
        self.writes += 1;
        let value = self.writes;
        for word in (0..self.words).filter(|&word| has(words, word)) {
            self.block(number)[LATEST][word] = value;
            for frame in takers.clone() {
                self.copies[frame][word] = value;
            }
        }
    }

    /// A read of some words. Returns where in the block one is stale.
    pub(crate) fn read<W: Words>(
        &mut self,
        (frame, number): (usize, u32),
        words: W,
    ) -> Option<u64> {
        let copy = std::mem::take(&mut self.copies[frame]);
        let latest = &self.block(number)[LATEST];
        let stale = (0..latest.len()).find(|&w| has(words, w) && copy.get(w) != latest.get(w));
        self.copies[frame] = copy;
        stale.map(|word| 4 * word as u64)
    }
}

fn has<W: Words>(words: W, word: usize) -> bool {
    let word = u32::try_from(word).unwrap_or(u32::MAX);
    words.meets(W::range(word, word))
}
