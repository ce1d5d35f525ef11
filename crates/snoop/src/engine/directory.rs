//! Which caches have, had and lost each block.

/// Sets of processors, one bit each.
pub(crate) type Set = u64;

/// Most processors: one bit each.
pub const PROCESSORS_MAX: u16 = 64;

/// Blocks whose records lie together: a page of the directory is found by one look-up.
const PAGE_SHIFT: u32 = 7;
/// Sets in a record.
const SETS: usize = 3;
/// Processors up to which the sets of a record share a word.
const PACKED_BITS: u32 = 16;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Caches with a valid copy.
    pub(crate) holders: Set,
    /// Caches with a frame that had the block and lost it to another processor.
    pub(crate) lost: Set,
    /// Caches that ever had it.
    pub(crate) ever: Set,
}

/// The records of all blocks that were ever referenced, a word each for up to 16 processors.
///
/// Blocks are looked up by pages of 128 in a hash table with open addressing; a frame of a cache
/// remembers its block's number, so that a block is looked up when it is fetched and never again.
pub(crate) struct Directory {
    /// Whether the three sets of a record share a word.
    packed: bool,
    /// Page number of the address space, and number of the page here; `FREE` if there is none.
    slots: Vec<(u64, u32)>,
    pages: u32,
    words: Vec<u64>,
}

const FREE: u32 = u32::MAX;

impl Directory {
    /// An empty directory for so many processors.
    pub(crate) fn new(processors: usize) -> Self {
        let packed = processors as u64 <= u64::from(PACKED_BITS);
        Self { packed, slots: vec![(0, FREE); 64], pages: 0, words: Vec::new() }
    }

    /// The number of a block.
    #[inline]
    pub(crate) fn number(&mut self, block: u64) -> u32 {
        let page = block >> PAGE_SHIFT;
        let (key, mut found) = self.slots[self.slot(page)];
        if found == FREE || key != page {
            found = self.page(page);
        }
        let offset = u32::try_from(block & ((1 << PAGE_SHIFT) - 1)).unwrap_or(0);
        found << PAGE_SHIFT | offset
    }

    /// Where the search for a page begins.
    #[inline]
    fn slot(&self, page: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        // The high bits of a product depend on all bits of its factors.
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
        usize::try_from(hash).unwrap_or(0)
    }

    #[cold]
    fn page(&mut self, page: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.slot(page);
        while self.slots[at].1 != FREE {
            if self.slots[at].0 == page {
                return self.slots[at].1;
            }
            at = (at + 1) & mask;
        }
        let number = self.pages;
        assert!(number < 1 << (32 - PAGE_SHIFT), "fewer blocks than a number can tell apart");
        self.slots[at] = (page, number);
        self.pages += 1;
        let per_block = if self.packed { 1 } else { SETS };
        self.words.resize(self.words.len() + (per_block << PAGE_SHIFT), 0);
        if usize::try_from(self.pages).unwrap_or(usize::MAX) > self.slots.len() / 2 {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let empty = vec![(0, FREE); self.slots.len() * 2];
        let full = std::mem::replace(&mut self.slots, empty);
        let mask = self.slots.len() - 1;
        for (page, number) in full.into_iter().filter(|&(_, number)| number != FREE) {
            let mut at = self.slot(page);
            while self.slots[at].1 != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = (page, number);
        }
    }

    /// What is known of the block with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Record {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if self.packed {
            let word = self.words[at];
            let set = |i: u32| word >> (i * PACKED_BITS) & ((1 << PACKED_BITS) - 1);
            return Record { holders: set(0), lost: set(1), ever: set(2) };
        }
        let words = &self.words[at * SETS..][..SETS];
        Record { holders: words[0], lost: words[1], ever: words[2] }
    }

    /// Keeps what is now known of it.
    #[inline]
    pub(crate) fn put(&mut self, number: u32, record: Record) {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Record { holders, lost, ever } = record;
        if self.packed {
            self.words[at] = holders | lost << PACKED_BITS | ever << (2 * PACKED_BITS);
        } else {
            self.words[at * SETS..][..SETS].copy_from_slice(&[holders, lost, ever]);
        }
    }
}

/// The processors of a set, lowest first.
pub(crate) fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        usize::try_from(first).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;
    use std::collections::HashMap;

    #[test]
    fn every_block_keeps_its_number_and_its_record() {
        for processors in [1, 16, 17, 64] {
            let mut directory = Directory::new(processors);
            let mut rng = Rng::new(3);
            let mut known: HashMap<u64, (u32, Record)> = HashMap::new();
            let set = |rng: &mut Rng| rng.next_u64() >> (64 - processors);
            for _ in 0..20_000 {
                let block = rng.below(3_000) << rng.below(40);
                let number = directory.number(block);
                let entry = known.entry(block).or_insert((number, Record::default()));
                assert_eq!(*entry, (number, directory.get(number)), "block {block}");
                let record =
                    Record { holders: set(&mut rng), lost: set(&mut rng), ever: set(&mut rng) };
                directory.put(number, record);
                entry.1 = record;
            }
            let mut numbers: Vec<u32> = known.values().map(|&(number, _)| number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), known.len());
        }
    }
}
