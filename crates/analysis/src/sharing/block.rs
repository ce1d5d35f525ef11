//! One block at one block size, from the events of its region.

use homenode_base::ProcId;

use super::counts::SharingCounts;
use super::events::{WordAccess, WordEvent};
use super::homes;
use super::intervals::{self, Visit};
use super::region_processors::{ELEMENTS_MAX, FEW, RegionProcessors};
use crate::last_write::LastWrite;

#[derive(Clone, Copy, Debug, Default)]
struct WordState {
    last: LastWrite<u32>,
    /// One more than the processor that referenced it first; 0 before.
    first: u32,
}

/// State of a processor's copy of the block. Times are numbers of visits.
#[derive(Clone, Copy, Debug, Default)]
struct CopyState {
    missed_at: u32,
    /// The last miss that was cold or true sharing.
    essential_at: u32,
    referenced_at: u32,
    /// The last transfer if each is deferred until a new value is referenced, and all processors
    /// have the initial values.
    fetched_at: u32,
    /// The same, if only the processor that references a word first has its initial value.
    loaded_at: u32,
}

/// A word of the region over the whole trace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordFacts {
    /// Transfers if the word were a block.
    pub transfers: u32,
    /// References that begin there: reads, and writes with atomics.
    pub references: [u64; 2],
    pub touched: bool,
    pub written: bool,
    pub several: bool,
    pub first: u16,
}

#[derive(Default)]
pub(crate) struct BlockScratch {
    words: Vec<WordState>,
    copies: Vec<CopyState>,
    proc_of: Vec<u16>,
    procs: usize,
    visits: Vec<Visit>,
    visits_thesis: Vec<Visit>,
    touched: Vec<usize>,
    kept: Vec<WordEvent>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockWalk {
    misses: [u64; 3],
    /// Transfers that new values need, and transfers that are sufficient.
    fetches: u64,
    loads: u64,
    processors: u64,
    written: bool,
    /// Whether a processor reads what another one has written.
    communicates: bool,
}

const COLD: usize = 0;
const TRUE: usize = 1;
const FALSE: usize = 2;

impl BlockWalk {
    /// All misses but one: the first location is free.
    fn transfers(&self) -> u64 {
        self.misses.iter().sum::<u64>().saturating_sub(1)
    }
}

/// The walks that keep sets of processors, with sets as wide as the processors of a region need.
struct Walks {
    words: fn(&[WordEvent], &mut [WordFacts]),
    intervals: fn(&[Visit], u64) -> u64,
}

impl Walks {
    fn for_processors(processors: usize) -> Self {
        match processors.div_ceil(FEW) {
            0..=1 => Self::with_elements::<1>(),
            2 => Self::with_elements::<2>(),
            3..=4 => Self::with_elements::<4>(),
            _ => Self::with_elements::<ELEMENTS_MAX>(),
        }
    }

    fn with_elements<const W: usize>() -> Self {
        Self { words: word_transfers::<W>, intervals: intervals::transfers::<W> }
    }
}

/// Whether several processors reference the block whose events these are.
pub(crate) fn is_of_several(events: &[WordEvent]) -> bool {
    events.iter().any(|event| event.processor != events[0].processor)
}

impl BlockScratch {
    /// Numbers the processors of a region in ascending order and renumbers its events so.
    pub(crate) fn begin(&mut self, events: &mut [WordEvent], region_words: usize) -> Vec<ProcId> {
        let mut active: Vec<ProcId> = Vec::new();
        for event in events.iter() {
            let at = usize::from(event.processor);
            if at >= self.proc_of.len() {
                self.proc_of.resize(at + 1, u16::MAX);
            }
            if self.proc_of[at] == u16::MAX {
                self.proc_of[at] = 0;
                active.push(event.processor);
            }
        }
        active.sort_unstable();
        for (proc, &processor) in (0..).zip(&active) {
            self.proc_of[usize::from(processor)] = proc;
        }
        for event in events.iter_mut() {
            event.processor = self.proc_of[usize::from(event.processor)];
        }
        for &processor in &active {
            self.proc_of[usize::from(processor)] = u16::MAX;
        }
        self.procs = active.len();
        if self.words.len() < region_words {
            self.words.resize(region_words, WordState::default());
        }
        active
    }

