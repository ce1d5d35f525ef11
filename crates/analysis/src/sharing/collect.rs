//! Reduces a trace to the references that can move data: who touched which word in which visit.

use homenode_base::{AccessKind, BlockSize, ProcId, ReferenceFilter, ReferenceRole};
use homenode_placement::Shard;
use homenode_trace::Batch;

use super::accesses::BlockAccesses;
use super::dense_index::DenseIndex;
use super::events::{PROCESSORS_MAX, PackedEvent, WORDS_MAX, WordAccess, WordEvent};
use super::word_pages::{GROUP_WORDS, PAGE_BYTES, PAGE_WORDS, PageReferences, WordPages, WordSpan};

/// Memory aligned and as large as the largest block. Regions do not influence one another.
#[derive(Clone, Debug)]
pub struct SharingRegion {
    /// Address divided by the size of a region.
    pub number: u64,
    /// In Time order.
    events: Vec<PackedEvent>,
    /// Number of visits so far, and the processor of the present one. A visit is consecutive
    /// references to the region by one processor.
    visit: u32,
    processor: ProcId,
}

impl SharingRegion {
    /// What happens to its words, in Time order.
    pub(super) fn events(&self) -> impl Iterator<Item = WordEvent> + '_ {
        self.events.iter().map(|event| event.unpacked())
    }

    /// Adds an event. Returns for how many more there is room now.
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

/// References that count, in the first shard only, by their role.
#[derive(Clone, Debug, Default)]
pub struct CollectedAccesses {
    /// Those whose words are told apart.
    pub shared: BlockAccesses,
    /// Those that are known to be to private memory.
    pub private: BlockAccesses,
}

impl CollectedAccesses {
    /// None yet, at these sizes.
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

/// Who refers to a word, and how.
#[derive(Clone, Copy)]
struct WordReference {
    processor: ProcId,
    access: WordAccess,
    pc: u64,
}

/// Collects events from batches given in Time order.
pub struct Collector {
    options: CollectorOptions,
    /// What references are by kind and flags.
    roles: [[ReferenceRole; 256]; 4],
    /// Bits of a word number within its region.
    shift: u32,
    regions: Vec<SharingRegion>,
    region_index: DenseIndex,
    pages: WordPages,
    sites: DenseIndex,
    /// Events for which there is room.
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

    /// References to the words of the page with this one, counted from address 0, that begin there
    /// or enter from the word before.
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
        let mut sites = DenseIndex::new();
        sites.number(0, || Some(()));
        Self {
            roles: options.filter.all_roles(),
            shift: (bytes / BlockSize::WORD_BYTES).trailing_zeros(),
            accesses: CollectedAccesses::new(&options.sizes),
            options,
            regions: Vec::new(),
            region_index: DenseIndex::new(),
            pages: WordPages::new(),
            sites,
            event_room: 0,
            given_up: Vec::new(),
        }
    }

    /// Adds the references of a batch.
    pub fn push(&mut self, batch: &Batch) {
        let rows = batch.len();
        let (kinds, sizes) = (&batch.kind[..rows], &batch.size[..rows]);
        let (addrs, threads) = (&batch.addr[..rows], &batch.thread[..rows]);
        let (flags, pcs) = (batch.flags.get(..rows), batch.pc.get(..rows));
        let counts = self.options.shard.index == 0;
        let (mut thread, mut processor) = (0, 0);
        for row in 0..rows {
            let kind = kinds[row];
            let flags = flags.map_or(0, |flags| flags[row]);
            let role = self.roles[usize::from(kind % 4)][usize::from(flags)];
            if role == ReferenceRole::Excluded {
                continue;
            }
            let first = addrs[row];
            let last = first.saturating_add(u64::from(sizes[row]).saturating_sub(1));
            let private = role == ReferenceRole::Private;
            if counts {
                let Self { accesses: CollectedAccesses { shared, private: own }, .. } = self;
                (if private { own } else { shared }).add(first, last);
            }
            if private {
                continue;
            }
            if threads[row] != thread {
                thread = threads[row];
                processor = thread % self.options.processors;
            }
            let access = if kind == AccessKind::Read.code() {
                WordAccess::Read
            } else if kind == AccessKind::Write.code() {
                WordAccess::Write
            } else {
                WordAccess::Update
            };
            let pc = pcs.map_or(0, |pcs| pcs[row]);
            self.reference((first, last), WordReference { processor, access, pc });
        }
        while self.bytes() > self.options.memory_budget_bytes && self.regions.len() > 1 {
            self.halve();
        }
    }

