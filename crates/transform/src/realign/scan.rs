//! The uses of each word in a window, which do not depend on the page size.

use homenode_base::{Access, BlockSize};

use super::sets::ThreadSets;
use super::word_table::{GROUP, WordTable};

/// A number that stands for no entry of a table.
const NONE: u32 = u32::MAX;

/// The use of a word, or of a page, in a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowUse {
    /// The word; of a page, its first one that is referenced.
    pub(super) word: u64,
    pub(super) threads: u64,
    /// The set of the other threads, as a number of [`ThreadSets`].
    pub(super) more: u32,
    pub(super) references: u32,
    /// Number of the word.
    pub(super) number: u32,
    pub(super) thread: u16,
    pub(super) several: bool,
    pub(super) written: bool,
    pub(super) joined: bool,
    /// For a page, whether its words differ in the threads that reference them.
    pub(super) mixed: bool,
}

impl WindowUse {
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.several |= other.several || other.thread != self.thread;
        self.written |= other.written;
        self.mixed |= other.threads != self.threads || other.more != self.more;
        self.references += other.references;
    }
}

/// Numbers the words of a trace and collects, window by window, their uses.
pub struct WindowScan {
    length: u64,
    counted: u64,
    words: WordTable,
    /// By word number: its index in `uses`; [`NONE`] before its first reference.
    places: Vec<u32>,
    /// By group: the last window that referenced it.
    windows: Vec<u32>,
    window: u32,
    touched: Vec<usize>,
    uses: Vec<WindowUse>,
    /// The same in order of address, once the window is complete.
    sorted: Vec<WindowUse>,
    sets: ThreadSets,
}

impl WindowScan {
    /// Windows of `window` references.
    #[must_use]
    pub fn new(window: u64) -> Self {
        Self {
            length: window,
            counted: 0,
            words: WordTable::default(),
            places: Vec::new(),
            windows: Vec::new(),
            window: 1,
            touched: Vec::new(),
            uses: Vec::new(),
            sorted: Vec::new(),
            sets: ThreadSets::default(),
        }
    }

    /// Adds a data reference to the window; returns the number of the word in which it begins.
    #[inline]
    pub fn push(&mut self, thread: u16, addr: u64, size: u8, writes: bool) -> u32 {
        let end = addr.saturating_add(u64::from(size).saturating_sub(1));
        let (first, last) = (addr / BlockSize::WORD_BYTES, end / BlockSize::WORD_BYTES);
        let mut number = self.number(first);
        let begin = self.touch(first, number, thread);
        begin.references += 1;
        begin.written |= writes;
        begin.joined |= first < last;
        let result = begin.number;
        for word in first + 1..=last {
            // Words of a group have consecutive numbers, which saves the look-up.
            let same = !word.is_multiple_of(GROUP as u64);
            number = if same { number + 1 } else { self.number(word) };
            let found = self.touch(word, number, thread);
            found.written |= writes;
            found.joined |= word < last;
        }
        self.counted += 1;
        result
    }

    #[inline]
    fn number(&mut self, word: u64) -> usize {
        let number = self.words.number(word);
        if number >= self.places.len() {
            self.places.resize(self.words.len(), NONE);
            self.windows.resize(self.words.groups().len(), 0);
        }
        number
    }

    /// The use of a word, after a reference to it by the thread.
    #[inline]
    fn touch(&mut self, word: u64, number: usize, thread: u16) -> &mut WindowUse {
        let mut place = self.places[number] as usize;
        if self.uses.get(place).is_none_or(|found| found.word != word) {
            place = self.begin(word, number, thread);
        }
        let found = &mut self.uses[place];
        if found.several || found.thread != thread {
            found.several = true;
            include(found, thread, &mut self.sets);
        }
        found
    }

    fn begin(&mut self, word: u64, number: usize, thread: u16) -> usize {
        let place = self.uses.len();
        let mut found = WindowUse {
            word,
            threads: 0,
            more: 0,
            references: 0,
            number: u32::try_from(number).unwrap_or(NONE),
            thread,
            several: false,
            written: false,
            joined: false,
            mixed: false,
        };
        include(&mut found, thread, &mut self.sets);
        self.uses.push(found);
        self.places[number] = u32::try_from(place).unwrap_or(NONE);
        let last = &mut self.windows[number / GROUP];
        if std::mem::replace(last, self.window) != self.window {
            self.touched.push(number / GROUP);
        }
        place
    }

    /// Whether the window is complete.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.counted == self.length
    }

    /// Whether the window has no reference.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counted == 0
    }

    /// Ends the window: now mappings can be re-aligned to it.
    pub fn close(&mut self) {
        let groups = self.words.groups();
        self.touched.sort_unstable_by_key(|&group| groups[group]);
        self.sorted.clear();
        for &group in &self.touched {
            for number in group * GROUP..(group + 1) * GROUP {
                let found = self.uses.get(self.places[number] as usize);
                self.sorted.extend(found.filter(|found| found.number as usize == number));
            }
        }
    }

    /// Begins another window.
    pub fn next(&mut self) {
        self.counted = 0;
        self.window = self.window.wrapping_add(1);
        self.uses.clear();
        self.touched.clear();
        self.sorted.clear();
        self.sets.clear();
    }

    /// The number of the word in which a reference begins, if a window has referenced its group.
    pub fn find(&mut self, access: &Access) -> Option<u32> {
        let number = self.words.find(access.addr / BlockSize::WORD_BYTES)?;
        u32::try_from(number).ok()
    }

    /// Approximate bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let size = |count: usize, each: usize| count as u64 * each as u64;
        size(self.words.len(), 4 + 32 / GROUP) + size(self.uses.len(), 2 * size_of::<WindowUse>())
    }

    pub(super) fn sorted(&self) -> &[WindowUse] {
        &self.sorted
    }

    /// The groups by which words are numbered.
    pub(super) fn groups(&self) -> &[u64] {
        self.words.groups()
    }

    pub(super) fn referenced(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        self.words.in_order().into_iter().flat_map(move |group| {
            let first = self.words.groups()[group] * GROUP as u64;
            let words = (first..).zip(group * GROUP..(group + 1) * GROUP);
            words.filter(|&(_, number)| self.places.get(number).is_some_and(|&at| at != NONE))
        })
    }
}

#[inline]
fn include(found: &mut WindowUse, thread: u16, sets: &mut ThreadSets) {
    if thread < 64 {
        found.threads |= 1 << thread;
    } else {
        found.more = sets.with(found.more, thread);
    }
}
