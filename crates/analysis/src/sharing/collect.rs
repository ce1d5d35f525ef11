//! Reduces a trace to the references that can move data: which processor touched which word in
//! which visit.

use std::ops::Range;

use homenode_base::{AccessKind, BlockSize, ProcId, ReferenceFilter, ReferenceRole};
use homenode_placement::Shard;
use homenode_trace::Batch;

use super::accesses::BlockAccesses;
use super::events::{PROCESSORS_MAX, PackedEvent, WORDS_MAX, WordAccess, WordEvent};
use super::turn_pages::TurnPages;
use super::word_pages::{
    FIRST_VISIT, GROUP_WORDS, PAGE_BYTES, PAGE_WORDS, PageReferences, RegionVisit, SharingIndex,
    WordPages, WordSpan,
};

/// Memory aligned and as large as the largest block. Regions do not influence one another.
#[derive(Clone, Debug)]
pub struct SharingRegion {
    /// Address divided by the size of a region.
    pub number: u64,
    events: Vec<PackedEvent>,
    /// The present visit. It resumes an earlier visit of its processor if nothing has been written
    /// except in the first visit: `docs/sharing.md` says why repeated references then need no
    /// event.
    visit: RegionVisit,
}

impl SharingRegion {
    pub(super) fn events(&self) -> impl Iterator<Item = WordEvent> + '_ {
        self.events.iter().map(|event| event.unpacked())
    }

    /// Begins a visit by a processor, or continues the present one.
    fn visit(&mut self, processor: ProcId) {
        let RegionVisit { number, resumes, .. } = self.visit;
        if self.visit.processor != processor {
            let resumes = resumes || number == FIRST_VISIT;
            self.visit = RegionVisit { number: number + 1, processor, resumes };
        }
    }

    #[inline]
    fn push(&mut self, event: WordEvent) -> usize {
        let before = self.events.capacity();
        self.events.push(PackedEvent::new(event));
        self.events.capacity() - before
    }
}

/// What to collect, and in how much memory.
#[derive(Clone, Debug)]
pub struct CollectorOptions {
    /// The block sizes that will be examined.
    pub sizes: Vec<BlockSize>,
    /// Thread i runs on processor i modulo this; from 1 to 1024.
    pub processors: u16,
    /// Which references to take into account.
    pub filter: ReferenceFilter,
    /// Which regions to take.
    pub shard: Shard,
    /// Bytes of memory above which the shard is halved; the other half needs another pass.
    pub memory_budget_bytes: u64,
}

/// Counted references by role, in the first shard only.
#[derive(Clone, Debug, Default)]
pub struct CollectedAccesses {
    /// References to shared data, whose words are distinguished.
    pub shared: BlockAccesses,
    /// References known to be to private memory.
    pub private: BlockAccesses,
}

impl CollectedAccesses {
    /// No references yet, at these sizes.
    #[must_use]
    pub fn new(sizes: &[BlockSize]) -> Self {
        Self { shared: BlockAccesses::new(sizes), private: BlockAccesses::new(sizes) }
    }

    /// Adds those of another pass.
    pub fn merge(&mut self, other: &Self) {
        self.shared.merge(&other.shared);
        self.private.merge(&other.private);
    }
}

/// Consecutive references of one processor: their kinds and program counters.
#[derive(Clone, Copy)]
struct WordTurn<'a> {
    processor: ProcId,
    kinds: &'a [u8],
    pcs: Option<&'a [u64]>,
}

impl WordTurn<'_> {
    #[inline]
    fn writes(&self, row: usize) -> bool {
        self.kinds[row] != AccessKind::Read.code()
    }

    fn access(&self, row: usize) -> WordAccess {
        if self.kinds[row] == AccessKind::Read.code() {
            WordAccess::Read
        } else if self.kinds[row] == AccessKind::Write.code() {
            WordAccess::Write
        } else {
            WordAccess::Update
        }
    }
}

/// Collects events from batches given in Time order.
pub struct Collector {
    options: CollectorOptions,
    roles: [[ReferenceRole; 256]; 4],
    /// Bits of a word number within its region.
    shift: u32,
    regions: Vec<SharingRegion>,
    region_index: SharingIndex,
    pages: WordPages,
    lately: TurnPages,
    sites: SharingIndex,
    event_room: usize,
    accesses: CollectedAccesses,
    given_up: Vec<Shard>,
}

