//! Shadow values: which write every word of every copy and of memory comes from.

use super::CheckError;
use super::words::Words;

/// The number of the write that each word comes from; 0 before the first.
type Values = Vec<u64>;

/// Values of all copies and of memory, for `--check`.
pub(crate) struct Shadow {
    words: usize,
    writes: u64,
    /// By the directory's number of a block: what was written last, and what memory has.
    blocks: Vec<[Values; 2]>,
    /// By processor and frame.
    copies: Vec<Vec<Values>>,
}

const LATEST: usize = 0;
const MEMORY: usize = 1;

/// A copy: processor and frame.
pub(crate) type Place = (usize, usize);

impl Shadow {
    pub(crate) fn new(words: usize, processors: usize, frames: usize) -> Self {
        let copies = vec![vec![Values::new(); frames]; processors];
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
    pub(crate) fn copy(&self, (processor, frame): Place) -> &[u64] {
        &self.copies[processor][frame]
    }

    /// The copy gets what memory has.
    pub(crate) fn fetch(&mut self, (processor, frame): Place, number: u32) {
        let values = self.block(number)[MEMORY].clone();
        self.copies[processor][frame] = values;
    }

    /// Memory gets what the copy has.
    pub(crate) fn update_memory(&mut self, (processor, frame): Place, number: u32) {
        let values = self.copies[processor][frame].clone();
        self.block(number)[MEMORY] = values;
    }

    /// One copy gets what another has.
    pub(crate) fn supply(&mut self, from: Place, to: Place) {
        let values = self.copies[from.0][from.1].clone();
        self.copies[to.0][to.1] = values;
    }

    /// A write of some words, which some copies take.
    pub(crate) fn write<W: Words>(&mut self, number: u32, words: W, takers: &[Place]) {
        self.writes += 1;
        let value = self.writes;
        let touched: Vec<usize> = (0..self.words).filter(|&w| has(words, w)).collect();
        for &word in &touched {
            self.block(number)[LATEST][word] = value;
            for &(processor, frame) in takers {
                self.copies[processor][frame][word] = value;
            }
        }
    }

    /// A read of some words.
    pub(crate) fn read<W: Words>(
        &mut self,
        (processor, frame): Place,
        number: u32,
        words: W,
    ) -> Result<(), CheckError> {
        let copy = std::mem::take(&mut self.copies[processor][frame]);
        let latest = &self.block(number)[LATEST];
        let stale = (0..latest.len()).find(|&w| has(words, w) && copy.get(w) != latest.get(w));
        self.copies[processor][frame] = copy;
        match stale {
            None => Ok(()),
            Some(word) => Err(CheckError::Stale {
                reference: 0,
                processor: u16::try_from(processor).unwrap_or(u16::MAX),
                address: 4 * word as u64,
            }),
        }
    }
}

fn has<W: Words>(words: W, word: usize) -> bool {
    let word = u32::try_from(word).unwrap_or(u32::MAX);
    words.meets(W::range(word, word))
}
