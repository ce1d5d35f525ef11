//! One region at all block sizes, and the totals of the regions of a trace.

use std::collections::BTreeMap;

use homenode_base::{BlockSize, ProcId};

use super::attribution::{self, AttributedMiss, MissCharges, MissReason, WordWrites};
use super::block::{BlockScratch, WordFacts};
use super::collect::{Collected, SharingRegion, WordEvent};
use super::counts::SharingCounts;
use crate::detail::ByClass;
use crate::objects::{Names, UNKNOWN};

/// Most objects, and most source lines, kept for one block.
const LISTED_MAX: usize = 8;

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

/// Totals of an object, or of its part of a block.
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
    fn merge(&mut self, other: &Self) {
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

    fn processor_bits(&mut self, at: usize, bits: u64) {
        if at >= self.processors.len() {
            self.processors.resize(at + 1, 0);
        }
        self.processors[at] |= bits;
    }

    pub(crate) fn processor_count(&self) -> u32 {
        self.processors.iter().map(|bits| bits.count_ones()).sum()
    }
}

/// Totals of a field, of all elements of an object.
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

/// One of the blocks with most false sharing.
#[derive(Clone, Debug)]
pub(crate) struct BlockFindings {
    pub number: u64,
    pub words: ByClass,
    pub charges: MissCharges,
    pub processors: Vec<ProcId>,
    /// By object and start of its range, most worst_sites first.
    pub objects: Vec<((usize, u64), ObjectFindings)>,
    /// By program counter, most worst_sites first.
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
    /// By object, type and field.
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

    fn keep_worst(&mut self, count: usize) {
        self.worst.sort_by_key(|block| (std::cmp::Reverse(weight(&block.charges)), block.number));
        self.worst.truncate(count);
    }
}

/// The order of blocks: by false sharing, then true sharing, then cold misses.
fn weight(charges: &MissCharges) -> (u64, u64, u64) {
    (charges.false_sharing, charges.true_sharing, charges.cold)
}

/// Examines regions one by one. Each worker thread has its own.
pub struct Examiner<'a> {
    questions: &'a SharingQuestions,
    names: &'a Names<'a>,
    scratch: BlockScratch,
    facts: Vec<WordFacts>,
    writes: Vec<WordWrites>,
    /// Object of each word, and the start of its range.
    owners: Vec<(usize, u64)>,
    /// Type and field of each word, if known.
    fields: Vec<Option<(u32, u32)>>,
}

/// A region under examination.
struct ExaminedRegion<'a> {
    collected: &'a Collected,
    first_word: u64,
    /// Processor of each processor index.
    active: Vec<ProcId>,
}

impl ExaminedRegion<'_> {
    fn address(&self, word: usize) -> u64 {
        (self.first_word + word as u64) * BlockSize::WORD_BYTES
    }
}

