//! Up to eight frames a set.

use super::packed::TagSet;
use super::{ONES, equal, first, first_equal, zeros};

/// Up to eight frames a set: a search compares all tags of a set at once, and the order of use is a
/// matrix of bits, so that a touch is two masks and finding the least recently used frame one more
/// comparison.
#[derive(Clone, Copy)]
pub struct Ways8 {
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: u64,
    /// In byte *i*, bit *j* says that frame *i* was used after frame *j*. At first the frames are
    /// as if they had been used in order.
    after: u64,
    /// In each byte the frames of which one gives way next: a bit for each without a copy,
    /// invalidated or never used; if there is none, a bit for each frame.
    candidates: u64,
    /// A bit for each frame without a copy.
    vacant: u8,
    /// A bit for each frame.
    frames: u8,
}

/// All bits of byte *i*.
const ROW: [u64; 8] = {
    let mut rows = [0; 8];
    let mut way = 0;
    while way < 8 {
        rows[way] = 0xff << (8 * way);
        way += 1;
    }
    rows
};
/// All bits but bit *i* of each byte.
const OTHER_COLUMNS: [u64; 8] = {
    let mut columns = [0; 8];
    let mut way = 0;
    while way < 8 {
        columns[way] = !(ONES << way);
        way += 1;
    }
    columns
};

/// Byte *i* with bit *i*.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;
/// Byte *i* with all bits below *i*.
const IN_ORDER: u64 = 0x7f3f_1f0f_0703_0100;

impl Ways8 {
    /// These frames have no copy now.
    #[inline]
    fn vacate(&mut self, vacant: u8) {
        self.vacant = vacant;
        self.candidates = u64::from(if vacant == 0 { self.frames } else { vacant }) * ONES;
    }
}

impl TagSet for Ways8 {
    fn new(ways: usize) -> Self {
        let frames = u8::MAX >> (8 - ways);
        Self {
            tags: 0,
            after: IN_ORDER,
            candidates: u64::from(frames) * ONES,
            vacant: frames,
            frames,
        }
    }

    #[inline]
    fn guess(&self, tag: u64) -> usize {
        first(first_equal(self.tags, tag))
    }

    #[inline]
    fn lacks(&self, tag: u64) -> bool {
        first_equal(self.tags, tag) == 0
    }

    #[inline]
    fn find(&self, tag: u64, has: impl Fn(usize) -> bool) -> Option<usize> {
        let mut hits = equal(self.tags, tag);
        while hits != 0 {
            let way = first(hits);
            if has(way) {
                return Some(way);
            }
            hits &= hits - 1;
        }
        None
    }

    #[inline]
    fn touch(&mut self, way: usize) {
        self.after = (self.after | ROW[way & 7]) & OTHER_COLUMNS[way & 7];
    }

    #[inline]
    fn victim(&self) -> usize {
        // Of those the one that none of them was used before.
        first(zeros((self.after & self.candidates) | (DIAGONAL & !self.candidates)))
    }

    #[inline]
    fn fill(&mut self, way: usize, tag: u64) {
        // Of a word that has the tag in each byte, one is taken.
        self.tags ^= (self.tags ^ (tag * ONES)) & ROW[way & 7];
        if self.vacant != 0 {
            self.vacate(self.vacant & !(1 << way));
        }
        self.touch(way);
    }

    #[inline]
    fn invalidate(&mut self, way: usize) {
        self.vacate(self.vacant | 1 << way);
    }
}
