//! Reduces a trace to the references that can move data: who touched which word in which visit.

use homenode_base::{AccessKind, BlockSize, ProcId, ReferenceFilter, ReferenceRole};
use homenode_placement::Shard;
use homenode_trace::Batch;
use rustc_hash::FxHashMap;

/// Words in a page of the table of words.
const PAGE_WORDS: usize = 1024;

/// Entries of the cache in front of a map; programs reuse few places at a time.
const CACHE_ENTRIES: usize = 1024;

/// Marks an empty cache entry: no region, page or site has this key.
const NO_KEY: u64 = u64::MAX;

/// Index of a region in another shard.
const ELSEWHERE: u32 = u32::MAX;

/// Bytes of an event while the list that holds it grows.
const EVENT_BYTES: u64 = 24;

/// Smallest region: a page of the table of words never straddles two regions.
const REGION_BYTES_MIN: u64 = PAGE_WORDS as u64 * BlockSize::WORD_BYTES;

/// What a reference does to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordAccess {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one step.
    Update,
}

impl WordAccess {
    /// Whether the old value is seen.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Update)
    }

    /// Whether there is a new value.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// A reference to one word. Repetitions by a processor without another processor's reference to
/// the region between them are left out: they move no data at any block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordEvent {
    /// The word, counted from the start of the region.
    pub word: u32,
    /// Index of the program counter in [`Collected::sites`].
    pub site: u32,
    /// The processor that makes it.
    pub processor: ProcId,
    /// What it does.
    pub access: WordAccess,
}

/// Memory aligned and as large as the largest block. Regions do not influence one another.
#[derive(Clone, Debug)]
pub struct SharingRegion {
    /// Address divided by the size of a region.
    pub number: u64,
    /// In Time order.
    pub events: Vec<WordEvent>,
    /// Number of visits so far, and the processor of the present one. A visit is consecutive
    /// references to the region by one processor.
    visit: u32,
    processor: ProcId,
}

/// Use of a word over the whole trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegionWord {
    /// References that begin here, or enter from the word before.
    pub reads: u64,
    /// The same for writes and atomics.
    pub writes: u64,
    visit: u32,
    first: ProcId,
    /// Bits for the present visit: 1 referenced, 2 written.
    seen: u8,
    /// Bits for the whole trace: 1 referenced, 2 written, 4 by several processors.
    ever: u8,
}

impl RegionWord {
    /// Whether anything references the word.
    #[must_use]
    pub fn touched(&self) -> bool {
        self.ever != 0
    }

    /// Whether anything writes the word.
    #[must_use]
    pub fn written(&self) -> bool {
        self.ever & 2 != 0
    }

    /// Whether several processors reference the word.
    #[must_use]
    pub fn several(&self) -> bool {
        self.ever & 4 != 0
    }

    fn reference(&mut self, processor: ProcId, bits: u8) {
        if self.ever == 0 {
            self.first = processor;
        }
        let several = if self.first == processor { 0 } else { 4 };
        self.ever |= bits | several;
    }
}

/// Dense numbers for sparse keys, in order of first use. The cache answers most look-ups without
/// hashing.
struct Index {
    cache: Box<[(u64, u32); CACHE_ENTRIES]>,
    numbers: FxHashMap<u64, u32>,
    keys: Vec<u64>,
}

impl Index {
    fn new() -> Self {
        Self {
            cache: Box::new([(NO_KEY, 0); CACHE_ENTRIES]),
            numbers: FxHashMap::default(),
            keys: Vec::new(),
        }
    }

    /// The number of a key, and whether it is new; `belongs` is called for new keys only.
    #[inline]
    fn number(&mut self, key: u64, belongs: impl Fn(u64) -> bool) -> (u32, bool) {
        let folded = (key ^ (key >> 10) ^ (key >> 20)) % CACHE_ENTRIES as u64;
        let slot = &mut self.cache[usize::try_from(folded).unwrap_or(0)];
        if slot.0 == key {
            return (slot.1, false);
        }
        let known = self.numbers.get(&key).copied();
        let new = known.is_none() && belongs(key);
        let number = match known {
            Some(number) => number,
            None if new => {
                let number = u32::try_from(self.keys.len()).unwrap_or(ELSEWHERE);
                assert!(number != ELSEWHERE, "fewer than 2^32 - 1 regions, pages and sites");
                self.keys.push(key);
                self.numbers.insert(key, number);
                number
            }
            None => ELSEWHERE,
        };
        *slot = (key, number);
        (number, new)
    }
}

/// What to collect, and in how much memory.
#[derive(Clone, Debug)]
pub struct CollectorOptions {
    /// The largest block size that will be examined.
    pub largest: BlockSize,
    /// Thread i runs on processor i modulo this; at least 1.
    pub processors: u16,
    /// Which references to take into account.
    pub filter: ReferenceFilter,
    /// Which regions to take.
    pub shard: Shard,
    /// Bytes of memory above which the shard is halved; the other half needs another pass.
    pub memory_budget_bytes: u64,
}

/// Collects events from batches given in Time order.
pub struct Collector {
    options: CollectorOptions,
    /// Bits of a word number within its region.
    shift: u32,
    regions: Vec<SharingRegion>,
    region_index: Index,
    pages: Vec<Box<[RegionWord; PAGE_WORDS]>>,
    page_index: Index,
    sites: Index,
    events: u64,
    given_up: Vec<Shard>,
}

/// The events that one pass over the trace has collected.
pub struct Collected {
    shift: u32,
    /// In order of first reference.
    pub regions: Vec<SharingRegion>,
    /// Program counters; 0 is an unknown one.
    pub sites: Vec<u64>,
    pages: Vec<Box<[RegionWord; PAGE_WORDS]>>,
    page_of: FxHashMap<u64, u32>,
}

