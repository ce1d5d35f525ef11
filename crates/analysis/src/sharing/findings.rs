//! The questions about sharing, and the totals of the regions of a trace.

use std::collections::BTreeMap;

use homenode_base::{BlockSize, ProcId};

use super::attribution::MissCharges;
use super::counts::SharingCounts;
use crate::detail::ByClass;

/// The block sizes to examine, and the detail asked for.
#[derive(Clone, Debug)]
pub struct SharingQuestions {
    /// Block sizes, each once.
    pub sizes: Vec<BlockSize>,
    /// What a merge at the end of a false sharing interval costs, in transfers; at least 1, as
    /// merging moves data.
    pub merge_transfers: u64,
    /// The block size at which to report which objects, blocks and source lines share.
    pub detail: Option<BlockSize>,
    /// How many of the worst blocks to describe.
    pub count: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectFindings {
    pub words: ByClass,
    pub reads: u64,
    pub writes: u64,
    pub separable_words: u64,
    pub charges: MissCharges,
    /// One bit a processor.
    pub processors: Vec<u64>,
    /// First and last byte referenced, counted from the start of the range.
    pub offsets: Option<(u64, u64)>,
}

impl ObjectFindings {
    pub(super) fn merge(&mut self, other: &Self) {
        self.words.private += other.words.private;
        self.words.read_shared += other.words.read_shared;
        self.words.truly_shared += other.words.truly_shared;
        self.reads += other.reads;
        self.writes += other.writes;
        self.separable_words += other.separable_words;
        self.charges.merge(&other.charges);
        for (at, bits) in other.processors.iter().enumerate() {
            self.processor_bits(at, *bits);
        }
    }

    pub(super) fn processor_bits(&mut self, at: usize, bits: u64) {
        if at >= self.processors.len() {
            self.processors.resize(at + 1, 0);
        }
        self.processors[at] |= bits;
    }

    pub(crate) fn processor_count(&self) -> u32 {
        self.processors.iter().map(|bits| bits.count_ones()).sum()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FieldFindings {
    pub reads: u64,
    pub writes: u64,
    pub charges: MissCharges,
}

impl FieldFindings {
    fn merge(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.charges.merge(&other.charges);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct BlockFindings {
    pub number: u64,
    pub words: ByClass,
    pub charges: MissCharges,
    pub processors: Vec<ProcId>,
    /// By object and start of its range, most false sharing first.
    pub objects: Vec<((usize, u64), ObjectFindings)>,
    /// By program counter, most false sharing first.
    pub sites: Vec<(u64, MissCharges)>,
}

/// Totals of some regions.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// By block size, as in the questions.
    pub counts: Vec<SharingCounts>,
    /// Transfers if every word were a block.
    pub word_transfers: u64,
    /// Words referenced, by class.
    pub words: ByClass,
    pub(crate) objects: BTreeMap<usize, ObjectFindings>,
    pub(crate) fields: BTreeMap<(usize, (u32, u32)), FieldFindings>,
    pub(crate) sites: BTreeMap<u64, MissCharges>,
    pub(crate) worst: Vec<BlockFindings>,
}

impl Findings {
    /// Empty totals for these questions.
    #[must_use]
    pub fn new(questions: &SharingQuestions) -> Self {
        Self { counts: vec![SharingCounts::default(); questions.sizes.len()], ..Self::default() }
    }

    /// Adds the totals of other regions; keeps the `count` worst blocks.
    pub fn merge(&mut self, other: Self, count: usize) {
        for (sum, counts) in self.counts.iter_mut().zip(&other.counts) {
            *sum += counts;
        }
        self.word_transfers += other.word_transfers;
        self.words.private += other.words.private;
        self.words.read_shared += other.words.read_shared;
        self.words.truly_shared += other.words.truly_shared;
        for (group, found) in &other.objects {
            self.objects.entry(*group).or_default().merge(found);
        }
        for (field, found) in &other.fields {
            self.fields.entry(*field).or_default().merge(found);
        }
        for (pc, charges) in &other.sites {
            self.sites.entry(*pc).or_default().merge(charges);
        }
        self.worst.extend(other.worst);
        self.keep_worst(count);
    }

    pub(super) fn keep_worst(&mut self, count: usize) {
        self.worst.sort_by_key(|block| (std::cmp::Reverse(weight(&block.charges)), block.number));
        self.worst.truncate(count);
    }
}

/// The order of blocks: by false sharing, then true sharing, then cold misses.
fn weight(charges: &MissCharges) -> (u64, u64, u64) {
    (charges.false_sharing, charges.true_sharing, charges.cold)
}
