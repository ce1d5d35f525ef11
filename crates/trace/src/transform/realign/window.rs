//! Which words of a window move, and where everything is.

use homenode_base::{Access, AccessKind, BlockSize};
use rustc_hash::{FxHashMap, FxHashSet};

use super::fresh::{Owner, Room};
use super::report::{FalseSharing, Realignment, objects};
use super::sets::Sets;
use crate::model::Metadata;

/// What a window does with a word, or with a page.
#[derive(Clone, Copy)]
struct Use {
    /// The first thread that references it.
    thread: u16,
    /// Whether another one does.
    several: bool,
    /// Whether one writes it.
    written: bool,
    /// Whether a reference touches it and the next word.
    joined: bool,
    /// The threads that reference it, a number of [`Sets`]; of a page, those of its first word.
    threads: u32,
    /// Whether it is a page with words that other threads reference.
    mixed: bool,
    /// References that begin in it.
    references: u64,
}

impl Use {
    fn add(&mut self, other: Self) {
        self.several |= other.several || other.thread != self.thread;
        self.written |= other.written;
        self.joined |= other.joined;
        self.mixed |= other.threads != self.threads;
        self.references += other.references;
    }

    fn owner(self) -> Owner {
        if self.several { Owner::Several } else { Owner::Thread(self.thread) }
    }
}

/// Where each word is.
pub(super) struct Mapping {
    page: BlockSize,
    room: Room,
    /// Present places of the words that moved, in words.
    moved: FxHashMap<u64, u64>,
    sets: Sets,
    /// Pages of the original trace, and of the new one.
    pages: [FxHashSet<u64>; 2],
    report: Realignment,
}

impl Mapping {
    pub(super) fn new(page: BlockSize, room: Room) -> Self {
        Self {
            page,
            room,
            moved: FxHashMap::default(),
            sets: Sets::default(),
            pages: Default::default(),
            report: Realignment { page_size: page.bytes(), ..Realignment::default() },
        }
    }

    fn place(&self, word: u64) -> u64 {
        self.moved.get(&word).copied().unwrap_or(word)
    }

    fn page_of(&self, place: u64) -> u64 {
        self.page.block_of(place * BlockSize::WORD_BYTES)
    }

    /// The reference where its data is now.
    pub(super) fn moved(&self, access: &Access) -> Access {
        if access.kind == AccessKind::Fetch {
            return *access;
        }
        let place = self.place(access.addr / BlockSize::WORD_BYTES);
        let addr = place * BlockSize::WORD_BYTES + access.addr % BlockSize::WORD_BYTES;
        Access { addr, ..*access }
    }

    /// Moves what a window asks for.
    pub(super) fn realign(&mut self, window: &[Access]) {
        let words = uses(window, &mut self.sets);
        let before = pages(words.iter().map(|&(word, found)| (self.page_of(word), found)));
        self.pages[0].extend(before.keys());
        add(&mut self.report.before, &before);
        // Looked up once: these tables are larger than caches.
        let mut places: Vec<u64> = words.iter().map(|&(word, _)| self.place(word)).collect();
        let now = self.occupied(&words, &places);
        self.rearrange(&words, &mut places, &now);
        let after = self.occupied(&words, &places);
        self.pages[1].extend(after.keys());
        add(&mut self.report.after, &after);
        self.report.windows += 1;
    }

    /// Pages with words at these places.
    fn occupied(&self, words: &[(u64, Use)], places: &[u64]) -> FxHashMap<u64, Use> {
        pages(words.iter().zip(places).map(|(&(_, found), &place)| (self.page_of(place), found)))
    }

    /// Moves words off pages that may be falsely shared.
    fn rearrange(
        &mut self,
        words: &[(u64, Use)],
        mut places: &mut [u64],
        pages: &FxHashMap<u64, Use>,
    ) {
        let falsely = |page: u64| pages.get(&page).is_some_and(|page| page.several && page.written);
        self.room.close();
        // A word goes with the one before it if that is joined to it.
        for unit in words.chunk_by(|(_, before), _| before.joined) {
            let (here, rest) = std::mem::take(&mut places).split_at_mut(unit.len());
            places = rest;
            let [(_, whole), more @ ..] = unit else { continue };
            let mut whole = *whole;
            more.iter().for_each(|&(_, found)| whole.add(found));
            let apart = here.windows(2).any(|pair| pair[0] + 1 != pair[1]);
            let shared = || here.iter().any(|&place| falsely(self.page_of(place)));
            if apart || (!whole.several && shared()) {
                let length = u64::try_from(unit.len()).unwrap_or(u64::MAX);
                let start = self.room.take(whole.owner(), length);
                self.report.moves += length;
                self.moved.extend(unit.iter().map(|&(word, _)| word).zip(start..));
                here.iter_mut().zip(start..).for_each(|(place, new)| *place = new);
            }
        }
    }

    /// What was done, with the names of the trace that it was done to.
    pub(super) fn report(&self, metadata: &Metadata) -> Realignment {
        let mut words: Vec<u64> = self.moved.keys().copied().collect();
        words.sort_unstable();
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let new_pages = self.room.pages();
        let [before, after] = [self.report.before, self.report.after];
        Realignment {
            words_moved: number(words.len()),
            new_pages,
            new_bytes: new_pages * self.page.bytes(),
            pages_before: number(self.pages[0].len()),
            pages_after: number(self.pages[1].len()),
            gone: gone(before.references, after.references),
            objects: objects(&words, metadata),
            ..self.report.clone()
        }
    }
}

/// The part of the references that are there no longer.
fn gone(before: u64, after: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    let part = || 1.0 - after as f64 / before as f64;
    (before > 0).then(part)
}

/// What a window does with each page, from words with the page that each is on.
fn pages(words: impl Iterator<Item = (u64, Use)>) -> FxHashMap<u64, Use> {
    let mut pages: FxHashMap<u64, Use> = FxHashMap::default();
    for (page, found) in words {
        pages
            .entry(page)
            .and_modify(|page| page.add(found))
            .or_insert(Use { mixed: false, ..found });
    }
    pages
}

/// Counts a window's falsely shared pages.
fn add(total: &mut FalseSharing, pages: &FxHashMap<u64, Use>) {
    for page in pages.values().filter(|page| page.several && page.written && page.mixed) {
        total.pages += 1;
        total.references += page.references;
    }
}

/// What a window does with each word, in order of address.
fn uses(window: &[Access], sets: &mut Sets) -> Vec<(u64, Use)> {
    let mut words: FxHashMap<u64, Use> = FxHashMap::default();
    for access in window.iter().filter(|access| access.kind != AccessKind::Fetch) {
        let end = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
        let last = end / BlockSize::WORD_BYTES;
        let first = access.addr / BlockSize::WORD_BYTES;
        for word in first..=last {
            let found = words.entry(word).or_insert_with(|| Use {
                thread: access.thread,
                several: false,
                written: false,
                joined: false,
                threads: sets.with(0, access.thread),
                mixed: false,
                references: 0,
            });
            if found.several || found.thread != access.thread {
                found.several = true;
                found.threads = sets.with(found.threads, access.thread);
            }
            found.written |= access.kind.writes();
            found.joined |= word < last;
            found.references += u64::from(word == first);
        }
    }
    let mut words: Vec<(u64, Use)> = words.into_iter().collect();
    words.sort_unstable_by_key(|&(word, _)| word);
    words
}
