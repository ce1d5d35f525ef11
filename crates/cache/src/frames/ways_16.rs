//! Up to 16 frames a set.

use super::packed::TagSet;
use super::{equal, first, first_equal};

/// Up to 16 frames a set: the order of use is a list of four-bit numbers in one word, so that no
/// frame ever moves, and a search compares eight tags at a time.
#[derive(Clone, Copy)]
pub struct Ways16 {
    /// Its frames, the one used last in the lowest bits.
    order: u64,
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: [u64; 2],
    /// A bit for each frame that was ever used, and for each that is invalidated.
    used: u16,
    invalid: u16,
    ways: u8,
}

impl TagSet for Ways16 {
    fn new(ways: usize) -> Self {
        let (order, ways) = (0xfedc_ba98_7654_3210, u8::try_from(ways).unwrap_or(16));
        Self { order, tags: [0; 2], used: 0, invalid: 0, ways }
    }

    #[inline]
    fn guess(&self, tag: u64) -> usize {
        let [low, high] = self.tags.map(|tags| first_equal(tags, tag));
        if low == 0 && high != 0 { 8 + first(high) } else { first(low) }
    }

    #[inline]
    fn lacks(&self, tag: u64) -> bool {
        let [low, high] = self.tags.map(|tags| first_equal(tags, tag));
        low | high == 0
    }

    #[inline]
    fn find(&self, tag: u64, has: impl Fn(usize) -> bool) -> Option<usize> {
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

    #[inline]
    fn touch(&mut self, way: usize) {
        const ONES: u64 = 0x1111_1111_1111_1111;
        let way = way as u64;
        // The lowest four bits that equal the way: those that differ leave a one somewhere.
        let differ = self.order ^ (way * ONES);
        let zero = differ.wrapping_sub(ONES) & !differ & (ONES << 3);
        let below = ((zero & zero.wrapping_neg()) >> 3).wrapping_sub(1);
        self.order = (self.order & !((below << 4) | 15)) | ((self.order & below) << 4) | way;
    }

    fn victim(&self) -> usize {
        let ways = usize::from(self.ways);
        let unused = usize::try_from(self.used.trailing_ones()).unwrap_or(0);
        let nth = |n: usize| usize::try_from((self.order >> (4 * n)) & 15).unwrap_or(0);
        if unused < ways {
            return unused;
        }
        let mut from_eldest = (0..ways).rev().map(nth);
        let invalid = from_eldest.find(|&way| self.invalid >> way & 1 == 1);
        invalid.unwrap_or_else(|| nth(ways - 1))
    }

    #[inline]
    fn fill(&mut self, way: usize, tag: u64) {
        self.used |= 1 << way;
        self.invalid &= !(1 << way);
        let (half, shift) = (way >> 3 & 1, way % 8 * 8);
        self.tags[half] = self.tags[half] & !(0xff << shift) | tag << shift;
        self.touch(way);
    }

    fn invalidate(&mut self, way: usize) {
        self.invalid |= 1 << way;
    }
}
