//! The present address of every word, at one page size.

use homenode_base::BlockSize;
use homenode_trace::{Metadata, MovedRange};

use super::free_range::{AddressMap, FreeRange, PageUser};
use super::origins::WordOrigins;
use super::owners::Owners;
use super::pages::{PageName, Pages};
use super::report::{FalseSharing, Realignment, gone, objects};
use super::scan::{WindowScan, WindowUse};
use super::word_table::GROUP;

/// The present address of each word, at one page size.
pub struct WordMapping {
    page: BlockSize,
    free_pages: FreeRange,
    /// By word number: its present place, in words.
    places: Vec<u64>,
    /// By word number: whether a window referenced it at its original address.
    stayed: Vec<bool>,
    /// By new page: whether a window referenced it.
    visited: Vec<bool>,
    /// Pages of the window, before and after words move.
    pages: Pages,
    /// By word of the window: its page in `pages`.
    on: Vec<u32>,
    report: Realignment,
    origins: Option<WordOrigins>,
}

impl WordMapping {
    /// The identity. `None` if there are not enough free addresses for the new pages.
    #[must_use]
    pub fn new(addresses: &AddressMap, page: BlockSize, window: u64) -> Option<Self> {
        Some(Self {
            page,
            free_pages: FreeRange::outside_of(addresses, page, window)?,
            places: Vec::new(),
            stayed: Vec::new(),
            visited: Vec::new(),
            pages: Pages::default(),
            on: Vec::new(),
            report: Realignment { page_size: page.bytes(), window, ..Realignment::default() },
            origins: None,
        })
    }

    /// Also records the origins of words on new pages, for [`WordMapping::ranges`].
    #[must_use]
    pub fn with_origins(self, metadata: &Metadata) -> Self {
        let origins = Some(WordOrigins::new(Owners::new(metadata), self.page));
        Self { origins, ..self }
    }

    /// The contents of the new pages, object by object, in order; empty without origins.
    #[must_use]
    pub fn ranges(&self) -> Vec<MovedRange> {
        self.origins.as_ref().map_or_else(Vec::new, WordOrigins::ranges)
    }

    /// The address of the byte at `addr`, which lies in the word of this number.
    #[inline]
    #[must_use]
    pub fn address(&self, number: u32, addr: u64) -> u64 {
        self.places[number as usize] * BlockSize::WORD_BYTES + addr % BlockSize::WORD_BYTES
    }

    /// Approximate bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let words = self.places.len() as u64 * 9;
        words
            + self.free_pages.pages() * 5
            + self.on.len() as u64 * (4 + size_of::<WindowUse>() as u64)
    }

    /// Moves words according to a complete window. Must be called for every window of the scan.
    pub fn realign(&mut self, scan: &WindowScan) {
        self.add_words(scan.groups());
        let words = scan.sorted();
        let before = self.before(words);
        add(&mut self.report.before, before);
        self.find_pages(words);
        let moves = self.rearrange(words);
        if moves > 0 {
            self.find_pages(words);
        }
        self.report.moves += moves;
        add(&mut self.report.after, self.pages.falsely_shared());
        self.mark_referenced(words);
        self.report.windows += 1;
    }

    fn add_words(&mut self, groups: &[u64]) {
        let met = self.places.len() / GROUP;
        for &group in &groups[met..] {
            let first = group * GROUP as u64;
            self.places.extend(first..first + GROUP as u64);
        }
        self.stayed.resize(self.places.len(), false);
    }

    fn page_of(&self, place: u64) -> u64 {
        self.page.block_of(place * BlockSize::WORD_BYTES)
    }

    #[inline]
    fn page_name(&self, place: u64) -> PageName {
        self.free_pages
            .page_at(place)
            .map_or_else(|| PageName::Original(self.page_of(place)), PageName::New)
    }

    fn before(&mut self, words: &[WindowUse]) -> FalseSharing {
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        for found in words {
            pages.add(PageName::Original(self.page_of(found.word)), found);
        }
        let total = pages.falsely_shared();
        self.pages = pages;
        total
    }

    fn find_pages(&mut self, words: &[WindowUse]) {
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        self.on.clear();
        for found in words {
            let page = self.page_name(self.places[found.number as usize]);
            self.on.push(pages.add(page, found));
        }
        self.pages = pages;
    }

    /// Moves words from pages that may be falsely shared; returns their number.
    fn rearrange(&mut self, words: &[WindowUse]) -> u64 {
        self.free_pages.begin_window();
        let (mut first, mut moves) = (0, 0);
        // Words that one reference touches move as a unit.
        for unit in words.chunk_by(|before, _| before.joined) {
            let on = &self.on[first..first + unit.len()];
            first += unit.len();
            let [whole, more @ ..] = unit else { continue };
            let mut whole = *whole;
            more.iter().for_each(|found| whole.add(found));
            let place = |found: &WindowUse| self.places[found.number as usize];
            let apart = unit.windows(2).any(|pair| place(&pair[0]) + 1 != place(&pair[1]));
            let shared = || on.iter().any(|&page| self.pages.may_be_falsely_shared(page));
            if apart || (!whole.several && shared()) {
                let owner =
                    if whole.several { PageUser::Several } else { PageUser::Thread(whole.thread) };
                let start = self.free_pages.allocate(owner, unit.len() as u64);
                for (found, place) in unit.iter().zip(start..) {
                    self.places[found.number as usize] = place;
                    if let Some(origins) = &mut self.origins {
                        origins.moved(found.word, place);
                    }
                }
                moves += unit.len() as u64;
            }
        }
        if let Some(origins) = &mut self.origins {
            origins.end_window();
        }
        moves
    }

    fn mark_referenced(&mut self, words: &[WindowUse]) {
        self.visited.resize(usize::try_from(self.free_pages.pages()).unwrap_or(usize::MAX), false);
        for found in words {
            match self.free_pages.page_at(self.places[found.number as usize]) {
                Some(page) => self.visited[page] = true,
                None => self.stayed[found.number as usize] = true,
            }
        }
    }

    /// The report, with names from the metadata of the trace.
    #[must_use]
    pub fn report(&self, scan: &WindowScan, metadata: &Metadata) -> Realignment {
        let new_pages = self.free_pages.pages();
        let mut moved = Vec::new();
        let [mut pages_before, mut stayed] = [0, 0];
        // Words come in order of address, so those of a page come together.
        let [mut last_before, mut last_stayed] = [None, None];
        for (word, number) in scan.referenced() {
            let page = Some(self.page_of(word));
            pages_before += u64::from(std::mem::replace(&mut last_before, page) != page);
            if self.stayed.get(number) == Some(&true) {
                stayed += u64::from(std::mem::replace(&mut last_stayed, page) != page);
            }
            moved.extend(self.places.get(number).filter(|&&place| place != word).map(|_| word));
        }
        let visited = self.visited.iter().filter(|&&visited| visited).count();
        Realignment {
            words_moved: moved.len() as u64,
            new_pages,
            new_bytes: new_pages * self.page.bytes(),
            pages_before,
            pages_after: stayed + visited as u64,
            gone: gone(self.report.before.references, self.report.after.references),
            objects: objects(&moved, metadata),
            ..self.report.clone()
        }
    }
}

fn add(total: &mut FalseSharing, window: FalseSharing) {
    total.pages += window.pages;
    total.references += window.references;
}
