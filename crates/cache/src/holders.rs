//! Which caches hold, lost and ever had each block.

/// Sets of caches, one bit each.
pub type CacheSet = u64;

/// Most caches: one bit each.
pub const CACHES_MAX: u16 = 64;

/// Blocks whose records lie together: a page of the table is found by one look-up.
const PAGE_SHIFT: u32 = 9;
/// Sets in a record.
const SETS: usize = 3;
/// Caches up to which the sets of a record share a word.
const PACKED_BITS: u32 = 16;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHolders {
    /// Caches with a valid copy.
    pub holders: CacheSet,
    /// Caches with a frame that had the block and lost it to another processor.
    pub lost: CacheSet,
    /// Caches that ever had it.
    pub ever: CacheSet,
}

/// The records of all blocks that were ever referenced, a word each for up to 16 caches.
///
/// Blocks are looked up by pages of 512 in a hash table with open addressing; a frame of a cache
/// remembers its block's number, so that a block is looked up when it is fetched and never again.
pub struct HolderTable {
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
pub const NO_BLOCK: u32 = 0;

/// A record whose sets share a word.
#[derive(Clone, Copy)]
pub struct PackedHolders(pub u64);

const LOW: u64 = (1 << PACKED_BITS) - 1;

impl PackedHolders {
    /// Not 0 if other caches have a block that is fetched, or if those matter that have or lost
    /// the block that gives way for it, this one.
    #[inline]
    pub fn concerns(self, fetched: Self, matters: u64) -> u64 {
        fetched.0 & LOW | self.0 & matters
    }

    /// The caches with a valid copy, and those that lost it, in a word.
    pub const HOLDERS: u64 = LOW;
    /// See [`Self::HOLDERS`].
    pub const LOST: u64 = LOW << PACKED_BITS;

    /// Whether a cache ever had the block.
    #[inline]
    pub fn ever(self, cache: usize) -> bool {
        self.0 >> (2 * PACKED_BITS) >> cache & 1 != 0
    }

    /// The record when a cache has no frame for the block any more.
    #[inline]
    pub fn without(self, cache: usize) -> Self {
        Self(self.0 & !((1 | 1 << PACKED_BITS) << cache))
    }

    /// The record when a cache gets the block that nobody has, and that it has no frame for.
    #[inline]
    pub fn only(self, cache: usize) -> Self {
        Self(self.0 | (1 | 1 << (2 * PACKED_BITS)) << cache)
    }
}

impl HolderTable {
    /// An empty table for so many caches.
    pub fn new(caches: usize) -> Self {
        let packed = caches as u64 <= u64::from(PACKED_BITS);
        let (slots, hash_shift) = (vec![FREE; SLOTS], 64 - SLOTS.trailing_zeros());
        let mut new = Self { packed, slots, hash_shift, pages: 0, words: Vec::new() };
        new.add_page();
        new
    }

    /// The records by their blocks' numbers, if they are [`PackedHolders`].
    #[inline]
    pub fn packed(&mut self) -> Option<&mut [u64]> {
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
    pub fn number(&mut self, block: u64) -> u32 {
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
    pub fn get(&self, number: u32) -> BlockHolders {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if self.packed {
            let word = self.words[at];
            let set = |i: u32| word >> (i * PACKED_BITS) & ((1 << PACKED_BITS) - 1);
            return BlockHolders { holders: set(0), lost: set(1), ever: set(2) };
        }
        let words = &self.words[at * SETS..][..SETS];
        BlockHolders { holders: words[0], lost: words[1], ever: words[2] }
    }

    /// Keeps what is now known of it.
    #[inline]
    pub fn put(&mut self, number: u32, record: BlockHolders) {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let BlockHolders { holders, lost, ever } = record;
        if self.packed {
            self.words[at] = holders | lost << PACKED_BITS | ever << (2 * PACKED_BITS);
        } else {
            self.words[at * SETS..][..SETS].copy_from_slice(&[holders, lost, ever]);
        }
    }
}

/// The caches of a set, lowest first.
pub fn members(mut set: CacheSet) -> impl Iterator<Item = usize> {
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
        for caches in [1, 16, 17, 64] {
            let mut table = HolderTable::new(caches);
            let mut rng = Rng::new(3);
            let mut known: HashMap<u64, (u32, BlockHolders)> = HashMap::new();
            let set = |rng: &mut Rng| rng.next_u64() >> (64 - caches);
            for _ in 0..20_000 {
                let block = rng.below(3_000) << rng.below(40);
                let number = table.number(block);
                let entry = known.entry(block).or_insert((number, BlockHolders::default()));
                assert_eq!(*entry, (number, table.get(number)), "block {block}");
                let record = BlockHolders {
                    holders: set(&mut rng),
                    lost: set(&mut rng),
                    ever: set(&mut rng),
                };
                table.put(number, record);
                entry.1 = record;
            }
            let mut numbers: Vec<u32> = known.values().map(|&(number, _)| number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), known.len());
        }
    }
}