    pub(crate) fn word_transfers(&self, events: &[WordEvent], facts: &mut [WordFacts]) {
        (Walks::for_processors(self.procs).words)(events, facts);
    }

    pub(crate) fn block(
        &mut self,
        events: &[WordEvent],
        facts: &[WordFacts],
        merge: u64,
        counts: &mut SharingCounts,
    ) {
        counts.blocks += 1;
        let walk = self.walk(events, true);
        counts.cold += walk.misses[COLD];
        counts.shared_blocks += 1;
        let transfers = walk.transfers();
        counts.transfers += transfers;
        let words = self.touched.iter();
        let one_word = words.map(|&word| u64::from(facts[word].transfers)).max().unwrap_or(0);
        let (low, loads) = self.bounds(events, &walk, one_word);
        counts.necessary_low += low;
        if !walk.written {
            // Without a write no copy is ever invalidated: all transfers are cold, and a layout
            // saves only those of words that their processor does not reference.
            let high = loads.min(transfers);
            counts.necessary_high += high;
            counts.interval_transfers += transfers;
            counts.interval_transfers_thesis += transfers;
            return;
        }
        counts.write_shared_blocks += 1;
        counts.true_sharing += walk.misses[TRUE];
        counts.false_sharing += walk.misses[FALSE];
        let interval = self.intervals(transfers, low, merge);
        counts.interval_transfers += interval[0];
        counts.interval_transfers_thesis += interval[1];
        counts.necessary_high += loads.min(interval[0]);
        if !walk.communicates {
            counts.full_duration_blocks += 1;
            counts.full_duration_saved += transfers - (walk.processors - 1);
        }
        self.separable(events, facts, transfers, counts);
    }

    /// Transfers that are necessary, and transfers that are sufficient if copies may be stale.
    fn bounds(&self, events: &[WordEvent], walk: &BlockWalk, one_word: u64) -> (u64, u64) {
        let low = walk.fetches.max(one_word);
        if low == walk.loads {
            return (low, low);
        }
        let add = |bits: u64, (proc, copy): (usize, &CopyState)| {
            if copy.fetched_at == 0 && proc < FEW { bits | 1 << proc } else { bits }
        };
        let without_new = self.copies.iter().enumerate().fold(0, add);
        match homes::refine(events, self.procs, without_new) {
            Some(found) => {
                (low.max(walk.fetches + found.additional), walk.loads.min(found.sufficient))
            }
            None => (low, walk.loads),
        }
    }

    /// Best placements with intervals: in the strict sense, and in the thesis's.
    fn intervals(&self, transfers: u64, low: u64, merge: u64) -> [u64; 2] {
        let least = Walks::for_processors(self.procs).intervals;
        // A merge costs at least one transfer, so intervals never need fewer than are necessary: no
        // search if the bound is met already.
        let strict = if low == transfers { transfers } else { least(&self.visits, merge) };
        let same = self.visits == self.visits_thesis;
        [strict, if same { strict } else { least(&self.visits_thesis, merge) }]
    }

    /// Counts what would be saved by separating the words that need not be in this block.
    fn separable(
        &mut self,
        events: &[WordEvent],
        facts: &[WordFacts],
        transfers: u64,
        counts: &mut SharingCounts,
    ) {
        let separable_words = self.separable_words(events, facts);
        if separable_words.is_empty() {
            return;
        }
        counts.separable_words += separable_words.len() as u64;
        counts.separable_references +=
            separable_words.iter().flat_map(|&w| facts[w].references).sum::<u64>();
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        kept.extend(
            events.iter().filter(|e| separable_words.binary_search(&(e.word as usize)).is_err()),
        );
        let left = if kept.is_empty() { 0 } else { self.walk(&kept, false).transfers() };
        counts.separable_saved += transfers - left;
        self.kept = kept;
    }

    pub(crate) fn touched(&self) -> &[usize] {
        &self.touched
    }

    /// Words of the block walked last that are only read, or used by one processor, although
    /// another one writes the block; ascending.
    ///
    /// Source: Bolosky section 7.1.4, last paragraph.
    pub(crate) fn separable_words(&self, events: &[WordEvent], facts: &[WordFacts]) -> Vec<usize> {
        let mut writers = events.iter().filter(|e| e.access.writes()).map(|e| e.processor);
        let Some(first) = writers.next() else { return Vec::new() };
        let several = writers.any(|writer| writer != first);
        let separable = |word: &usize| {
            let found = facts[*word];
            if found.several { !found.written } else { several || found.first != first }
        };
        let mut separable_words: Vec<usize> =
            self.touched.iter().copied().filter(separable).collect();
        separable_words.sort_unstable();
        separable_words
    }

