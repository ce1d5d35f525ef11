//! Records of the caches that have a block.

use homenode_base::{ProcId, ProcessorSet};

/// The caches that hold, lost and ever had a block, in sets of `WORDS` words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHolders<const WORDS: usize> {
    /// Caches with a valid copy.
    pub holders: ProcessorSet<WORDS>,
    /// Caches whose frame for the block lost its copy to another processor.
    pub lost: ProcessorSet<WORDS>,
    /// Caches that ever had it.
    pub ever: ProcessorSet<WORDS>,
}

/// The number of a cache as a member of a set.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "there are at most CACHES_MAX caches")]
fn id(cache: usize) -> ProcId {
    cache as ProcId
}

impl<const WORDS: usize> BlockHolders<WORDS> {
    /// The caches with a valid copy, except this one.
    #[inline]
    #[must_use]
    pub fn holders_without(&self, cache: usize) -> ProcessorSet<WORDS> {
        self.holders.without(id(cache))
    }

    /// Whether a cache ever had the block.
    #[inline]
    #[must_use]
    pub fn had(&self, cache: usize) -> bool {
        self.ever.contains(id(cache))
    }

    /// Gives a cache a frame for the block.
    #[inline]
    pub fn add_frame(&mut self, cache: usize) {
        self.lost.remove(id(cache));
        self.ever.insert(id(cache));
    }

    /// Gives a cache a valid copy.
    #[inline]
    pub fn add_holder(&mut self, cache: usize) {
        self.holders.insert(id(cache));
    }

    /// Takes the copy of a cache away because of another processor.
    #[inline]
    pub fn lose(&mut self, cache: usize) {
        self.holders.remove(id(cache));
        self.lost.insert(id(cache));
    }

    /// Takes the frame of a cache away.
    #[inline]
    pub fn remove_frame(&mut self, cache: usize) {
        self.holders.remove(id(cache));
        self.lost.remove(id(cache));
    }
}

/// The maximum number of caches for which the three sets of a record share a word.
pub(super) const PACKED_BITS: u32 = 16;
/// The bits of the first of these sets.
const LOW: u64 = (1 << PACKED_BITS) - 1;

/// A record whose three sets share a word, so that most machines need one load and one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedHolders(pub u64);

impl PackedHolders {
    /// The caches with a valid copy, as bits of a record.
    pub const HOLDERS: u64 = LOW;
    /// The caches that lost it.
    pub const LOST: u64 = LOW << PACKED_BITS;

    /// Not 0 if other caches have the `fetched` block, or if this record, of the block that it
    /// replaces, has bits among `concerned`: holders or losers that the replacement affects.
    #[inline]
    #[must_use]
    pub fn concerns(self, fetched: Self, concerned: u64) -> u64 {
        fetched.0 & LOW | self.0 & concerned
    }

    /// Whether a cache ever had the block.
    #[inline]
    #[must_use]
    pub fn had(self, cache: usize) -> bool {
        self.0 >> (2 * PACKED_BITS) >> cache & 1 != 0
    }

    /// The record when a cache has no frame for the block any more.
    #[inline]
    #[must_use]
    pub fn without(self, cache: usize) -> Self {
        Self(self.0 & !((1 | 1 << PACKED_BITS) << cache))
    }

    /// The record when a cache gets a frame for the block.
    #[inline]
    #[must_use]
    pub(super) fn with_frame(self, cache: usize) -> Self {
        Self(self.0 & !(1 << PACKED_BITS << cache) | 1 << (2 * PACKED_BITS) << cache)
    }

    /// The record when a cache has a valid copy.
    #[inline]
    #[must_use]
    pub(super) fn with_holder(self, cache: usize) -> Self {
        Self(self.0 | 1 << cache)
    }

    /// The record when a cache loses its copy to another processor.
    #[inline]
    #[must_use]
    pub(super) fn with_lost(self, cache: usize) -> Self {
        Self(self.0 & !(1 << cache) | 1 << PACKED_BITS << cache)
    }

    /// The record when a cache gets a block that no cache has and that it has no frame for.
    #[inline]
    #[must_use]
    pub fn only(self, cache: usize) -> Self {
        Self(self.0 | (1 | 1 << (2 * PACKED_BITS)) << cache)
    }

    /// The record as three sets of one word each.
    #[inline]
    pub(super) fn unpack(self) -> [u64; 3] {
        let set = |nth: u32| self.0 >> (nth * PACKED_BITS) & LOW;
        [set(0), set(1), set(2)]
    }

    /// Three sets of up to 16 caches as one word.
    #[inline]
    pub(super) fn pack([holders, lost, ever]: [u64; 3]) -> Self {
        Self(holders | lost << PACKED_BITS | ever << (2 * PACKED_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`BlockHolders`] and [`PackedHolders`] agree about the same history.
    #[test]
    fn packed_records_do_as_unpacked_ones() {
        let mut record = BlockHolders::<1>::default();
        record.add_frame(3);
        record.add_holder(3);
        let packed = PackedHolders(0).only(3);
        let sets = [record.holders, record.lost, record.ever].map(|set| set.words()[0]);
        assert_eq!(packed.unpack(), sets);
        assert_eq!(PackedHolders::pack(sets), packed);
        assert!(packed.had(3) && record.had(3) && !packed.had(4) && !record.had(4));
        record.lose(3);
        assert!(record.lost.contains(3) && record.holders.is_empty());
        record.remove_frame(3);
        let sets = [record.holders, record.lost, record.ever].map(|set| set.words()[0]);
        assert_eq!(packed.without(3).unpack(), sets);
    }

    #[test]
    fn a_replaced_block_concerns_those_that_the_protocol_says() {
        let (lost, held) = (PackedHolders(1 << PACKED_BITS), PackedHolders(1));
        let none = PackedHolders(0);
        assert_ne!(lost.concerns(none, PackedHolders::LOST), 0);
        assert_eq!(held.concerns(none, PackedHolders::LOST), 0);
        assert_ne!(held.concerns(none, PackedHolders::HOLDERS), 0);
        assert_ne!(none.concerns(held, 0), 0, "the fetched block is held elsewhere");
    }
}