/// The events that one pass over the trace has collected.
pub struct Collected {
    shift: u32,
    /// In order of first reference.
    pub regions: Vec<SharingRegion>,
    /// Program counters; 0 is an unknown one.
    pub sites: Vec<u64>,
    /// References that count.
    pub accesses: CollectedAccesses,
    pages: WordPages,
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

    /// The reference counts of the words in the same page as this word, which is counted from
    /// address 0: references that begin in a word or extend into it from the word before.
    pub(super) fn references(&self, word: u64) -> PageReferences<'_> {
        self.pages.references(word)
    }
}

impl Collector {
    /// A collector before the first batch.
    ///
    /// # Panics
    /// When there are no block sizes, one of more than 4 MB, no processors or more than 1024.
    #[must_use]
    pub fn new(options: CollectorOptions) -> Self {
        let processors = 1..=PROCESSORS_MAX;
        assert!(processors.contains(&options.processors), "from 1 to 1024 processors");
        let largest = options.sizes.iter().map(|size| size.bytes()).max();
        // A page of the table of words never straddles two regions.
        let bytes = largest.expect("at least one block size").max(PAGE_BYTES);
        assert!(bytes / BlockSize::WORD_BYTES <= WORDS_MAX, "blocks of at most 4 MB");
        let mut sites = SharingIndex::default();
        sites.number(0, || true);
        Self {
            roles: options.filter.all_roles(),
            shift: (bytes / BlockSize::WORD_BYTES).trailing_zeros(),
            accesses: CollectedAccesses::new(&options.sizes),
            options,
            regions: Vec::new(),
            region_index: SharingIndex::default(),
            pages: WordPages::new(),
            lately: TurnPages::new(),
            sites,
            event_room: 0,
            given_up: Vec::new(),
        }
    }

    /// Adds the references of a batch.
    pub fn push(&mut self, batch: &Batch) {
        for turn in batch.turns.iter() {
            self.turn(batch, turn.rows, turn.thread % self.options.processors);
        }
        while self.bytes() > self.options.memory_budget_bytes && self.regions.len() > 1 {
            self.halve();
        }
    }

    fn turn(&mut self, batch: &Batch, rows: Range<usize>, processor: ProcId) {
        self.lately.begin_turn(processor);
        let counts = self.options.shard.index == 0;
        let (flags, pcs) = (batch.flags.get(rows.clone()), batch.pc.get(rows.clone()));
        let turn = WordTurn { processor, kinds: &batch.kind[rows.clone()], pcs };
        let columns = turn.kinds.iter().zip(&batch.size[rows.clone()]);
        for (row, ((&kind, &size), &first)) in columns.zip(&batch.addr[rows]).enumerate() {
            let flags = flags.map_or(0, |flags| flags[row]);
            let role = self.roles[usize::from(kind % 4)][usize::from(flags)];
            if role == ReferenceRole::Excluded {
                continue;
            }
            let last = first.saturating_add(u64::from(size).saturating_sub(1));
            let private = role == ReferenceRole::Private;
            if counts {
                let Self { accesses: CollectedAccesses { shared, private: own }, .. } = self;
                (if private { own } else { shared }).add(first, last);
            }
            if !private {
                self.reference(first, last, &turn, row);
            }
        }
    }

    /// Adds a reference from the first byte to the last.
    #[inline(always)]
    fn reference(&mut self, first: u64, last: u64, turn: &WordTurn<'_>, row: usize) {
        let (first, last) = (first / BlockSize::WORD_BYTES, last / BlockSize::WORD_BYTES);
        let room = GROUP_WORDS - first % GROUP_WORDS;
        let count = last - first + 1;
        if count > room {
            self.words_of_two(first, last, turn, row);
        } else {
            self.words::<true>(WordSpan { first, count }, turn, row);
        }
    }

    /// Adds a reference to words of two groups: references are shorter than a group.
    #[inline(never)]
    fn words_of_two(&mut self, first: u64, last: u64, turn: &WordTurn<'_>, row: usize) {
        let room = GROUP_WORDS - first % GROUP_WORDS;
        self.words::<true>(WordSpan { first, count: room }, turn, row);
        let (first, count) = (first + room, last - first + 1 - room);
        self.words::<false>(WordSpan { first, count }, turn, row);
    }

