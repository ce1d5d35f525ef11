//! Translation lookaside buffers: which pages each processor refers to without looking at its page
//! table.

use rustc_hash::FxHashMap;

/// No page.
const NONE: u32 = u32::MAX;

/// The entries of one processor, of which the one used longest ago gives way.
#[derive(Clone, Debug, Default)]
struct Entries {
    /// The page used last, which most references are to.
    last: Option<u32>,
    slots: FxHashMap<u32, usize>,
    /// By slot, the page and when it was used.
    used: Vec<(u32, u64)>,
}

/// The translation lookaside buffers of all processors, fully associative.
#[derive(Debug)]
pub(super) struct LookasideBuffers {
    size: usize,
    processors: Vec<Entries>,
    time: u64,
    /// Fills of an entry.
    pub(super) misses: u64,
}

impl LookasideBuffers {
    /// With so many entries each.
    pub(super) fn new(processors: u16, entries: u64) -> Self {
        Self {
            size: usize::try_from(entries).unwrap_or(usize::MAX),
            processors: vec![Entries::default(); usize::from(processors)],
            time: 0,
            misses: 0,
        }
    }

    /// Whether a processor has an entry for a page, which is used now.
    #[inline]
    pub(super) fn has(&mut self, processor: u16, page: u32) -> bool {
        self.processors[usize::from(processor)].last == Some(page) || self.find(processor, page)
    }

    fn find(&mut self, processor: u16, page: u32) -> bool {
        self.time += 1;
        let entries = &mut self.processors[usize::from(processor)];
        let Some(&slot) = entries.slots.get(&page) else { return false };
        entries.used[slot].1 = self.time;
        entries.last = Some(page);
        true
    }

    /// A processor gets an entry for a page.
    pub(super) fn fill(&mut self, processor: u16, page: u32) {
        self.misses += 1;
        self.time += 1;
        let entries = &mut self.processors[usize::from(processor)];
        entries.last = Some(page);
        if let Some(&slot) = entries.slots.get(&page) {
            entries.used[slot].1 = self.time;
            return;
        }
        if entries.used.len() < self.size {
            entries.slots.insert(page, entries.used.len());
            entries.used.push((page, self.time));
            return;
        }
        let oldest = (0..entries.used.len()).min_by_key(|&slot| entries.used[slot].1);
        let Some(slot) = oldest else { return };
        entries.slots.remove(&entries.used[slot].0);
        entries.slots.insert(page, slot);
        entries.used[slot] = (page, self.time);
    }

    /// A page is mapped no longer.
    pub(super) fn remove(&mut self, processor: u16, page: u32) {
        let entries = &mut self.processors[usize::from(processor)];
        if entries.last == Some(page) {
            entries.last = None;
        }
        if let Some(slot) = entries.slots.remove(&page) {
            entries.used[slot] = (NONE, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_used_longest_ago_gives_way() {
        let mut buffers = LookasideBuffers::new(2, 2);
        assert!(!buffers.has(0, 7));
        buffers.fill(0, 7);
        buffers.fill(0, 8);
        assert!(buffers.has(0, 7) && buffers.has(0, 8) && buffers.has(0, 7) && !buffers.has(1, 7));
        buffers.fill(0, 9);
        assert!(buffers.has(0, 7) && !buffers.has(0, 8) && buffers.has(0, 9));
        buffers.remove(0, 9);
        assert!(!buffers.has(0, 9));
        buffers.fill(0, 10);
        assert!(buffers.has(0, 7) && buffers.has(0, 10), "the free entry was taken");
        assert_eq!(buffers.misses, 4);
    }
}
