//! The state of each word of memory.

use homenode_base::ProcId;
use homenode_trace::DenseIndex;

/// Words in a page of the table.
const PAGE_WORDS: usize = 1024;

/// Words whose use while several threads run is kept together.
const LINE_WORDS: usize = 16;

/// A line that is not used while several threads run: the first, in which nothing is counted.
const NO_LINE: u32 = 0;

/// Bits of [`WordReferences::bits`]: a thread references the word.
pub(crate) const TOUCHED: u8 = 1;
/// It and the next word are parts of one value.
pub(crate) const JOINED: u8 = 2;
/// A thread that runs alone writes it.
pub(crate) const WRITTEN: u8 = 4;
/// It is updated in one step to synchronise threads, as locks and counters of users are.
pub(crate) const LOCKS: u8 = 8;
/// It is read and written in one step.
pub(crate) const ATOMIC: u8 = 16;
/// The last reference while several threads ran, by [`ConcurrentUse::last`], read it.
pub(crate) const READ_LAST: u8 = 32;
/// It is read or written plainly to synchronise threads, as the owner of a lock is.
pub(crate) const FIELD: u8 = 64;
/// A part of it is referenced alone while several threads run.
pub(crate) const PARTLY: u8 = 128;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordReferences {
    pub(crate) references: u32,
    pub(crate) first: ProcId,
    pub(crate) bits: u8,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConcurrentUse {
    /// Number of the set of users.
    pub(crate) uses: u32,
    pub(crate) references: u32,
    pub(crate) writes: u32,
    /// The writes that change a value that the thread has just read, as an addition does, in one
    /// step or without holding a lock.
    pub(crate) updates: u32,
    /// Lead of the owner in the majority vote.
    pub(crate) lead: u32,
    pub(crate) owner: ProcId,
    /// The processor of the last reference.
    pub(crate) last: ProcId,
}

type ConcurrentLine = [ConcurrentUse; LINE_WORDS];

struct WordPage {
    words: [WordReferences; PAGE_WORDS],
    lines: [u32; PAGE_WORDS / LINE_WORDS],
}

#[derive(Clone, Copy)]
pub(crate) struct WordPlace {
    page: usize,
    word: usize,
}

/// The state of each word. Most of a program's memory is initialised by one thread, and much of it
/// is never used by several threads: entries for concurrent use exist only where there is such use.
pub(crate) struct UseTable {
    pages: Vec<(u64, Box<WordPage>)>,
    /// Positions in `pages`.
    index: DenseIndex<256>,
    lines: Vec<ConcurrentLine>,
}

impl Default for UseTable {
    fn default() -> Self {
        let (pages, index) = (Vec::new(), DenseIndex::default());
        Self { pages, index, lines: vec![ConcurrentLine::default()] }
    }
}

fn page_of(word: u64) -> u64 {
    word / PAGE_WORDS as u64
}

fn within_page(word: u64) -> usize {
    usize::try_from(word % PAGE_WORDS as u64).unwrap_or(0)
}

impl UseTable {
    /// Where the entries of a word are; creates them if necessary.
    #[inline]
    pub(crate) fn place(&mut self, word: u64) -> WordPlace {
        let number = page_of(word);
        let page = self.index.number(number, || {
            let words = [WordReferences::default(); PAGE_WORDS];
            let lines = [NO_LINE; PAGE_WORDS / LINE_WORDS];
            self.pages.push((number, Box::new(WordPage { words, lines })));
            true
        });
        WordPlace { page: page as usize, word: within_page(word) }
    }

    #[inline]
    pub(crate) fn references_mut(&mut self, place: WordPlace) -> &mut WordReferences {
        &mut self.pages[place.page].1.words[place.word]
    }

    #[inline]
    pub(crate) fn concurrent_mut(&mut self, place: WordPlace) -> &mut ConcurrentUse {
        let line = &mut self.pages[place.page].1.lines[place.word / LINE_WORDS];
        if *line == NO_LINE {
            *line = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
            self.lines.push(ConcurrentLine::default());
        }
        &mut self.lines[*line as usize][place.word % LINE_WORDS]
    }

    /// Discards the counts so far: they were initialisation.
    pub(crate) fn forget_concurrent_uses(&mut self) {
        self.lines.fill(ConcurrentLine::default());
        for word in self.pages.iter_mut().flat_map(|(_, page)| page.words.iter_mut()) {
            word.bits &= !READ_LAST;
        }
    }

    pub(crate) fn sort(&mut self) {
        self.pages.sort_unstable_by_key(|page| page.0);
        self.index = DenseIndex::default();
        for &(number, _) in &self.pages {
            self.index.number(number, || true);
        }
    }

    pub(crate) fn word(&self, word: u64) -> (WordReferences, ConcurrentUse) {
        let page = self.index.known(page_of(word)).map(|page| &self.pages[page as usize].1);
        page.map_or_else(Default::default, |page| self.entries(page, within_page(word)))
    }

    fn entries(&self, page: &WordPage, word: usize) -> (WordReferences, ConcurrentUse) {
        let line = page.lines[word / LINE_WORDS] as usize;
        (page.words[word], self.lines[line][word % LINE_WORDS])
    }

    /// All referenced words with their state; in order once the pages are sorted.
    pub(crate) fn touched(
        &self,
    ) -> impl Iterator<Item = (u64, (WordReferences, ConcurrentUse))> + '_ {
        self.pages.iter().flat_map(move |(number, page)| {
            let numbers = number * PAGE_WORDS as u64..;
            let touched = move |&(_, at): &(u64, usize)| page.words[at].bits & TOUCHED != 0;
            let words = numbers.zip(0..PAGE_WORDS).filter(touched);
            words.map(move |(word, at)| (word, self.entries(page, at)))
        })
    }
}