    /// Walks the events once. With `record`, keeps the visits for the choice of intervals.
    fn walk(&mut self, events: &[WordEvent], record: bool) -> BlockWalk {
        self.copies.clear();
        self.copies.resize(self.procs, CopyState::default());
        if record {
            self.visits.clear();
            self.visits_thesis.clear();
            self.touched.clear();
        }
        let mut walk = BlockWalk::default();
        let mut block = LastWrite::default();
        let (mut now, mut present) = (0, None);
        for event in events {
            let proc = event.processor;
            if present != Some(proc) {
                (now, present) = (now + 1, Some(proc));
                if record {
                    let visit = Visit { proc, writes: false, since: 0 };
                    self.visits.push(visit);
                    self.visits_thesis.push(visit);
                }
            }
            let word = &mut self.words[event.word as usize];
            let written_at = word.last.by_others(proc);
            let foreign = word.first != 0 && word.first != u32::from(proc) + 1;
            let read_from =
                if event.access.reads() && word.last.by != proc { word.last.at } else { 0 };
            if word.first == 0 {
                word.first = u32::from(proc) + 1;
                if record {
                    self.touched.push(event.word as usize);
                }
            }
            if event.access.writes() {
                word.last.write(proc, now);
            }
            self.copies[usize::from(proc)]
                .reference(now, written_at, foreign, &mut walk, || block.by_others(proc));
            walk.communicates |= read_from > 0;
            if event.access.writes() {
                block.write(proc, now);
                walk.written = true;
            }
            if record {
                extend_visit(&mut self.visits, event.access, written_at);
                extend_visit(&mut self.visits_thesis, event.access, read_from);
            }
        }
        // Resets only the words of the block, which is mostly smaller than its region.
        for event in events {
            self.words[event.word as usize] = WordState::default();
        }
        walk
    }
}

/// Adds an access to the present visit: an interval with this visit must begin after the write
/// whose value the access needs.
fn extend_visit(visits: &mut [Visit], access: WordAccess, needs: u32) {
    if let Some(visit) = visits.last_mut() {
        visit.writes |= access.writes();
        visit.since = visit.since.max(needs);
    }
}

impl CopyState {
    /// A reference to a word that other processors last wrote at visit `written_at`; `foreign` says
    /// that another processor was the first to reference the word.
    ///
    /// A miss counts as false sharing until a reference to a new value shows that it was essential.
    fn reference(
        &mut self,
        now: u32,
        written_at: u32,
        foreign: bool,
        walk: &mut BlockWalk,
        block_written: impl Fn() -> u32,
    ) {
        if self.referenced_at == 0 {
            walk.processors += 1;
            walk.misses[COLD] += 1;
            (self.missed_at, self.essential_at) = (now, now);
        } else if block_written() > self.referenced_at {
            walk.misses[FALSE] += 1;
            self.missed_at = now;
        }
        if written_at > self.essential_at && self.essential_at != self.missed_at {
            walk.misses[FALSE] -= 1;
            walk.misses[TRUE] += 1;
            self.essential_at = self.missed_at;
        }
        if written_at > self.fetched_at {
            walk.fetches += 1;
            self.fetched_at = now;
        }
        if written_at > self.loaded_at || (foreign && self.loaded_at == 0) {
            walk.loads += 1;
            self.loaded_at = now;
        }
        self.referenced_at = now;
    }
}

fn word_transfers<const W: usize>(events: &[WordEvent], facts: &mut [WordFacts]) {
    let mut holders: Vec<RegionProcessors<W>> = vec![RegionProcessors::NONE; facts.len()];
    for event in events {
        let at = event.word as usize;
        let (holders, facts) = (&mut holders[at], &mut facts[at]);
        facts.several |= facts.touched && facts.first != event.processor;
        facts.written |= event.access.writes();
        if !facts.touched {
            (facts.touched, facts.first) = (true, event.processor);
        } else if !holders.holds(event.processor) {
            facts.transfers += 1;
        }
        if event.access.writes() {
            *holders = RegionProcessors::one(event.processor);
        } else {
            holders.insert(event.processor);
        }
    }
}