impl Collected {
    /// Number of the region's first word, counted from address 0.
    #[must_use]
    pub fn first_word(&self, region: &SharingRegion) -> u64 {
        region.number << self.shift
    }

    /// Words in a region.
    #[must_use]
    pub fn region_words(&self) -> usize {
        1 << self.shift
    }

    /// A word by its number counted from address 0.
    #[must_use]
    pub fn word(&self, number: u64) -> RegionWord {
        let page = self.page_of.get(&(number / PAGE_WORDS as u64));
        let page = page.and_then(|&page| self.pages.get(usize::try_from(page).ok()?));
        let at = usize::try_from(number % PAGE_WORDS as u64).unwrap_or(0);
        page.map_or(RegionWord::default(), |page| page[at])
    }
}

impl Collector {
    /// A collector before the first batch.
    ///
    /// # Panics
    /// When there are no processors.
    #[must_use]
    pub fn new(options: CollectorOptions) -> Self {
        assert!(options.processors > 0, "at least one processor");
        let bytes = options.largest.bytes().max(REGION_BYTES_MIN);
        let mut sites = Index::new();
        sites.number(0, |_| true);
        Self {
            shift: (bytes / BlockSize::WORD_BYTES).trailing_zeros(),
            options,
            regions: Vec::new(),
            region_index: Index::new(),
            pages: Vec::new(),
            page_index: Index::new(),
            sites,
            events: 0,
            given_up: Vec::new(),
        }
    }

    /// Adds the references of a batch.
    pub fn push(&mut self, batch: &Batch) {
        for row in 0..batch.len() {
            if batch.role(row, self.options.filter) != ReferenceRole::Shared {
                continue;
            }
            let kind = batch.kind[row];
            let processor = batch.thread[row] % self.options.processors;
            let access = if kind == AccessKind::Read.code() {
                WordAccess::Read
            } else if kind == AccessKind::Write.code() {
                WordAccess::Write
            } else {
                WordAccess::Update
            };
            let pc = batch.pc.get(row).copied().unwrap_or(0);
            let (site, _) = self.sites.number(pc, |_| true);
            let addr = batch.addr[row];
            let end = addr.saturating_add(u64::from(batch.size[row]).saturating_sub(1));
            let first = addr / BlockSize::WORD_BYTES;
            for word in first..=end / BlockSize::WORD_BYTES {
                self.word(word, (processor, access, site), word == first);
            }
        }
        while self.bytes() > self.options.memory_budget_bytes && self.regions.len() > 1 {
            self.halve();
        }
    }

    #[inline]
    fn word(
        &mut self,
        word: u64,
        (processor, access, site): (ProcId, WordAccess, u32),
        begins: bool,
    ) {
        let number = word >> self.shift;
        let shard = self.options.shard;
        let (index, new) = self.region_index.number(number, |n| shard.holds(n));
        if index == ELSEWHERE {
            return;
        }
        if new {
            self.regions.push(SharingRegion { number, events: Vec::new(), visit: 0, processor });
        }
        let region = &mut self.regions[index as usize];
        if region.visit == 0 || region.processor != processor {
            (region.visit, region.processor) = (region.visit + 1, processor);
        }
        let (page, new) = self.page_index.number(word / PAGE_WORDS as u64, |_| true);
        if new {
            self.pages.push(Box::new([RegionWord::default(); PAGE_WORDS]));
        }
        let at = usize::try_from(word % PAGE_WORDS as u64).unwrap_or(0);
        let entry = &mut self.pages[page as usize][at];
        let bits = if access.writes() { 3 } else { 1 };
        entry.reference(processor, bits);
        if begins {
            *(if access.writes() { &mut entry.writes } else { &mut entry.reads }) += 1;
        }
        if entry.visit != region.visit {
            (entry.visit, entry.seen) = (region.visit, 0);
        }
        if bits & !entry.seen == 0 {
            return;
        }
        let access = if entry.seen == 0 { access } else { WordAccess::Write };
        entry.seen |= bits;
        let mask = (1u64 << self.shift) - 1;
        let word = u32::try_from(word & mask).unwrap_or(u32::MAX);
        region.events.push(WordEvent { word, site, processor, access });
        self.events += 1;
    }

    fn bytes(&self) -> u64 {
        let page = (PAGE_WORDS * size_of::<RegionWord>()) as u64 + 64;
        let (pages, regions) = (self.pages.len() as u64, self.regions.len() as u64);
        self.events * EVENT_BYTES + pages * page + regions * 128
    }

    /// Keeps the first half of the shard.
    fn halve(&mut self) {
        let (kept, given_up) = self.options.shard.halves();
        self.options.shard = kept;
        self.given_up.push(given_up);
        self.region_index = Index::new();
        for region in std::mem::take(&mut self.regions) {
            if kept.holds(region.number) {
                self.region_index.number(region.number, |_| true);
                self.regions.push(region);
            }
        }
        let old = std::mem::replace(&mut self.page_index, Index::new());
        let page_shift = self.shift - PAGE_WORDS.trailing_zeros();
        for (key, page) in old.keys.into_iter().zip(std::mem::take(&mut self.pages)) {
            if kept.holds(key >> page_shift) {
                self.page_index.number(key, |_| true);
                self.pages.push(page);
            }
        }
        self.events = self.regions.iter().map(|r| r.events.len() as u64).sum();
    }

    /// Ends the pass; the second value names the shards that need another one.
    #[must_use]
    pub fn finish(self) -> (Collected, Vec<Shard>) {
        let collected = Collected {
            shift: self.shift,
            regions: self.regions,
            sites: self.sites.keys,
            pages: self.pages,
            page_of: self.page_index.numbers,
        };
        (collected, self.given_up)
    }
}
