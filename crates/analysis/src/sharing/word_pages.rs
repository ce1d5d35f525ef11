//! The state of the words of memory while a trace is read, page by page.

use homenode_base::{BlockSize, ProcId};
use homenode_trace::DenseIndex;
use rustc_hash::FxHashMap;

/// Numbers of regions, pages or sites, with a cache of those that were used lately.
pub(super) type SharingIndex = DenseIndex<4096>;

pub(super) const PAGE_WORDS: usize = 1024;

pub(super) const PAGE_BYTES: u64 = PAGE_WORDS as u64 * BlockSize::WORD_BYTES;

/// Words whose bits share one element of [`CountedPage::seen`].
pub(super) const GROUP_WORDS: u64 = 32;

/// The bit of every word that says that it is referenced.
const REFERENCED: u64 = 0x5555_5555_5555_5555;

#[derive(Clone, Copy, Debug)]
pub(super) struct WordSpan {
    pub(super) first: u64,
    pub(super) count: u64,
}

impl WordSpan {
    /// The bits of these words in their group's element: those that a reference sets, by whether it
    /// writes.
    #[inline]
    pub(super) fn bits(self, writes: bool) -> u64 {
        let one = if writes { u64::MAX } else { REFERENCED };
        let all = u64::MAX >> (2 * (GROUP_WORDS - self.count));
        (one & all) << (2 * (self.first % GROUP_WORDS))
    }

    #[inline]
    pub(super) fn page(self) -> u64 {
        self.first / PAGE_WORDS as u64
    }

    #[inline]
    fn within_page(self) -> usize {
        usize::try_from(self.first % PAGE_WORDS as u64).unwrap_or(0)
    }
}

/// Two bits for each word of a page: 1 referenced, 2 written. A bit takes longer to find than a
/// byte, but most visits clear them, and clearing bits is faster.
type SeenWords = [u64; PAGE_WORDS / 32];

/// Bytes of memory for them, and for a page, with what the allocator adds.
const SEEN_BYTES: usize = size_of::<SeenWords>() + 16;
const COUNTED_PAGE_BYTES: usize = size_of::<CountedPage>() + SEEN_BYTES + 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct RegionVisit {
    /// Counted from 1.
    pub(super) number: u32,
    pub(super) processor: ProcId,
    /// Whether words that the processor has referenced in earlier visits count as referenced.
    pub(super) resumes: bool,
}

pub(super) const FIRST_VISIT: u32 = 1;

pub(super) struct CountedPage {
    /// References that begin in each word: reads, and writes with atomics; modulo 2^32.
    counts: [[u32; 2]; PAGE_WORDS],
    seen: Box<SeenWords>,
    processor: ProcId,
    /// The same for other processors, by number, as long as the page's region is only read.
    seen_by_others: Vec<Option<Box<SeenWords>>>,
    pub(super) region: u32,
    /// The visit to the region in which bits were set last.
    visit: u32,
}

impl CountedPage {
    /// Counts a reference that begins in the first word. Returns whether the count has wrapped to
    /// 0, so that 2^32 have to be counted elsewhere.
    #[inline]
    pub(super) fn count(&mut self, span: WordSpan, writes: bool) -> bool {
        let count = &mut self.counts[span.within_page()][usize::from(writes)];
        *count = count.wrapping_add(1);
        *count == 0
    }

    /// The processor of a visit reaches the page, and its earlier visits do not count. Returns the
    /// bytes of memory that are freed.
    fn begin(&mut self, visit: &RegionVisit) -> usize {
        if self.visit == visit.number {
            return 0;
        }
        (self.visit, self.processor) = (visit.number, visit.processor);
        self.seen.fill(0);
        let bytes = self.bytes() - COUNTED_PAGE_BYTES;
        self.seen_by_others = Vec::new();
        bytes
    }

