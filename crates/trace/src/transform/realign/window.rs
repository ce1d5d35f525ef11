//! Which words of a window move, and where everything is.

use homenode_base::{Access, AccessKind, BlockSize};
use rustc_hash::FxHashMap;

use super::fresh::{Owner, Room};

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
}

impl Use {
    fn add(&mut self, other: Self) {
        self.several |= other.several || other.thread != self.thread;
        self.written |= other.written;
        self.joined |= other.joined;
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
}

impl Mapping {
    pub(super) fn new(page: BlockSize, room: Room) -> Self {
        Self { page, room, moved: FxHashMap::default() }
    }

    fn place(&self, word: u64) -> u64 {
        self.moved.get(&word).copied().unwrap_or(word)
    }

    fn page_of(&self, word: u64) -> u64 {
        self.page.block_of(self.place(word) * BlockSize::WORD_BYTES)
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
        let words = uses(window);
        let mut pages: FxHashMap<u64, Use> = FxHashMap::default();
        for &(word, found) in &words {
            let entry = pages.entry(self.page_of(word)).or_insert(found);
            entry.add(found);
        }
        let falsely = |page: u64| pages.get(&page).is_some_and(|page| page.several && page.written);
        self.room.close();
        // A word goes with the one before it if that is joined to it.
        for unit in words.chunk_by(|(_, before), _| before.joined) {
            let [(first, whole), rest @ ..] = unit else { continue };
            let (first, mut whole) = (*first, *whole);
            rest.iter().for_each(|&(_, found)| whole.add(found));
            let start = self.place(first);
            let apart = unit.iter().zip(start..).any(|(&(word, _), at)| self.place(word) != at);
            let shared = || unit.iter().any(|&(word, _)| falsely(self.page_of(word)));
            if apart || (!whole.several && shared()) {
                let length = u64::try_from(unit.len()).unwrap_or(u64::MAX);
                let place = self.room.take(whole.owner(), length);
                self.moved.extend(unit.iter().map(|&(word, _)| word).zip(place..));
            }
        }
    }
}

/// What a window does with each word, in order of address.
fn uses(window: &[Access]) -> Vec<(u64, Use)> {
    let mut words: FxHashMap<u64, Use> = FxHashMap::default();
    for access in window.iter().filter(|access| access.kind != AccessKind::Fetch) {
        let end = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
        let last = end / BlockSize::WORD_BYTES;
        for word in access.addr / BlockSize::WORD_BYTES..=last {
            let found = Use {
                thread: access.thread,
                several: false,
                written: access.kind.writes(),
                joined: word < last,
            };
            words.entry(word).or_insert(found).add(found);
        }
    }
    let mut words: Vec<(u64, Use)> = words.into_iter().collect();
    words.sort_unstable_by_key(|&(word, _)| word);
    words
}
