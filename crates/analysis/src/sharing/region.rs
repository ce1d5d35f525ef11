//! One region at all block sizes.

use std::collections::BTreeMap;

use homenode_base::{BlockSize, ProcId};

use super::attribution::{self, AttributedMiss, LastCodeWrite, MissCharges, MissReason};
use super::block::{BlockScratch, WordFacts, is_of_several};
use super::collect::{Collected, SharingRegion};
use super::events::WordEvent;
use super::findings::{BlockFindings, Findings, ObjectFindings, SharingQuestions};
use crate::detail::ByClass;
use crate::objects::{Names, UNKNOWN};
use crate::segments::SegmentCursor;

const LISTED_MAX: usize = 8;

/// Examines regions one by one. Each worker thread has its own.
pub struct Examiner<'a> {
    questions: &'a SharingQuestions,
    names: &'a Names<'a>,
    scratch: BlockScratch,
    facts: Vec<WordFacts>,
    writes: Vec<LastCodeWrite>,
    owners: Vec<(usize, u64)>,
    fields: Vec<Option<(u32, u32)>>,
    events: Vec<WordEvent>,
    sorted: Vec<WordEvent>,
    places: Vec<usize>,
}

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
            events: Vec::new(),
            sorted: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The totals of one region.
    pub fn region(&mut self, collected: &Collected, region: &SharingRegion) -> Findings {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        events.extend(region.events());
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
            self.sort_by_block(&mut events, shift);
            for block in events.chunk_by(|a, b| a.word >> shift == b.word >> shift) {
                let detailed = self.questions.detail == Some(size);
                if !is_of_several(block) {
                    found.counts[i].blocks += 1;
                    found.counts[i].cold += 1;
                    if detailed {
                        self.detail_of_one(block, &here, shift, &mut found);
                    }
                    continue;
                }
                let merge = self.questions.merge_transfers;
                self.scratch.block(block, &self.facts, merge, &mut found.counts[i]);
                if detailed {
                    self.detail(block, &here, size, &mut found);
                }
            }
        }
        self.events = events;
        found.keep_worst(self.questions.count);
        found
    }

    /// Groups the events by block of this number of words, in Time order; blocks ascend.
    fn sort_by_block(&mut self, events: &mut Vec<WordEvent>, shift: u32) {
        let blocks = self.facts.len() >> shift;
        if blocks > events.len() {
            events.sort_by_key(|event| event.word >> shift);
            return;
        }
        if blocks <= 1 {
            return;
        }
        let block = |event: &WordEvent| (event.word >> shift) as usize;
        self.places.clear();
        self.places.resize(blocks, 0);
        events.iter().for_each(|event| self.places[block(event)] += 1);
        let mut next = 0;
        for place in &mut self.places {
            next += std::mem::replace(place, next);
        }
        self.sorted.clone_from(events);
        for event in events.iter() {
            let place = &mut self.places[block(event)];
            self.sorted[*place] = *event;
            *place += 1;
        }
        std::mem::swap(events, &mut self.sorted);
    }

    fn words(&mut self, events: &[WordEvent], here: &ExaminedRegion<'_>, found: &mut Findings) {
        self.facts.clear();
        self.facts.resize(here.collected.region_words(), WordFacts::default());
        self.scratch.word_transfers(events, &mut self.facts);
        let detailed = self.questions.detail.is_some();
        self.owners.clear();
        self.owners.resize(if detailed { self.facts.len() } else { 0 }, (UNKNOWN, 0));
        self.fields.clear();
        self.fields.resize(self.owners.len(), None);
        let mut segments = SegmentCursor::new(self.names.segments());
        let mut page = here.collected.references(here.first_word);
        for (word, facts) in self.facts.iter_mut().enumerate().filter(|(_, facts)| facts.touched) {
            let number = here.first_word + word as u64;
            if !page.holds(number) {
                page = here.collected.references(number);
            }
            facts.references = page.of(number);
            found.word_transfers += u64::from(facts.transfers);
            add_class(&mut found.words, facts);
            if detailed {
                let address = here.address(word);
                self.owners[word] = owner(&mut segments, address);
                let field = |segment| self.names.field_in(segment, address);
                self.fields[word] = segments.at(address).and_then(field);
            }
        }
    }

    fn detail_of_one(
        &self,
        block: &[WordEvent],
        here: &ExaminedRegion<'_>,
        shift: u32,
        found: &mut Findings,
    ) {
        let first = block[0];
        let pc = here.collected.sites.get(first.site as usize).copied().unwrap_or(0);
        found.sites.entry(pc).or_default().cold += 1;
        let owner = self.owners[first.word as usize].0;
        found.objects.entry(owner).or_default().charges.cold += 1;
        if let Some(field) = self.field_of(first.word as usize) {
            found.fields.entry(field).or_default().charges.cold += 1;
        }
        let processor = here.active[usize::from(first.processor)];
        let start = (first.word >> shift << shift) as usize;
        let words = start..self.facts.len().min(start + (1 << shift));
        let touched: Vec<usize> = words.filter(|&word| self.facts[word].touched).collect();
        for same in touched.chunk_by(|&a, &b| self.owners[a].0 == self.owners[b].0) {
            let object = found.objects.entry(self.owners[same[0]].0).or_default();
            object.processor_bits(usize::from(processor / 64), 1 << (processor % 64));
            for &word in same {
                let facts = &self.facts[word];
                object.reads += facts.references[0];
                object.writes += facts.references[1];
                add_class(&mut object.words, facts);
            }
        }
        self.fields_of(&touched, found);
    }

    fn fields_of(&self, words: &[usize], found: &mut Findings) {
        for &word in words {
            if let Some(field) = self.field_of(word) {
                let sum = found.fields.entry(field).or_default();
                sum.reads += self.facts[word].references[0];
                sum.writes += self.facts[word].references[1];
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
        self.writes.resize(self.facts.len().max(self.writes.len()), LastCodeWrite::default());
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
        self.fields_of(self.scratch.touched(), found);
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

    fn field_of(&self, word: usize) -> Option<(usize, (u32, u32))> {
        Some((self.owners[word].0, self.fields[word]?))
    }

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
            part.reads += self.facts[word].references[0];
            part.writes += self.facts[word].references[1];
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
fn owner(segments: &mut SegmentCursor<'_>, address: u64) -> (usize, u64) {
    let mut bytes = address..address.saturating_add(BlockSize::WORD_BYTES);
    let found = bytes.find_map(|addr| segments.at(addr));
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
