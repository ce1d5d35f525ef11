//! Walks of a process through its code and its private data.
//!
//! A walk draws where to go next, and also visits every block of its part once, at equal
//! distances: so the trace touches as many blocks as the statistics state, whatever the exponents.

use homenode_base::Rng;

use crate::areas::{Area, Scatter};
use crate::odds::Odds;
use crate::plan::Visits;
use crate::statistics::WalkLocality;
use crate::zipf::Zipf;

/// Bytes of blocks and words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Bytes of a block.
    pub(crate) block_bytes: u64,
    /// Bytes of a word.
    pub(crate) word_bytes: u64,
}

impl Grain {
    /// Words of a block.
    pub(crate) fn words(self) -> u64 {
        self.block_bytes / self.word_bytes
    }

    /// The address of a word of an area.
    pub(crate) fn address(self, area: Area, word: u64) -> u64 {
        area.start + word * self.word_bytes
    }
}

/// Fetches: loops over consecutive blocks.
pub(crate) struct CodeWalk<'a> {
    grain: Grain,
    area: Area,
    zipf: &'a Zipf,
    scatter: Scatter,
    visits: Visits,
    more_blocks: Odds,
    more_rounds: Odds,
    first: u64,
    end: u64,
    next: u64,
}

impl<'a> CodeWalk<'a> {
    pub(crate) fn new(
        grain: Grain,
        area: Area,
        zipf: &'a Zipf,
        locality: WalkLocality,
        visits: Visits,
    ) -> Self {
        Self {
            grain,
            area,
            zipf,
            scatter: Scatter::new(area.blocks, locality.cluster_blocks),
            visits,
            more_blocks: Odds::of_mean(locality.loop_blocks),
            more_rounds: Odds::of_mean(locality.loop_rounds),
            first: 0,
            end: 0,
            next: 0,
        }
    }

    /// The address of the next fetch.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> u64 {
        if self.next == self.end {
            let due = self.visits.due();
            if due.is_none() && self.end > 0 && self.more_rounds.happens(rng) {
                self.next = self.first;
            } else {
                self.enter(due, rng);
            }
        }
        self.visits.made += 1;
        let word = self.next;
        self.next += 1;
        self.grain.address(self.area, word)
    }

    fn enter(&mut self, due: Option<u64>, rng: &mut Rng) {
        let block = due.unwrap_or_else(|| self.scatter.place(self.zipf.draw(rng)));
        let mut blocks = 1;
        while block + blocks < self.area.blocks && self.more_blocks.happens(rng) {
            blocks += 1;
        }
        if due.is_some() {
            self.visits.visited += blocks;
        }
        self.first = block * self.grain.words();
        self.end = (block + blocks) * self.grain.words();
        self.next = self.first;
    }
}

/// References to private data: runs of consecutive words.
pub(crate) struct DataWalk<'a> {
    grain: Grain,
    area: Area,
    zipf: &'a Zipf,
    scatter: Scatter,
    visits: Visits,
    more_words: Odds,
    next: Option<u64>,
}

impl<'a> DataWalk<'a> {
    pub(crate) fn new(
        grain: Grain,
        area: Area,
        zipf: &'a Zipf,
        locality: WalkLocality,
        visits: Visits,
    ) -> Self {
        Self {
            grain,
            area,
            zipf,
            scatter: Scatter::new(area.blocks, locality.cluster_blocks),
            visits,
            more_words: Odds::of_mean(locality.run_words),
            next: None,
        }
    }

    /// The address of the next reference.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> u64 {
        let words = self.grain.words();
        let word = match (self.visits.due(), self.next) {
            (Some(block), _) => {
                self.visits.visited += 1;
                block * words
            }
            (None, Some(word)) => word,
            (None, None) => self.scatter.place(self.zipf.draw(rng)) * words + rng.below(words),
        };
        self.visits.made += 1;
        let follows = (word + 1) % (self.area.blocks * words);
        self.next = self.more_words.happens(rng).then_some(follows);
        self.grain.address(self.area, word)
    }
}
