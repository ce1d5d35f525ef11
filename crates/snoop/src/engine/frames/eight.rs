//! Up to eight frames a set.

use super::super::words::Words;
use super::{
    BITS, CACHES, Frame, Frames, ONES, Region, Shape, equal, first, first_equal, tag, zeros,
};

/// Up to eight frames a set: a search compares all tags of a set at once, and the order of use is a
/// matrix of bits, so that a touch is two masks and the eldest frame one more comparison.
pub(crate) struct Eight<W> {
    frames: Vec<Frame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    regions: Box<[Region; CACHES]>,
    sets: Vec<Set>,
}

/// One set.
#[derive(Clone, Copy)]
struct Set {
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: u64,
    /// In byte *i*, bit *j* says that frame *i* was used after frame *j*. At first the frames are
    /// as if they had been used in order.
    after: u64,
    /// A bit for each frame without a copy: invalidated, or never used.
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

impl<W: Words> Eight<W> {
    #[inline]
    fn way(&self, set: usize, frame: usize) -> usize {
        frame - (set << self.stride)
    }
}

impl Set {
    #[inline]
    fn touch(&mut self, way: usize) {
        self.after = (self.after | ROW[way & 7]) & OTHER_COLUMNS[way & 7];
    }

    /// Of some frames the one used longest ago.
    #[inline]
    fn eldest(&self, of: u8) -> usize {
        let used_after = self.after & (u64::from(of) * ONES);
        let others = (u64::from(!of) * ONES) & DIAGONAL;
        first(zeros(used_after | others))
    }
}

impl<W: Words> Frames<W> for Eight<W> {
    fn new(shapes: &[Shape]) -> Self {
        let ways = shapes.iter().map(|shape| shape.ways).max().unwrap_or(1);
        let stride = ways.next_power_of_two().trailing_zeros();
        let sets: Vec<Set> = shapes
            .iter()
            .flat_map(|&Shape { sets, ways }| {
                let frames = u8::MAX >> (8 - ways);
                let set = Set { tags: 0, after: IN_ORDER, vacant: frames, frames };
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
        (set << self.stride) + first(first_equal(self.sets[set].tags, tag(block)))
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        let mut hits = equal(self.sets[set].tags, tag(block));
        while hits != 0 {
            let frame = (set << self.stride) + first(hits);
            if self.frames[frame].has_label_of(block) {
                return Some(frame);
            }
            hits &= hits - 1;
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
        let Set { vacant, frames, .. } = self.sets[set];
        let of = if vacant == 0 { frames } else { vacant };
        (set << self.stride) + self.sets[set].eldest(of)
    }

    #[inline]
    fn fill(&mut self, (set, frame): (usize, usize), block: u64, content: Frame<W>) {
        self.frames[frame] = content;
        let way = self.way(set, frame);
        let set = &mut self.sets[set];
        // Of a word that has the tag in each byte, one is taken.
        set.tags ^= (set.tags ^ (tag(block) * ONES)) & ROW[way & 7];
        set.vacant &= !(1 << way);
        set.touch(way);
    }

    #[inline]
    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !BITS;
        let way = self.way(set, frame);
        self.sets[set].vacant |= 1 << way;
    }
}