impl<'a> Examiner<'a> {
    /// An examiner for these questions.
    #[must_use]
    pub fn new(questions: &'a SharingQuestions, names: &'a Names<'a>) -> Self {
        Self {
            questions,
            names,
            scratch: BlockScratch::default(),
            facts: Vec::new(),
            writes: Vec::new(),
            owners: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// The totals of one region.
    pub fn region(&mut self, collected: &Collected, region: &SharingRegion) -> Findings {
        let mut events = region.events.clone();
        let words = collected.region_words();
        let active = self.scratch.begin(&mut events, words);
        let here = ExaminedRegion { collected, first_word: collected.first_word(region), active };
        let sizes = &self.questions.sizes;
        let mut found = Findings::new(self.questions);
        self.words(&events, &here, &mut found);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(sizes[i]));
        for i in order {
            let size = sizes[i];
            let shift = (size.bytes() / BlockSize::WORD_BYTES).trailing_zeros();
            // Stable: events of one block stay in Time order.
            events.sort_by_key(|event| event.word >> shift);
            for block in events.chunk_by(|a, b| a.word >> shift == b.word >> shift) {
                let given = (self.facts.as_slice(), self.questions.merge_transfers);
                self.scratch.block(block, given, &mut found.counts[i]);
                if self.questions.detail == Some(size) {
                    self.detail(block, &here, size, &mut found);
                }
            }
        }
        found.keep_worst(self.questions.count);
        found
    }

    /// Classifies the region's words.
    fn words(&mut self, events: &[WordEvent], here: &ExaminedRegion<'_>, found: &mut Findings) {
        self.facts.clear();
        self.facts.resize(here.collected.region_words(), WordFacts::default());
        self.scratch.word_transfers(events, &mut self.facts);
        self.owners.clear();
        self.owners.resize(self.facts.len(), (UNKNOWN, 0));
        self.fields.clear();
        self.fields.resize(self.facts.len(), None);
        for (word, facts) in self.facts.iter_mut().enumerate() {
            let used = here.collected.word(here.first_word + word as u64);
            if used.touched() {
                facts.references = used.reads + used.writes;
                (facts.written, facts.several) = (used.written(), used.several());
                found.word_transfers += u64::from(facts.transfers);
                add_class(&mut found.words, facts);
                if self.questions.detail.is_some() {
                    self.owners[word] = owner(self.names, here.address(word));
                    self.fields[word] = self.names.field(here.address(word));
                }
            }
        }
    }

    /// Adds the misses of a block to its objects and program counters, and the block to the worst.
    fn detail(
        &mut self,
        block: &[WordEvent],
        here: &ExaminedRegion<'_>,
        size: BlockSize,
        found: &mut Findings,
    ) {
        self.writes.resize(self.facts.len().max(self.writes.len()), WordWrites::default());
        let misses = attribution::misses(block, here.active.len(), &mut self.writes);
        let separable = self.scratch.separable_words(block, &self.facts);
        let mut objects = self.objects(block, here);
        let mut sites: BTreeMap<u64, MissCharges> = BTreeMap::new();
        let mut charges = MissCharges::default();
        for word in separable {
            let key = self.owners[word];
            objects.entry(key).or_default().separable_words += 1;
        }
        for miss in &misses {
            let pc = |site: u32| here.collected.sites.get(site as usize).copied().unwrap_or(0);
            charge(&mut charges, miss);
            charge(sites.entry(pc(miss.at.site)).or_default(), miss);
            let key = self.owners[miss.at.word as usize];
            charge(&mut objects.entry(key).or_default().charges, miss);
            if let Some(field) = self.field_of(miss.at.word as usize) {
                charge(&mut found.fields.entry(field).or_default().charges, miss);
            }
            if let MissReason::FalseSharing(write) = miss.reason {
                sites.entry(pc(write.site)).or_default().inflicted += 1;
                let key = self.owners[write.word as usize];
                objects.entry(key).or_default().charges.inflicted += 1;
                if let Some(field) = self.field_of(write.word as usize) {
                    found.fields.entry(field).or_default().charges.inflicted += 1;
                }
                charges.inflicted += 1;
            }
        }
        for &word in self.scratch.touched() {
            if let Some(field) = self.field_of(word) {
                let used = here.collected.word(here.address(word) / BlockSize::WORD_BYTES);
                let sum = found.fields.entry(field).or_default();
                sum.reads += used.reads;
                sum.writes += used.writes;
            }
        }
        for (&(group, _), part) in &objects {
            found.objects.entry(group).or_default().merge(part);
        }
        for (&pc, part) in &sites {
            found.sites.entry(pc).or_default().merge(part);
        }
        if charges.true_sharing + charges.false_sharing == 0 {
            return;
        }
        let number = here.address(block[0].word as usize) / size.bytes();
        let processors = processors(block, here);
        let mut words = ByClass::default();
        objects.values().for_each(|part| {
            words.private += part.words.private;
            words.read_shared += part.words.read_shared;
            words.truly_shared += part.words.truly_shared;
        });
        let (objects, sites) = (worst_parts(objects), worst_sites(sites));
        found.worst.push(BlockFindings { number, words, charges, processors, objects, sites });
        if found.worst.len() > 2 * self.questions.count + 64 {
            found.keep_worst(self.questions.count);
        }
    }

    /// The field at a word, with its object.
    fn field_of(&self, word: usize) -> Option<(usize, (u32, u32))> {
        Some((self.owners[word].0, self.fields[word]?))
    }

    /// The objects of a block, with their words and the processors that reference them.
    fn objects(
        &self,
        block: &[WordEvent],
        here: &ExaminedRegion<'_>,
    ) -> BTreeMap<(usize, u64), ObjectFindings> {
        let mut objects: BTreeMap<(usize, u64), ObjectFindings> = BTreeMap::new();
        for &word in self.scratch.touched() {
            let address = here.address(word);
            let key = self.owners[word];
            let part = objects.entry(key).or_default();
            let used = here.collected.word(address / BlockSize::WORD_BYTES);
            part.reads += used.reads;
            part.writes += used.writes;
            add_class(&mut part.words, &self.facts[word]);
            let low = address.saturating_sub(key.1);
            let high = (address + (BlockSize::WORD_BYTES - 1)).saturating_sub(key.1);
            let (first, last) = part.offsets.unwrap_or((low, high));
            part.offsets = Some((first.min(low), last.max(high)));
        }
        let mut latest = None;
        for event in block {
            if latest == Some((event.word, event.processor)) {
                continue;
            }
            latest = Some((event.word, event.processor));
            let processor = here.active[usize::from(event.processor)];
            if let Some(part) = objects.get_mut(&self.owners[event.word as usize]) {
                part.processor_bits(usize::from(processor / 64), 1 << (processor % 64));
            }
        }
        objects
    }
}

/// The object at a word and the start of its range. An object may begin within the word.
fn owner(names: &Names<'_>, address: u64) -> (usize, u64) {
    let mut bytes = address..address.saturating_add(BlockSize::WORD_BYTES);
    let found = bytes.find_map(|addr| names.segment(addr));
    found.map_or((UNKNOWN, 0), |segment| (segment.group, segment.start))
}

fn add_class(classes: &mut ByClass, word: &WordFacts) {
    *(match (word.several, word.written) {
        (false, _) => &mut classes.private,
        (true, false) => &mut classes.read_shared,
        (true, true) => &mut classes.truly_shared,
    }) += 1;
}

fn charge(charges: &mut MissCharges, miss: &AttributedMiss) {
    match miss.reason {
        MissReason::Cold => charges.cold += 1,
        MissReason::TrueSharing => charges.true_sharing += 1,
        MissReason::FalseSharing(_) => charges.false_sharing += 1,
    }
}

fn processors(block: &[WordEvent], here: &ExaminedRegion<'_>) -> Vec<ProcId> {
    let mut used = vec![false; here.active.len()];
    block.iter().for_each(|event| used[usize::from(event.processor)] = true);
    here.active.iter().zip(used).filter(|(_, used)| *used).map(|(&p, _)| p).collect()
}

/// The parts with most false sharing, at most eight.
fn worst_parts(
    parts: BTreeMap<(usize, u64), ObjectFindings>,
) -> Vec<((usize, u64), ObjectFindings)> {
    let mut parts: Vec<_> = parts.into_iter().collect();
    let blame = |found: &ObjectFindings| {
        (found.charges.false_sharing + found.charges.inflicted, found.reads + found.writes)
    };
    parts.sort_by_key(|(_, found)| std::cmp::Reverse(blame(found)));
    parts.truncate(LISTED_MAX);
    parts
}

fn worst_sites(sites: BTreeMap<u64, MissCharges>) -> Vec<(u64, MissCharges)> {
    let mut sites: Vec<_> = sites.into_iter().filter(|(pc, _)| *pc != 0).collect();
    let blame = |c: &MissCharges| (c.false_sharing + c.inflicted, c.true_sharing, c.cold);
    sites.sort_by_key(|(_, charges)| std::cmp::Reverse(blame(charges)));
    sites.truncate(LISTED_MAX);
    sites
}
