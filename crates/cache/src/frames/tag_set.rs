//! The tags and the order of use of one set of up to 16 frames.

use bytemuck::Zeroable;

/// One set of up to 16 frames, numbered from 0.
///
/// Tags are bytes, of which a search compares eight at a time. The order of use is a list of
/// four-bit numbers in one word, so that no frame moves. A set that was never used is all zeros:
/// it takes no memory until a block comes to it.
#[derive(Clone, Copy, Zeroable)]
pub(super) struct TagSet {
    /// The frames, the one used last in the lowest bits, combined with [`FIRST_ORDER`] by XOR.
    order: u64,
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: [u64; 2],
    /// A bit for each frame that was ever used, and for each that is invalidated.
    used: u16,
    invalid: u16,
}

/// The order of the frames before any is used: by their numbers.
const FIRST_ORDER: u64 = 0xfedc_ba98_7654_3210;
/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// A one in each four bits.
const NIBBLE_ONES: u64 = 0x1111_1111_1111_1111;

impl TagSet {
    /// The frame that may have the tag; if it has not, another one may still.
    #[inline]
    pub(super) fn guess(&self, tag: u64) -> usize {
        let [low, high] = self.tags;
        let hits = first_equal(low, tag);
        // Sets of up to eight frames have no high tags: the branch is always predicted for them.
        if hits == 0 && high != 0 {
            let hits = first_equal(high, tag);
            return if hits == 0 { 0 } else { 8 + first(hits) };
        }
        first(hits)
    }

    /// Whether no frame has the tag.
    #[inline]
    pub(super) fn lacks(&self, tag: u64) -> bool {
        let [low, high] = self.tags;
        first_equal(low, tag) == 0 && (high == 0 || first_equal(high, tag) == 0)
    }

    /// The first frame with the tag that `has` the block.
    #[inline]
    pub(super) fn find(&self, tag: u64, has: impl Fn(usize) -> bool) -> Option<usize> {
        for (half, &tags) in self.tags.iter().enumerate() {
            let mut hits = equal(tags, tag);
            while hits != 0 {
                let way = 8 * half + first(hits);
                if has(way) {
                    return Some(way);
                }
                hits &= hits - 1;
            }
        }
        None
    }

    /// See [`super::CacheArrays::touch`].
    #[inline]
    pub(super) fn touch(&mut self, way: usize) {
        let way = way as u64;
        // The frame used last, as it is most of the time: the first order has a 0 there.
        if self.order & 15 == way {
            return;
        }
        let order = self.order ^ FIRST_ORDER;
        // The lowest four bits that equal the way: those that differ leave a one somewhere.
        let differ = order ^ (way * NIBBLE_ONES);
        let zero = differ.wrapping_sub(NIBBLE_ONES) & !differ & (NIBBLE_ONES << 3);
        let below = ((zero & zero.wrapping_neg()) >> 3).wrapping_sub(1);
        let moved = (order & !((below << 4) | 15)) | ((order & below) << 4) | way;
        self.order = moved ^ FIRST_ORDER;
    }

    /// See [`super::CacheArrays::victim`].
    #[inline]
    pub(super) fn victim(&self, ways: usize) -> usize {
        let nth = |n: usize| usize::try_from(((self.order ^ FIRST_ORDER) >> (4 * n)) & 15);
        let unused = usize::try_from(self.used.trailing_ones()).unwrap_or(0);
        if unused < ways {
            return unused;
        }
        let oldest = nth(ways - 1).unwrap_or(0);
        if self.invalid == 0 {
            return oldest;
        }
        let mut from_oldest = (0..ways).rev().map(|n| nth(n).unwrap_or(0));
        from_oldest.find(|&way| self.invalid >> way & 1 == 1).unwrap_or(oldest)
    }

    /// The frame gets a block with this tag, which is used now.
    #[inline]
    pub(super) fn fill(&mut self, way: usize, tag: u64) {
        self.used |= 1 << way;
        self.invalid &= !(1 << way);
        let (half, shift) = (way >> 3 & 1, way % 8 * 8);
        self.tags[half] = self.tags[half] & !(0xff << shift) | tag << shift;
        self.touch(way);
    }

    /// The frame loses its copy but keeps its tag.
    #[inline]
    pub(super) fn invalidate(&mut self, way: usize) {
        self.invalid |= 1 << way;
    }
}

/// A byte from 1 to 255 that depends on a block.
#[inline]
pub(super) fn tag(block: u64) -> u64 {
    // The high bits of a product depend on all bits of its factors.
    (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).max(1)
}

/// The high bit of each byte that is the wanted one.
#[inline]
fn equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    !(((differ & !(ONES << 7)) + !(ONES << 7)) | differ) & (ONES << 7)
}

/// As [`equal`] in fewer instructions, but sometimes with the high bit of a byte above the first
/// one that is not the wanted one.
#[inline]
fn first_equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    differ.wrapping_sub(ONES) & !differ & (ONES << 7)
}

/// The position of the byte whose high bit is the lowest one; 0 if there is none.
#[inline]
fn first(high_bits: u64) -> usize {
    usize::try_from(high_bits.trailing_zeros() >> 3 & 7).unwrap_or(0)
}
