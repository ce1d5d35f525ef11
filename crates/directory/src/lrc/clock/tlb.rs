//! Translation lookaside buffers: the pages that each processor can access without a walk of its
//! page table.

/// A page in the address space, and its number.
pub(super) type NumberedPage = (u64, u32);

/// The translation lookaside buffers of all processors, fully associative.
#[derive(Debug)]
pub(super) struct LookasideBuffers {
    /// Most entries of a processor. A buffer of no entries serves a page until the next fill.
    size: usize,
    /// By processor its entries, the most recently used first: nearly all references are to the
    /// first few.
    processors: Vec<Vec<NumberedPage>>,
    /// Fills of entries.
    pub(super) misses: u64,
}

impl LookasideBuffers {
    pub(super) fn new(processors: u16, entries: u64) -> Self {
        let size = usize::try_from(entries.max(1)).unwrap_or(usize::MAX);
        Self { size, processors: vec![Vec::new(); usize::from(processors)], misses: 0 }
    }

    /// The position of a page of the address space among a processor's entries, and the page's
    /// number.
    pub(super) fn find(&self, processor: u16, page: u64) -> Option<(usize, u32)> {
        let entries = &self.processors[usize::from(processor)];
        let nth = entries.iter().position(|entry| entry.0 == page)?;
        Some((nth, entries[nth].1))
    }

    /// A processor uses the entry at this position.
    pub(super) fn note_use(&mut self, processor: u16, nth: usize) {
        if nth > 0 {
            self.processors[usize::from(processor)][..=nth].rotate_right(1);
        }
    }

    /// A processor gets an entry for a page, in place of the least recently used one.
    pub(super) fn fill(&mut self, processor: u16, page: NumberedPage) {
        self.misses += 1;
        self.remove(processor, page.1);
        let entries = &mut self.processors[usize::from(processor)];
        entries.truncate(self.size - 1);
        entries.insert(0, page);
    }

    /// A page is unmapped.
    pub(super) fn remove(&mut self, processor: u16, page: u32) {
        self.processors[usize::from(processor)].retain(|entry| entry.1 != page);
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

    /// Whether a processor has an entry for a page; if so, the entry counts as used.
    fn has(buffers: &mut LookasideBuffers, processor: u16, number: u32) -> bool {
        let found = buffers.find(processor, page(number).0);
        found.inspect(|&(nth, _)| buffers.note_use(processor, nth)).is_some()
    }

    #[test]
    fn the_least_recently_used_entry_is_replaced() {
        let mut buffers = LookasideBuffers::new(2, 2);
        assert!(!has(&mut buffers, 0, 7));
        buffers.fill(0, page(7));
        buffers.fill(0, page(8));
        let all = [7, 8, 7].map(|number| has(&mut buffers, 0, number));
        assert!(all == [true; 3] && !has(&mut buffers, 1, 7));
        buffers.fill(0, page(9));
        assert_eq!([7, 8, 9].map(|number| has(&mut buffers, 0, number)), [true, false, true]);
        buffers.remove(0, 9);
        assert!(!has(&mut buffers, 0, 9));
        buffers.fill(0, page(10));
        let all = [7, 10].map(|number| has(&mut buffers, 0, number));
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
                assert_eq!(has(&mut buffers, 0, number), known.is_some(), "{size}, step {step}");
                if known.is_none() {
                    buffers.fill(0, page(number));
                    list.truncate(usize::try_from(size).unwrap() - 1);
                }
                list.insert(0, number);
            }
        }
    }
}
