//! Which caches have, had and lost each block.

/// Sets of processors, one bit each.
pub(crate) type Set = u64;

/// Most processors: one bit each.
pub const PROCESSORS_MAX: u16 = 64;

/// Blocks whose records lie together: a page of the directory is found by one look-up.
const PAGE_SHIFT: u32 = 9;
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
/// Blocks are looked up by pages of 512 in a hash table with open addressing; a frame of a cache
/// remembers its block's number, so that a block is looked up when it is fetched and never again.
pub(crate) struct Directory {
    /// Whether the three sets of a record share a word.
    packed: bool,
    /// Page number of the address space, and number of the page here; `FREE` if there is none.
    slots: Vec<(u64, u32)>,
    /// What the hash of a page is shifted by, so that it is below the number of slots.
    hash_shift: u32,
    pages: u32,
    words: Vec<u64>,
}

/// No page.
const FREE: (u64, u32) = (u64::MAX, u32::MAX);
/// Slots at first.
const SLOTS: usize = 64;

/// A number that no block has; its record means nothing.
pub(crate) const SCRATCH: u32 = 0;

/// A record whose sets share a word.
#[derive(Clone, Copy)]
pub(crate) struct Packed(pub(crate) u64);

const LOW: u64 = (1 << PACKED_BITS) - 1;

impl Packed {
    /// Not 0 if other caches have a block that is fetched, or if those matter that have or lost
    /// the block that gives way for it, this one.
    #[inline]
    pub(crate) fn concerns(self, fetched: Self, matters: u64) -> u64 {
        fetched.0 & LOW | self.0 & matters
    }

    /// The caches with a valid copy, and those that lost it, in a word.
    pub(crate) const HOLDERS: u64 = LOW;
    /// See [`Self::HOLDERS`].
    pub(crate) const LOST: u64 = LOW << PACKED_BITS;

    /// Whether a cache ever had the block.
    #[inline]
    pub(crate) fn ever(self, cache: usize) -> bool {
        self.0 >> (2 * PACKED_BITS) >> cache & 1 != 0
    }

    /// The record when a cache has no frame for the block any more.
    #[inline]
    pub(crate) fn without(self, cache: usize) -> Self {
        Self(self.0 & !((1 | 1 << PACKED_BITS) << cache))
    }

    /// The record when a cache gets the block that nobody has, and that it has no frame for.
    #[inline]
    pub(crate) fn only(self, cache: usize) -> Self {
        Self(self.0 | (1 | 1 << (2 * PACKED_BITS)) << cache)
    }
}

impl Directory {
    /// An empty directory for so many processors.
    pub(crate) fn new(processors: usize) -> Self {
        let packed = processors as u64 <= u64::from(PACKED_BITS);
        let (slots, hash_shift) = (vec![FREE; SLOTS], 64 - SLOTS.trailing_zeros());
        let mut new = Self { packed, slots, hash_shift, pages: 0, words: Vec::new() };
        new.add_page();
        new
    }

    /// The records by their blocks' numbers, if they are [`Packed`].
    #[inline]
    pub(crate) fn packed(&mut self) -> Option<&mut [u64]> {
        self.packed.then_some(&mut self.words[..])
    }

    /// Room for the records of one page more. Returns its number.
    fn add_page(&mut self) -> u32 {
        let number = self.pages;
        assert!(number < 1 << (32 - PAGE_SHIFT), "fewer blocks than a number can tell apart");
        self.pages += 1;
        let per_block = if self.packed { 1 } else { SETS };
        self.words.resize(self.words.len() + (per_block << PAGE_SHIFT), 0);
        number
    }

    /// The number of a block.
    #[inline]
    pub(crate) fn number(&mut self, block: u64) -> u32 {
        let page = block >> PAGE_SHIFT;
        let (key, mut found) = self.slots[self.slot(page)];
        if key != page {
            found = self.page(page);
        }
        let offset = u32::try_from(block & ((1 << PAGE_SHIFT) - 1)).unwrap_or(0);
        found << PAGE_SHIFT | offset
    }

    /// Where the search for a page begins.
    #[inline]
    fn slot(&self, page: u64) -> usize {
        // The high bits of a product depend on all bits of its factors.
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.hash_shift;
        usize::try_from(hash).unwrap_or(0)
    }

    #[cold]
    fn page(&mut self, page: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.slot(page);
        while self.slots[at] != FREE {
            if self.slots[at].0 == page {
                return self.slots[at].1;
            }
            at = (at + 1) & mask;
        }
        let number = self.add_page();
        self.slots[at] = (page, number);
        if usize::try_from(self.pages).unwrap_or(usize::MAX) > self.slots.len() / 8 {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let empty = vec![FREE; self.slots.len() * 2];
        self.hash_shift -= 1;
        let full = std::mem::replace(&mut self.slots, empty);
        let mask = self.slots.len() - 1;
        for (page, number) in full.into_iter().filter(|&slot| slot != FREE) {
            let mut at = self.slot(page);
            while self.slots[at] != FREE {
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
