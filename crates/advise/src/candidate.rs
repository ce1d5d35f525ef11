//! One object at one block size, and the layouts proposed for it.

use homenode_base::{BlockSize, ProcId};

use crate::layout::MovedBytes;
use crate::objects::{DataObject, UniformRun, WordExtent, uniform_runs};
use crate::pattern::Elements;
use crate::survey::{UseSurvey, WordLabel};

/// Most memory that a proposal may take, as a multiple of the object's own.
const TIMES_MAX: u64 = 8;

/// Blocks for each thread that it may take in addition.
const BLOCKS_A_THREAD: u64 = 2;

/// Bytes that a layout of single bytes, as of flags, may take in any case.
const FLAGS_BYTES: u64 = 16 << 10;

/// Values begin at a multiple of at most this many bytes.
const ALIGNMENT_MAX: u64 = 8;

/// An object whose layout may be changed.
pub struct Candidate<'a> {
    /// The users of every word, or of every byte if that is the object's unit.
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
        self.bytes_of(self.object.words())
    }

    /// Converts units of the object to bytes.
    #[must_use]
    pub fn bytes_of(&self, units: u64) -> u64 {
        units * self.object.unit_bytes
    }

    /// Units of the object in a block.
    #[must_use]
    pub fn block_units(&self) -> u64 {
        self.block.bytes() / self.object.unit_bytes
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

    /// Whether a layout of this number of units is within the limits on memory.
    fn affordable(&self, units: u64) -> bool {
        let threads = u64::try_from(self.users.len()).unwrap_or(u64::MAX);
        let more = threads.saturating_mul(BLOCKS_A_THREAD).saturating_mul(self.block_units());
        let limit = self.object.words().saturating_mul(TIMES_MAX).saturating_add(more);
        // A block for each flag is many times the flags, and still little memory.
        let flags = if self.object.unit_bytes == 1 { FLAGS_BYTES } else { 0 };
        units <= limit.max(flags)
    }

    /// Whether the words of every value stay consecutive.
    fn keeps_values(&self, moves: &[MovedUnits]) -> bool {
        let mut sorted = moves.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| {
            let (end, to) = (pair[0].from + pair[0].units, pair[0].to + pair[0].units);
            let cut = end == pair[1].from && to != pair[1].to;
            !cut || !self.survey.joined(end - 1)
        })
    }

    /// A proposal with the packed layout and this text; `None` if the layout splits a value or
    /// exceeds the limits on memory.
    #[must_use]
    pub fn propose(&self, packer: Packer<'_>, text: ProposalText) -> Option<Proposal> {
        let (moves, length) = packer.finish();
        let units: u64 = moves.iter().map(|moved| moved.units).sum();
        assert_eq!(units, self.object.words(), "a layout keeps every word of its object");
        if !self.affordable(length) || !self.keeps_values(&moves) {
            return None;
        }
        let moved = |&MovedUnits { from, units, to }: &MovedUnits| MovedBytes {
            from: self.bytes_of(from),
            bytes: self.bytes_of(units),
            to: self.bytes_of(to),
        };
        let length = self.bytes_of(length);
        Some(Proposal {
            moves: moves.iter().map(moved).collect(),
            length,
            extra_bytes: length.saturating_sub(self.bytes()),
            stride: text.elements.map(|elements| self.bytes_of(elements.stride)),
            text,
        })
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
    /// New positions of its bytes, counted from the beginning of a block that is yet to be chosen.
    pub moves: Vec<MovedBytes>,
    /// Bytes that the layout takes, a multiple of the block.
    pub length: u64,
    /// Memory beyond the object's own.
    pub extra_bytes: u64,
    /// Bytes from one element to the next, if it is about an array.
    pub stride: Option<u64>,
    /// The text.
    pub text: ProposalText,
}

/// Consecutive units of an object that move together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MovedUnits {
    from: u64,
    units: u64,
    to: u64,
}

/// Places extents of words one after the other.
pub struct Packer<'a> {
    survey: &'a UseSurvey,
    block_units: u64,
    next: u64,
    moves: Vec<MovedUnits>,
}

impl<'a> Packer<'a> {
    /// A packer at the beginning of a block.
    #[must_use]
    pub fn new(candidate: &Candidate<'a>) -> Self {
        let block_units = candidate.block_units();
        Self { survey: candidate.survey, block_units, next: 0, moves: Vec::new() }
    }

    /// Aligns what follows to the beginning of a block.
    pub fn block(&mut self) {
        self.next = self.next.next_multiple_of(self.block_units);
    }

    /// Advances to the next place with the same offset in a block as this word.
    pub fn block_at_offset(&mut self, word: u64) {
        self.advance_to(word, self.block_units);
    }

    fn advance_to(&mut self, unit: u64, modulus: u64) {
        self.next += (unit % modulus + modulus - self.next % modulus) % modulus;
    }

    /// Adds words. Values of several that do not straddle blocks will not straddle blocks here.
    pub fn put(&mut self, extent: WordExtent) {
        let (first, words) = (extent.first, extent.words);
        let glued = self
            .moves
            .last()
            .filter(|last| last.from + last.units == first && last.to + last.units == self.next);
        if glued.is_some() {
            if let Some(last) = self.moves.last_mut() {
                last.units += words;
            }
        } else {
            // Moved by a multiple of the largest alignment, values stay in a block.
            if extent.range().any(|word| self.survey.joined(word)) {
                self.advance_to(first, ALIGNMENT_MAX / self.survey.unit_bytes());
            }
            self.moves.push(MovedUnits { from: first, units: words, to: self.next });
        }
        self.next += words;
    }

    fn finish(mut self) -> (Vec<MovedUnits>, u64) {
        self.block();
        (self.moves, self.next)
    }
}