    /// The same if words that it has referenced in earlier visits count as referenced. Returns the
    /// bytes of memory that are allocated.
    fn resume(&mut self, visit: &RegionVisit) -> usize {
        if self.visit == FIRST_VISIT {
            // A write after those of the first visit is an event of its own.
            self.seen.iter_mut().for_each(|bits| *bits &= REFERENCED);
        }
        let is_new = std::mem::replace(&mut self.visit, visit.number) == 0;
        let before = std::mem::replace(&mut self.processor, visit.processor);
        if is_new || before == visit.processor {
            return 0;
        }
        let highest = usize::from(before.max(visit.processor));
        let longer = (highest + 1).saturating_sub(self.seen_by_others.len());
        if longer > 0 {
            self.seen_by_others.resize(highest + 1, None);
        }
        let known = self.seen_by_others[usize::from(visit.processor)].take();
        let seen = if known.is_none() { SEEN_BYTES } else { 0 };
        let others = std::mem::replace(&mut self.seen, known.unwrap_or_default());
        self.seen_by_others[usize::from(before)] = Some(others);
        longer * size_of::<Option<Box<SeenWords>>>() + seen
    }

    fn bytes(&self) -> usize {
        let others = self.seen_by_others.iter().flatten().count() * SEEN_BYTES;
        let list = self.seen_by_others.len() * size_of::<Option<Box<SeenWords>>>();
        COUNTED_PAGE_BYTES + list + others
    }

    /// The bits of the words' group, for the processor that came last.
    #[inline]
    pub(super) fn seen(&mut self, span: WordSpan) -> &mut u64 {
        &mut self.seen[span.within_page() / 32]
    }
}

pub(super) struct WordPages {
    pages: Vec<Box<CountedPage>>,
    bytes: usize,
    index: SharingIndex,
    carries: FxHashMap<(u64, bool), u64>,
}

impl WordPages {
    pub(super) fn new() -> Self {
        Self {
            pages: Vec::new(),
            bytes: 0,
            index: SharingIndex::default(),
            carries: FxHashMap::default(),
        }
    }

    /// The number of the page with these words, if it was looked up lately.
    #[inline]
    pub(super) fn cached(&self, span: WordSpan) -> Option<u32> {
        self.index.cached(span.page())
    }

    #[inline]
    pub(super) fn get_mut(&mut self, page: u32) -> Option<&mut CountedPage> {
        self.pages.get_mut(usize::try_from(page).unwrap_or(usize::MAX)).map(Box::as_mut)
    }

    /// The number of the page with these words. For a new page, the caller is asked for the index
    /// of its region; if that is `None`, the page is not kept.
    pub(super) fn find(&mut self, span: WordSpan, region: impl FnOnce() -> Option<u32>) -> u32 {
        let Self { pages, bytes, index, .. } = self;
        index.number(span.page(), || {
            let Some(region) = region() else { return false };
            let page = Box::new(CountedPage {
                counts: [[0; 2]; PAGE_WORDS],
                seen: Box::default(),
                processor: 0,
                seen_by_others: Vec::new(),
                region,
                visit: 0,
            });
            *bytes += COUNTED_PAGE_BYTES;
            pages.push(page);
            true
        })
    }

    /// The processor of a visit comes to a page of the visit's region.
    pub(super) fn enter(&mut self, page: u32, visit: &RegionVisit) {
        let page = &mut self.pages[page as usize];
        if visit.resumes {
            self.bytes += page.resume(visit);
        } else {
            self.bytes -= page.begin(visit);
        }
    }

    #[cold]
    pub(super) fn carry(&mut self, word: u64, writes: bool) {
        *self.carries.entry((word, writes)).or_default() += 1;
    }

    /// Keeps the pages whose number has a new region.
    pub(super) fn retain(&mut self, region: impl Fn(u64) -> Option<u32>) {
        let old = std::mem::take(&mut self.index);
        self.bytes = 0;
        for (&number, mut page) in old.keys().iter().zip(std::mem::take(&mut self.pages)) {
            if let Some(region) = region(number) {
                page.region = region;
                self.bytes += page.bytes();
                self.index.number(number, || true);
                self.pages.push(page);
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    pub(super) fn references(&self, word: u64) -> PageReferences<'_> {
        let number = word / PAGE_WORDS as u64;
        let index = self.index.known(number).and_then(|index| usize::try_from(index).ok());
        let page = index.and_then(|index| self.pages.get(index)).map(Box::as_ref);
        PageReferences { number, page, carries: &self.carries }
    }
}

pub(super) struct PageReferences<'a> {
    number: u64,
    page: Option<&'a CountedPage>,
    carries: &'a FxHashMap<(u64, bool), u64>,
}

impl PageReferences<'_> {
    pub(super) fn holds(&self, word: u64) -> bool {
        word / PAGE_WORDS as u64 == self.number
    }

