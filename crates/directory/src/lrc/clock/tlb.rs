//! Translation lookaside buffers: the pages that each processor can access without a walk of its
//! page table.

use rustc_hash::FxHashMap;

/// No page, and no slot.
const NONE: u32 = u32::MAX;

/// Entries of a processor searched first: the most recently used ones, which serve most references.
const RECENT: usize = 4;

/// A page in the address space, and its number.
pub(super) type NumberedPage = (u64, u32);

#[derive(Clone, Copy, Debug)]
struct RecentEntry {
    page: NumberedPage,
    slot: u32,
}

/// An unused entry.
const NOTHING: RecentEntry = RecentEntry { page: (u64::MAX, NONE), slot: NONE };

/// The entries of one processor; the least recently used one is replaced.
#[derive(Clone, Debug)]
struct Entries {
    /// Most recently used first. The time of use is written to `used` when an entry leaves.
    recent: [RecentEntry; RECENT],
    /// By the page's number.
    slots: FxHashMap<u32, u32>,
    /// By slot, the page's number and when it was used.
    used: Vec<(u32, u64)>,
    time: u64,
}

impl Entries {
    /// Gives an entry the latest time of use.
    fn note_use(&mut self, entry: RecentEntry) {
        if let Some((_, time)) = self.used.get_mut(index(entry.slot)) {
            self.time += 1;
            *time = self.time;
        }
    }

    /// An entry that is not among the recent ones is used.
    fn enter(&mut self, entry: RecentEntry) {
        self.note_use(self.recent[RECENT - 1]);
        self.recent.rotate_right(1);
        self.recent[0] = entry;
    }

    /// Removes an entry from the recent ones.
    fn forget(&mut self, page: u32) {
        if let Some(nth) = self.recent.iter().position(|entry| entry.page.1 == page) {
            self.recent[nth..].rotate_left(1);
            self.recent[RECENT - 1] = NOTHING;
        }
    }

    /// Frees the least recently used slot, if there is any slot.
    fn free_slot(&mut self) -> Option<u32> {
        for nth in (0..RECENT).rev() {
            self.note_use(self.recent[nth]);
        }
        let oldest = (0..self.used.len()).min_by_key(|&slot| self.used[slot].1)?;
        let (page, _) = self.used[oldest];
        self.slots.remove(&page);
        self.forget(page);
        u32::try_from(oldest).ok()
    }
}

fn index(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

/// The translation lookaside buffers of all processors, fully associative.
#[derive(Debug)]
pub(super) struct LookasideBuffers {
    size: usize,
    processors: Vec<Entries>,
    /// Fills of entries.
    pub(super) misses: u64,
}

impl LookasideBuffers {
    pub(super) fn new(processors: u16, entries: u64) -> Self {
        let none = Entries {
            recent: [NOTHING; RECENT],
            slots: FxHashMap::default(),
            used: Vec::new(),
            time: 0,
        };
        Self {
            size: usize::try_from(entries).unwrap_or(usize::MAX),
            processors: vec![none; usize::from(processors)],
            misses: 0,
        }
    }

    /// The position of a page of the address space among a processor's recent entries, and the
    /// page's number.
    pub(super) fn recent(&self, processor: u16, page: u64) -> Option<(usize, u32)> {
        let recent = &self.processors[usize::from(processor)].recent;
        let nth = recent.iter().position(|entry| entry.page.0 == page)?;
        Some((nth, recent[nth].page.1))
    }

    /// A processor uses the recent entry at this position.
    pub(super) fn use_recent(&mut self, processor: u16, nth: usize) {
        if nth > 0 {
            self.processors[usize::from(processor)].recent[..=nth].rotate_right(1);
        }
    }

    /// Whether a processor has an entry for a page; if so, the entry counts as used.
    pub(super) fn has(&mut self, processor: u16, page: NumberedPage) -> bool {
        if let Some((nth, _)) = self.recent(processor, page.0) {
            self.use_recent(processor, nth);
            return true;
        }
        let entries = &mut self.processors[usize::from(processor)];
        let slot = entries.slots.get(&page.1).copied();
        slot.inspect(|&slot| entries.enter(RecentEntry { page, slot })).is_some()
    }

    /// A processor gets an entry for a page.
    pub(super) fn fill(&mut self, processor: u16, page: NumberedPage) {
        self.misses += 1;
        if self.has(processor, page) {
            return;
        }
        let entries = &mut self.processors[usize::from(processor)];
        let slot = if entries.used.len() < self.size {
            entries.used.push((NONE, 0));
            u32::try_from(entries.used.len() - 1).unwrap_or(NONE)
        } else if let Some(slot) = entries.free_slot() {
            slot
        } else {
            // A buffer of no entries serves the page until the next fill.
            entries.recent = [NOTHING; RECENT];
            entries.enter(RecentEntry { page, slot: NONE });
            return;
        };
        entries.used[index(slot)].0 = page.1;
        entries.slots.insert(page.1, slot);
        entries.enter(RecentEntry { page, slot });
    }

    /// A page is unmapped.
    pub(super) fn remove(&mut self, processor: u16, page: u32) {
        let entries = &mut self.processors[usize::from(processor)];
        entries.forget(page);
        if let Some(slot) = entries.slots.remove(&page) {
            entries.used[index(slot)] = (NONE, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    /// A page whose address differs from its number.
    fn page(number: u32) -> NumberedPage {
        (100 + u64::from(number), number)
    }

    #[test]
    fn the_least_recently_used_entry_is_replaced() {
        let mut buffers = LookasideBuffers::new(2, 2);
        assert!(!buffers.has(0, page(7)));
        buffers.fill(0, page(7));
        buffers.fill(0, page(8));
        let all = [7, 8, 7].map(|number| buffers.has(0, page(number)));
        assert!(all == [true; 3] && !buffers.has(1, page(7)));
        buffers.fill(0, page(9));
        assert_eq!([7, 8, 9].map(|number| buffers.has(0, page(number))), [true, false, true]);
        buffers.remove(0, 9);
        assert!(!buffers.has(0, page(9)));
        buffers.fill(0, page(10));
        let all = [7, 10].map(|number| buffers.has(0, page(number)));
        assert_eq!(all, [true; 2], "the free entry was taken");
        assert_eq!(buffers.misses, 4);
    }

    /// A list of pages in order of use gives the same answers, for any number of entries.
    #[test]
    fn entries_are_those_of_a_list_in_the_order_of_use() {
        let mut rng = Rng::new(5);
        for size in [1, 2, 3, 5, 8, 20] {
            let mut buffers = LookasideBuffers::new(1, size);
            let mut list: Vec<u32> = Vec::new();
            for step in 0..20_000 {
                let number = u32::try_from(rng.below(2 * size)).unwrap();
                let known = list.iter().position(|&other| other == number);
                if let Some(at) = known {
                    list.remove(at);
                }
                if rng.below(16) == 0 {
                    buffers.remove(0, number);
                    continue;
                }
                assert_eq!(buffers.has(0, page(number)), known.is_some(), "{size}, step {step}");
                if known.is_none() {
                    buffers.fill(0, page(number));
                    list.truncate(usize::try_from(size).unwrap() - 1);
                }
                list.insert(0, number);
            }
        }
    }
}
