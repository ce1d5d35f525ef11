//! The caches that hold, lost and ever had each block.

mod record;

use homenode_base::ProcessorSet;

use record::PACKED_BITS;
pub use record::{BlockHolders, PackedHolders};

/// The maximum number of caches of a machine: one for data and one for instructions for each of
/// 1,024 processors.
pub const CACHES_MAX: usize = 64 * WIDE_WORDS;
/// Words of a set of caches that suffice for any machine.
pub const WIDE_WORDS: usize = 32;
/// The maximum number of caches of a machine whose sets of caches are one word.
pub const NARROW_CACHES_MAX: usize = 64;

/// Blocks whose records lie together: a page of the table is found by one look-up.
const PAGE_SHIFT: u32 = 9;
/// Sets in a record.
const SETS: usize = 3;

/// The records of all blocks that were ever referenced: one word for up to 16 caches, else three
/// sets of as many words as the caches need, at most `WORDS`.
///
/// `WORDS` is a constant, so that the sets of machines of up to 64 caches are machine words
/// (`HolderTable<1>`).
///
/// Blocks are looked up by pages of 512 in a hash table with open addressing. A frame keeps its
/// block's number, so that a block is looked up only when it is fetched.
pub struct HolderTable<const WORDS: usize> {
    /// Whether the three sets of a record share a word.
    packed: bool,
    /// Words of a stored set.
    set_words: usize,
    /// A page of the address space and its number in the table; `FREE` where there is none.
    slots: Vec<(u64, u32)>,
    /// Shift of a page's hash that makes it a slot.
    hash_shift: u32,
    pages: u32,
    words: Vec<u64>,
}

const FREE: (u64, u32) = (u64::MAX, u32::MAX);
/// Initial number of slots.
const SLOTS: usize = 64;

/// A number that no block has; its record means nothing.
pub const NO_BLOCK: u32 = 0;

impl<const WORDS: usize> HolderTable<WORDS> {
    /// An empty table for this number of caches.
    #[must_use]
    pub fn new(caches: usize) -> Self {
        assert!(caches <= 64 * WORDS, "sets of {WORDS} words for {caches} caches");
        let packed = WORDS == 1 && caches as u64 <= u64::from(PACKED_BITS);
        let set_words = caches.div_ceil(64);
        let (slots, hash_shift) = (vec![FREE; SLOTS], 64 - SLOTS.trailing_zeros());
        let mut new = Self { packed, set_words, slots, hash_shift, pages: 0, words: Vec::new() };
        new.add_page();
        new
    }

    /// The records by their blocks' numbers, if they are [`PackedHolders`].
    #[inline]
    pub fn packed(&mut self) -> Option<&mut [u64]> {
        self.packed.then_some(&mut self.words[..])
    }

    /// Makes room for the records of another page. Returns its number.
    fn add_page(&mut self) -> u32 {
        let number = self.pages;
        assert!(number < 1 << (32 - PAGE_SHIFT), "fewer blocks than a number can tell apart");
        self.pages += 1;
        let per_block = if self.packed { 1 } else { SETS * self.set_words };
        self.words.resize(self.words.len() + (per_block << PAGE_SHIFT), 0);
        number
    }

    /// The number of a block, which gets one if it has none.
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

    /// The slot where the search for a page begins.
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

    /// The first word of a record, and the words of each of its sets: a constant where `WORDS` is
    /// 1.
    #[inline]
    fn place(&self, number: u32) -> (usize, usize) {
        let set_words = if WORDS == 1 { 1 } else { self.set_words };
        (usize::try_from(number).unwrap_or(usize::MAX) * SETS * set_words, set_words)
    }

