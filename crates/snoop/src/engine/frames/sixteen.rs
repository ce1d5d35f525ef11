//! Up to 16 frames a set.

use super::super::words::Words;
use super::{BITS, CACHES, Frame, Frames, Region, Shape, equal, first, first_equal, tag};

/// Up to 16 frames a set: the order of use is a list of four-bit numbers in one word, so that no
/// frame ever moves, and a search compares eight tags at a time.
pub(crate) struct Sixteen<W> {
    frames: Vec<Frame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    regions: Box<[Region; CACHES]>,
    sets: Vec<Set>,
}

/// One set.
#[derive(Clone, Copy)]
struct Set {
    /// Its frames, the one used last in the lowest bits.
    order: u64,
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: [u64; 2],
    /// A bit for each frame that was ever used, and for each that is invalidated.
    used: u16,
    invalid: u16,
    ways: u8,
}

impl<W: Words> Sixteen<W> {
    #[inline]
    fn way(&self, set: usize, frame: usize) -> usize {
        frame - (set << self.stride)
    }
}

impl Set {
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
}

impl<W: Words> Frames<W> for Sixteen<W> {
    fn new(shapes: &[Shape]) -> Self {
        let ways = shapes.iter().map(|shape| shape.ways).max().unwrap_or(1);
        let stride = ways.next_power_of_two().trailing_zeros();
        let sets: Vec<Set> = shapes
            .iter()
            .flat_map(|&Shape { sets, ways }| {
                let (order, ways) = (0xfedc_ba98_7654_3210, u8::try_from(ways).unwrap_or(16));
                let set = Set { order, tags: [0; 2], used: 0, invalid: 0, ways };
                std::iter::repeat_n(set, sets)
            })
            .collect();
        let frames = vec![Frame::unused(); sets.len() << stride];
        Self { frames, stride, regions: Region::all(shapes), sets }
    }

    #[inline]
    fn all(&self) -> &[Frame<W>] {
        &self.frames
    }

    #[inline]
    fn all_mut(&mut self) -> &mut [Frame<W>] {
        &mut self.frames
    }

    #[inline]
    fn set(&self, cache: usize, block: u64) -> usize {
        self.regions[cache & (CACHES - 1)].set(block)
    }

    #[inline]
    fn guess(&self, set: usize, block: u64) -> usize {
        let want = tag(block);
        let [low, high] = self.sets[set].tags.map(|tags| first_equal(tags, want));
        let way = if low == 0 && high != 0 { 8 + first(high) } else { first(low) };
        (set << self.stride) + way
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        let want = tag(block);
        for (half, &tags) in self.sets[set].tags.iter().enumerate() {
            let mut hits = equal(tags, want);
            while hits != 0 {
                let frame = (set << self.stride) + 8 * half + first(hits);
                if self.frames[frame].has_label_of(block) {
                    return Some(frame);
                }
                hits &= hits - 1;
            }
        }
        None
    }

    #[inline]
    fn touch(&mut self, set: usize, frame: usize) {
        let way = self.way(set, frame);
        self.sets[set].touch(way);
    }

    #[inline]
    fn victim(&self, set: usize) -> usize {
        (set << self.stride) + self.sets[set].victim()
    }

    #[inline]
    fn fill(&mut self, (set, frame): (usize, usize), block: u64, content: Frame<W>) {
        self.frames[frame] = content;
        let way = self.way(set, frame);
        let set = &mut self.sets[set];
        set.used |= 1 << way;
        set.invalid &= !(1 << way);
        let (half, shift) = (way >> 3 & 1, way % 8 * 8);
        set.tags[half] = set.tags[half] & !(0xff << shift) | tag(block) << shift;
        set.touch(way);
    }

    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !BITS;
        let way = self.way(set, frame);
        self.sets[set].invalid |= 1 << way;
    }
}