    /// References that begin in a word of the page: reads, and writes with atomics.
    pub(super) fn of(&self, word: u64) -> [u64; 2] {
        let span = WordSpan { first: word, count: 1 };
        let counts = self.page.map_or([0; 2], |page| page.counts[span.within_page()]);
        if self.carries.is_empty() {
            return counts.map(u64::from);
        }
        [false, true].map(|writes| {
            let carried = self.carries.get(&(word, writes)).copied().unwrap_or(0);
            (carried << 32) + u64::from(counts[usize::from(writes)])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl WordPages {
        fn page(
            &mut self,
            span: WordSpan,
            region: impl FnOnce() -> Option<u32>,
        ) -> Option<&mut CountedPage> {
            let number = self.find(span, region);
            self.get_mut(number)
        }
    }

    fn visit(number: u32, processor: ProcId, resumes: bool) -> RegionVisit {
        RegionVisit { number, processor, resumes }
    }

    #[test]
    fn a_count_that_overflows_is_carried() {
        let mut pages = WordPages::new();
        let span = WordSpan { first: 5000, count: 1 };
        let page = pages.page(span, || Some(0)).unwrap();
        page.counts[span.within_page()] = [7, u32::MAX];
        assert!(!page.count(span, false) && page.count(span, true));
        pages.carry(5000, true);
        assert_eq!(pages.references(5000).of(5000), [8, 1 << 32]);
        assert_eq!(pages.references(5000).of(5001), [0, 0]);
    }

    #[test]
    fn bits_are_those_of_the_words_and_go_with_the_visit() {
        let mut pages = WordPages::new();
        let span = WordSpan { first: 33, count: 2 };
        assert_eq!((span.bits(false), span.bits(true)), (0b01_01_00, 0b11_11_00));
        assert_eq!(WordSpan { first: 64, count: 32 }.bits(true), u64::MAX);
        let page = pages.page(span, || Some(0)).unwrap();
        page.begin(&visit(1, 0, false));
        *page.seen(span) |= span.bits(true);
        page.begin(&visit(1, 0, false));
        assert_eq!(*page.seen(span), 0b11_11_00);
        page.begin(&visit(2, 1, false));
        assert_eq!(*page.seen(span), 0);
    }

    #[test]
    fn bits_of_words_that_are_only_read_are_resumed_until_something_is_written() {
        let mut pages = WordPages::new();
        let span = WordSpan { first: 33, count: 1 };
        let page = pages.find(span, || Some(0));
        let empty = pages.bytes();
        let mut enter = |number, processor, resumes| {
            pages.enter(page, &visit(number, processor, resumes));
            let seen = pages.get_mut(page).map(|page| page.seen(span)).unwrap();
            let found = *seen;
            *seen |= span.bits(number == FIRST_VISIT);
            (found, pages.bytes())
        };
        assert_eq!(enter(1, 3, false), (0, empty));
        assert_eq!(enter(2, 9, true).0, 0);
        assert_eq!(enter(3, 3, true).0, 0b01_00, "its write is no part of this visit");
        let (seen, two) = enter(4, 9, true);
        assert!(seen == 0b01_00 && two > empty);
        assert_eq!(enter(5, 2, true).0, 0);
        assert!(enter(6, 3, true).1 > two);
        assert_eq!(enter(7, 9, false), (0, empty), "something was written");
    }

    #[test]
    fn pages_of_other_regions_are_forgotten() {
        let mut pages = WordPages::new();
        let [here, there, nowhere] = [0, 4096, 8192].map(|first| WordSpan { first, count: 1 });
        assert!(pages.page(nowhere, || None).is_none());
        for span in [here, there] {
            assert!(!pages.page(span, || Some(3)).is_none_or(|page| page.count(span, false)));
        }
        pages.retain(|number| (number == 0).then_some(9));
        let counts = [0, 4096].map(|word| pages.references(word).of(word));
        assert_eq!(counts, [[1, 0], [0, 0]]);
        assert_eq!(pages.page(here, || None).map(|page| page.region), Some(9));
    }
}