    /// The record of the block with this number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u32) -> BlockHolders<WORDS> {
        if WORDS == 1 && self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let sets = PackedHolders(self.words[at]).unpack();
            let [holders, lost, ever] = sets.map(|word| ProcessorSet::from_words(&[word]));
            return BlockHolders { holders, lost, ever };
        }
        let (first, set_words) = self.place(number);
        let record = &self.words[first..][..SETS * set_words];
        let (holders, rest) = record.split_at(set_words);
        let (lost, ever) = rest.split_at(set_words);
        let [holders, lost, ever] = [holders, lost, ever].map(ProcessorSet::from_words);
        BlockHolders { holders, lost, ever }
    }

    /// Stores the record of a block.
    #[inline]
    pub fn put(&mut self, number: u32, record: &BlockHolders<WORDS>) {
        let BlockHolders { holders, lost, ever } = record;
        if WORDS == 1 && self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let sets = [holders, lost, ever].map(|set| set.words()[0]);
            self.words[at] = PackedHolders::pack(sets).0;
            return;
        }
        let (first, set_words) = self.place(number);
        let kept = self.words[first..][..SETS * set_words].chunks_exact_mut(set_words);
        for (kept, set) in kept.zip([holders, lost, ever]) {
            kept.copy_from_slice(&set.words()[..set_words]);
        }
    }

    /// The word of a cache's bit in the first set of a record, the distance to the same word of the
    /// next set, and the bit.
    #[inline]
    fn bit(&self, number: u32, cache: usize) -> (usize, usize, u64) {
        let (first, set_words) = self.place(number);
        (first + cache / 64, set_words, 1 << (cache % 64))
    }

    /// Whether no cache has a frame that lost the block.
    #[inline]
    #[must_use]
    pub fn none_lost(&self, number: u32) -> bool {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            return self.words[at] & PackedHolders::LOST == 0;
        }
        let (first, set_words) = self.place(number);
        self.words[first + set_words..][..set_words].iter().all(|&word| word == 0)
    }

    /// [`BlockHolders::remove_frame`] in place.
    #[inline]
    pub fn remove_frame(&mut self, number: u32, cache: usize) {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            self.words[at] = PackedHolders(self.words[at]).without(cache).0;
            return;
        }
        let (at, next, bit) = self.bit(number, cache);
        self.words[at] &= !bit;
        self.words[at + next] &= !bit;
    }

    /// [`BlockHolders::add_frame`] in place. Returns whether the cache ever had the block.
    #[inline]
    pub fn add_frame(&mut self, number: u32, cache: usize) -> bool {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let record = PackedHolders(self.words[at]);
            self.words[at] = record.with_frame(cache).0;
            return record.had(cache);
        }
        let (at, next, bit) = self.bit(number, cache);
        self.words[at + next] &= !bit;
        let ever = &mut self.words[at + 2 * next];
        let had = *ever & bit != 0;
        *ever |= bit;
        had
    }

    /// [`BlockHolders::add_holder`] in place.
    #[inline]
    pub fn add_holder(&mut self, number: u32, cache: usize) {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            self.words[at] = PackedHolders(self.words[at]).with_holder(cache).0;
            return;
        }
        let (at, _, bit) = self.bit(number, cache);
        self.words[at] |= bit;
    }

    /// [`BlockHolders::lose`] in place.
    #[inline]
    pub fn lose(&mut self, number: u32, cache: usize) {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            self.words[at] = PackedHolders(self.words[at]).with_lost(cache).0;
            return;
        }
        let (at, next, bit) = self.bit(number, cache);
        self.words[at] &= !bit;
        self.words[at + next] |= bit;
    }

    /// [`BlockHolders::add_frame`] and [`BlockHolders::add_holder`] in place. Returns whether the
    /// cache ever had the block.
    #[inline]
    pub fn add_copy(&mut self, number: u32, cache: usize) -> bool {
        if self.packed {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let record = PackedHolders(self.words[at]);
            self.words[at] = record.without(cache).only(cache).0;
            return record.had(cache);
        }
        let (at, next, bit) = self.bit(number, cache);
        self.words[at] |= bit;
        self.words[at + next] &= !bit;
        let ever = &mut self.words[at + 2 * next];
        let had = *ever & bit != 0;
        *ever |= bit;
        had
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;
    use std::collections::HashMap;

    /// Random records of random blocks, for this number of caches. Blocks are numbers
    /// below `numbers` times powers of two. A page of the table has 512 records, each of 768 bytes
    /// for 2,048 caches: few numbers keep that small.
    fn keeps_records<const WORDS: usize>(caches: usize, numbers: u64) {
        let mut table = HolderTable::<WORDS>::new(caches);
        let mut rng = Rng::new(3);
        let mut known: HashMap<u64, (u32, BlockHolders<WORDS>)> = HashMap::new();
        let set = |rng: &mut Rng| {
            let mut set = ProcessorSet::EMPTY;
            for _ in 0..rng.below(5) {
                set.insert(u16::try_from(rng.below(caches as u64)).unwrap());
            }
            set
        };
        for _ in 0..20_000 {
            let block = rng.below(numbers) << rng.below(40);
            let number = table.number(block);
            let entry = known.entry(block).or_insert((number, BlockHolders::default()));
            assert_eq!(*entry, (number, table.get(number)), "block {block}");
            let (holders, lost, ever) = (set(&mut rng), set(&mut rng), set(&mut rng));
            let mut record = BlockHolders { holders, lost, ever };
            table.put(number, &record);
            // What is changed in place is changed as in a record that is taken out.
            assert_eq!(table.none_lost(number), lost.is_empty());
            let cache = usize::try_from(rng.below(caches as u64)).unwrap();
            match rng.below(5) {
                0 => {
                    table.remove_frame(number, cache);
                    record.remove_frame(cache);
                }
                1 => {
                    table.add_holder(number, cache);
                    record.add_holder(cache);
                }
                2 => {
                    table.lose(number, cache);
                    record.lose(cache);
                }
                3 => {
                    assert_eq!(table.add_frame(number, cache), record.had(cache));
                    record.add_frame(cache);
                }
                _ => {
                    assert_eq!(table.add_copy(number, cache), record.had(cache));
                    record.add_frame(cache);
                    record.add_holder(cache);
                }
            }
            entry.1 = record;
        }
        let mut numbers: Vec<u32> = known.values().map(|&(number, _)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), known.len());
    }

    #[test]
    fn every_block_keeps_its_number_and_its_record() {
        for caches in [1, 16, 17, 64] {
            keeps_records::<1>(caches, 3_000);
        }
        for caches in [1, 65, 128, 1000, CACHES_MAX] {
            keeps_records::<WIDE_WORDS>(caches, 40);
        }
    }
}