    /// Adds a reference to words of one group, which begins there or in the group before. Rare
    /// cases are separate functions, so that the loop over references has few live values.
    #[inline(always)]
    fn words<const BEGINS: bool>(&mut self, span: WordSpan, turn: &WordTurn<'_>, row: usize) {
        let page = match self.lately.get(span) {
            Some(page) => page,
            None => self.enter(span, turn.processor),
        };
        let Some(page) = self.pages.get_mut(page) else { return };
        let writes = turn.writes(row);
        let carries = BEGINS && page.count(span, writes);
        let (seen, bits) = (page.seen(span), span.bits(writes));
        let before = *seen;
        if bits & !before != 0 {
            *seen |= bits;
            let region = page.region;
            self.events(span, before, region, turn, row);
        }
        if carries {
            self.pages.carry(span.first, writes);
        }
    }

    /// The page of some words, to which the processor refers for the first time in this turn.
    #[inline(never)]
    fn enter(&mut self, span: WordSpan, processor: ProcId) -> u32 {
        let number = match self.pages.cached(span) {
            Some(number) => number,
            None => self.page(span, processor),
        };
        if let Some(page) = self.pages.get_mut(number) {
            let region = &mut self.regions[page.region as usize];
            region.visit(processor);
            self.pages.enter(number, &region.visit);
        }
        self.lately.set(span, number);
        number
    }

    #[inline(never)]
    fn page(&mut self, span: WordSpan, processor: ProcId) -> u32 {
        let Self { regions, region_index, pages, shift, options, .. } = self;
        pages.find(span, || {
            let number = span.first >> *shift;
            let shard = options.shard;
            let next = regions.len();
            let index = region_index.number(number, || shard.holds(number));
            if usize::try_from(index) == Ok(next) {
                let visit = RegionVisit { number: FIRST_VISIT, processor, resumes: false };
                regions.push(SharingRegion { number, events: Vec::new(), visit });
            }
            regions.get(usize::try_from(index).ok()?).map(|_| index)
        })
    }

    /// Adds the events of a reference to words whose bits in the present visit are these.
    #[inline(never)]
    fn events(
        &mut self,
        span: WordSpan,
        before: u64,
        region: u32,
        turn: &WordTurn<'_>,
        row: usize,
    ) {
        let (processor, access) = (turn.processor, turn.access(row));
        let pc = turn.pcs.map_or(0, |pcs| pcs[row]);
        let site = self.sites.number(pc, || true);
        let region = &mut self.regions[region as usize];
        region.visit.resumes &= !access.writes();
        let bits = if access.writes() { 3 } else { 1 };
        for word in span.first..span.first + span.count {
            let known = before >> (2 * (word % GROUP_WORDS)) & 3;
            if bits & !known != 0 {
                let access = if known == 0 { access } else { WordAccess::Write };
                let word = u32::try_from(word & ((1 << self.shift) - 1)).unwrap_or(u32::MAX);
                self.event_room += region.push(WordEvent { word, site, processor, access });
            }
        }
    }

    fn bytes(&self) -> u64 {
        let events = (self.event_room * size_of::<PackedEvent>()) as u64;
        events + self.pages.bytes() + self.regions.len() as u64 * 128
    }

    fn halve(&mut self) {
        let (kept, given_up) = self.options.shard.halves();
        self.options.shard = kept;
        self.given_up.push(given_up);
        let mut region_index = SharingIndex::default();
        self.regions.retain(|region| kept.holds(region.number));
        for region in &self.regions {
            region_index.number(region.number, || true);
        }
        let page_shift = self.shift - PAGE_WORDS.trailing_zeros();
        self.pages.retain(|number| region_index.known(number >> page_shift));
        self.region_index = region_index;
        self.lately = TurnPages::new();
        self.event_room = self.regions.iter().map(|region| region.events.capacity()).sum();
    }

    /// Ends the pass; the second value names the shards that need another one.
    #[must_use]
    pub fn finish(self) -> (Collected, Vec<Shard>) {
        let collected = Collected {
            shift: self.shift,
            regions: self.regions,
            sites: self.sites.into_keys(),
            accesses: self.accesses,
            pages: self.pages,
        };
        (collected, self.given_up)
    }
}
