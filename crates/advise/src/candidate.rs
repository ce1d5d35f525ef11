//! One object at one block size, and the layouts proposed for it.

use homenode_base::{BlockSize, ProcId};

use crate::layout::MovedWords;
use crate::objects::{DataObject, UniformRun, WordExtent, uniform_runs};
use crate::pattern::{Elements, bytes};
use crate::survey::{UseSurvey, WordLabel};

/// Most memory that a proposal may take, as a multiple of the object's own.
const TIMES_MAX: u64 = 8;

/// Blocks for each thread that it may take in addition.
const BLOCKS_A_THREAD: u64 = 2;

/// An object whose layout may be changed.
pub struct Candidate<'a> {
    /// The users of every word.
    pub survey: &'a UseSurvey,
    /// The object.
    pub object: &'a DataObject,
    /// The block size advice is for.
    pub block: BlockSize,
    /// The object, cut where its users change.
    pub runs: Vec<UniformRun>,
    /// Whether it shares a block with another object.
    pub crowded: bool,
    /// Threads that use it.
    pub users: Vec<ProcId>,
}

impl<'a> Candidate<'a> {
    /// An object as a candidate for another layout.
    #[must_use]
    pub fn new(
        survey: &'a UseSurvey,
        object: &'a DataObject,
        block: BlockSize,
        crowded: bool,
    ) -> Self {
        let mut seen = vec![false; usize::from(survey.processors())];
        for word in object.extents.iter().flat_map(|extent| extent.range()) {
            survey.add_users(word, &mut seen);
        }
        let users = (0..ProcId::MAX).zip(seen).filter(|&(_, used)| used).map(|(p, _)| p).collect();
        Self { survey, object, block, runs: uniform_runs(object, survey, false), crowded, users }
    }

    /// Bytes of the object.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes(self.object.words())
    }

    /// Threads that own a run, in order.
    #[must_use]
    pub fn owners(&self) -> Vec<ProcId> {
        let owner = |run: &UniformRun| {
            if let WordLabel::Own(owner) = run.label { Some(owner) } else { None }
        };
        let mut owners: Vec<ProcId> = self.runs.iter().filter_map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Whether a layout of this number of words is within the limits on memory.
    fn affordable(&self, words: u64) -> bool {
        let threads = u64::try_from(self.users.len()).unwrap_or(u64::MAX);
        let more = threads.saturating_mul(BLOCKS_A_THREAD).saturating_mul(self.block.words());
        words <= self.object.words().saturating_mul(TIMES_MAX).saturating_add(more)
    }

    /// Whether the words of every value stay consecutive.
    fn keeps_values(&self, moves: &[MovedWords]) -> bool {
        let mut sorted = moves.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| {
            let (end, to) = (pair[0].from + pair[0].words, pair[0].to + pair[0].words);
            let cut = end == pair[1].from && to != pair[1].to;
            !cut || !self.survey.joined(end - 1)
        })
    }

    /// A proposal with the packed layout and this text; `None` if the layout splits a value or
    /// exceeds the limits on memory.
    #[must_use]
    pub fn propose(&self, packer: Packer<'_>, text: ProposalText) -> Option<Proposal> {
        let (moves, length) = packer.finish();
        let words: u64 = moves.iter().map(|moved| moved.words).sum();
        assert_eq!(words, self.object.words(), "a layout keeps every word of its object");
        let extra_bytes = bytes(length).saturating_sub(self.bytes());
        let good = self.affordable(length) && self.keeps_values(&moves);
        good.then_some(Proposal { moves, length, extra_bytes, text })
    }
}

/// The text of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalText {
    /// The elements that the proposal is about, if it is about an array.
    pub elements: Option<Elements>,
    /// The problem and the advice, in a sentence.
    pub sentence: String,
    /// How to follow the advice in C.
    pub hint: String,
}

/// A layout of an object that may be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// New positions of its words, counted from the beginning of a block that is yet to be chosen.
    pub moves: Vec<MovedWords>,
    /// Words that the layout takes, a multiple of the block.
    pub length: u64,
    /// Memory beyond the object's own.
    pub extra_bytes: u64,
    /// The text.
    pub text: ProposalText,
}

/// Places extents of words one after the other.
pub struct Packer<'a> {
    survey: &'a UseSurvey,
    block_words: u64,
    next: u64,
    moves: Vec<MovedWords>,
}

impl<'a> Packer<'a> {
    /// A packer at the beginning of a block.
    #[must_use]
    pub fn new(candidate: &Candidate<'a>) -> Self {
        let block_words = candidate.block.words();
        Self { survey: candidate.survey, block_words, next: 0, moves: Vec::new() }
    }

    /// Aligns what follows to the beginning of a block.
    pub fn block(&mut self) {
        self.next = self.next.next_multiple_of(self.block_words);
    }

    /// Advances to the next place with the same offset in a block as this word.
    pub fn block_at_offset(&mut self, word: u64) {
        let offset = word % self.block_words;
        let ahead = (offset + self.block_words - self.next % self.block_words) % self.block_words;
        self.next += ahead;
    }

    /// Adds words. Values of two words that do not straddle blocks will not straddle blocks here.
    pub fn put(&mut self, extent: WordExtent) {
        let (first, words) = (extent.first, extent.words);
        let glued = self
            .moves
            .last()
            .filter(|last| last.from + last.words == first && last.to + last.words == self.next);
        if glued.is_some() {
            if let Some(last) = self.moves.last_mut() {
                last.words += words;
            }
        } else {
            // Values of two words begin at even words, so moving by an even number keeps them in a
            // block.
            let odd = first % 2 != self.next % 2;
            if odd && extent.range().any(|word| self.survey.joined(word)) {
                self.next += 1;
            }
            self.moves.push(MovedWords { from: first, words, to: self.next });
        }
        self.next += words;
    }

    fn finish(mut self) -> (Vec<MovedWords>, u64) {
        self.block();
        (self.moves, self.next)
    }
}