    /// Adds a reference from the first byte to the last.
    #[inline]
    fn reference(&mut self, (first, last): (u64, u64), reference: WordReference) {
        let (first, last) = (first / BlockSize::WORD_BYTES, last / BlockSize::WORD_BYTES);
        let room = GROUP_WORDS - first % GROUP_WORDS;
        let count = last - first + 1;
        self.words::<true>(WordSpan { first, count: count.min(room) }, reference);
        if count > room {
            // References are shorter than a group.
            let rest = WordSpan { first: first + room, count: count - room };
            self.words::<false>(rest, reference);
        }
    }

    /// Adds a reference to words of one group, which begins there or in the group before. What is
    /// rare is in functions of its own, so that the loop over references has few live values.
    #[inline]
    fn words<const BEGINS: bool>(&mut self, span: WordSpan, reference: WordReference) {
        let page = match self.pages.cached(span) {
            Some(page) => page,
            None => self.page(span, reference.processor),
        };
        let Some(page) = self.pages.get_mut(page) else { return };
        let writes = reference.access.writes();
        let carries = BEGINS && page.count(span, writes);
        let region = &mut self.regions[page.region as usize];
        if region.processor != reference.processor {
            (region.visit, region.processor) = (region.visit + 1, reference.processor);
        }
        let (seen, bits) = (page.seen(span, region.visit), span.bits(writes));
        let before = *seen;
        if bits & !before != 0 {
            *seen |= bits;
            let region = page.region;
            self.events((span, before), region, reference);
        }
        if carries {
            self.pages.carry(span.first, writes);
        }
    }

    /// The page of some words that have not been looked up lately.
    #[inline(never)]
    fn page(&mut self, span: WordSpan, processor: ProcId) -> u32 {
        let Self { regions, region_index, pages, shift, options, .. } = self;
        pages.find(span, || {
            let number = span.first >> *shift;
            let shard = options.shard;
            let next = regions.len();
            let index = region_index.number(number, || shard.holds(number).then_some(()));
            if usize::try_from(index) == Ok(next) {
                regions.push(SharingRegion { number, events: Vec::new(), visit: 1, processor });
            }
            regions.get(usize::try_from(index).ok()?).map(|_| index)
        })
    }

    /// Adds the events of a reference to words that have such bits in the present visit.
    #[inline(never)]
    fn events(
        &mut self,
        (span, before): (WordSpan, u64),
        region: u32,
        WordReference { processor, access, pc }: WordReference,
    ) {
        let site = self.sites.number(pc, || Some(()));
        let region = &mut self.regions[region as usize];
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

    /// Keeps the first half of the shard.
    fn halve(&mut self) {
        let (kept, given_up) = self.options.shard.halves();
        self.options.shard = kept;
        self.given_up.push(given_up);
        let mut region_index = DenseIndex::new();
        self.regions.retain(|region| kept.holds(region.number));
        for region in &self.regions {
            region_index.number(region.number, || Some(()));
        }
        let page_shift = self.shift - PAGE_WORDS.trailing_zeros();
        self.pages.retain(|number| region_index.known(number >> page_shift));
        self.region_index = region_index;
        self.event_room = self.regions.iter().map(|region| region.events.capacity()).sum();
    }

    /// Ends the pass; the second value names the shards that need another one.
    #[must_use]
    pub fn finish(self) -> (Collected, Vec<Shard>) {
        let collected = Collected {
            shift: self.shift,
            regions: self.regions,
            sites: self.sites.into_keys().collect(),
            accesses: self.accesses,
            pages: self.pages,
        };
        (collected, self.given_up)
    }
}
