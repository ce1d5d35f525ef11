//! Up to eight, or up to 16 frames a set.

use bytemuck::Zeroable;

use super::set_order::{equal, first, first_equal, list, matrix};
use super::{
    CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SPARE_SETS, SetRange, set_ranges,
};
use crate::words::WordMask;

/// Up to eight frames a set.
pub type UpTo8Ways<W> = PackedSets<W, true>;
/// Up to 16 frames a set.
pub type UpTo16Ways<W> = PackedSets<W, false>;

/// Up to 16 frames a set, or up to eight if it is `NARROW`: their order of use is kept in fewer
/// instructions. A search compares eight tags of a set at a time. Sets that were never used are all
/// zeros and take no memory.
pub struct PackedSets<W, const NARROW: bool> {
    frames: Vec<CacheFrame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    /// Extracts the number of a frame within its set.
    mask: usize,
    ranges: Box<[SetRange; CACHES]>,
    sets: Vec<PackedSet>,
    /// A bit for each frame of a set of the cache that has most.
    frames_max: u16,
}

/// The tags, the order of use and the copies of one set.
#[derive(Clone, Copy, Zeroable)]
struct PackedSet {
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: [u64; 2],
    /// The order of use, by [`matrix`] or [`list`].
    order: u64,
    /// A bit for each frame that has a copy.
    filled: u16,
    /// A bit for each frame that the set lacks, in a cache that has fewer than others.
    absent: u16,
}

/// The order of use of a set after a use of this frame.
#[inline]
fn used<const NARROW: bool>(order: u64, way: usize) -> u64 {
    if NARROW { matrix::used(order, way) } else { list::used(order, way) }
}

impl<W: WordMask, const NARROW: bool> CacheArrays<W> for PackedSets<W, NARROW> {
    const WAYS_MAX: usize = if NARROW { 8 } else { 16 };
    const ORDER_IN_WORD: bool = true;

    fn new(geometries: &[CacheGeometry]) -> Self {
        let ways_max = geometries.iter().map(|cache| cache.ways).max().unwrap_or(1);
        let stride = ways_max.next_power_of_two().trailing_zeros();
        let (ranges, sets) = set_ranges(geometries, SPARE_SETS);
        let bits = |ways: usize| u16::MAX >> (16 - ways.clamp(1, 16));
        let frames_max = bits(ways_max);
        let mut packed: Vec<PackedSet> = bytemuck::zeroed_vec(sets);
        for (range, cache) in ranges.iter().zip(geometries) {
            // Writing to all sets would allocate their memory.
            if cache.ways < ways_max {
                let absent = frames_max & !bits(cache.ways);
                packed[range.first..][..cache.sets].iter_mut().for_each(|set| set.absent = absent);
            }
        }
        Self {
            frames: CacheFrame::unused(sets << stride),
            stride,
            mask: (1 << stride) - 1,
            ranges,
            sets: packed,
            frames_max,
        }
    }

    #[inline]
    fn all(&self) -> &[CacheFrame<W>] {
        &self.frames
    }

    #[inline]
    fn all_mut(&mut self) -> &mut [CacheFrame<W>] {
        &mut self.frames
    }

    #[inline]
    fn set_of(&self, cache: usize, block: u64) -> usize {
        // The mask spares a check of bounds in every reference.
        self.ranges[cache & (CACHES - 1)].set_of(block)
    }

    #[inline]
    fn guess(&self, set: usize, block: u64) -> usize {
        let ([low, high], tag) = (self.sets[set].tags, tag(block));
        let frame = set << self.stride;
        let hits = first_equal(low, tag);
        if !NARROW && hits == 0 {
            let hits = first_equal(high, tag);
            return frame + if hits == 0 { 0 } else { 8 + first(hits) };
        }
        frame + first(hits)
    }

    #[inline]
    fn lacks(&self, set: usize, block: u64) -> bool {
        let ([low, high], tag) = (self.sets[set].tags, tag(block));
        first_equal(low, tag) == 0 && (NARROW || first_equal(high, tag) == 0)
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        let tag = tag(block);
        for (half, &tags) in self.sets[set].tags.iter().enumerate() {
            if NARROW && half > 0 {
                break;
            }
            let mut hits = equal(tags, tag);
            while hits != 0 {
                let frame = (set << self.stride) + 8 * half + first(hits);
                if self.frames[frame].is_of(block) {
                    return Some(frame);
                }
                hits &= hits - 1;
            }
        }
        None
    }

    #[inline]
    fn touch(&mut self, set: usize, frame: usize) {
        let set = &mut self.sets[set];
        set.order = used::<NARROW>(set.order, frame & self.mask);
    }

    #[inline]
    fn order(&self, set: usize) -> u64 {
        self.sets[set].order
    }

    #[inline]
    fn restore_order(&mut self, set: usize, order: u64) {
        self.sets[set].order = order;
    }

    #[inline]
    fn victim(&self, set: usize) -> usize {
        let PackedSet { order, filled, absent, .. } = self.sets[set];
        let vacant = self.frames_max & !(filled | absent);
        let candidates = if vacant == 0 { filled } else { vacant };
        let way = if NARROW {
            matrix::oldest(order, candidates)
        } else {
            list::oldest(order, candidates)
        };
        (set << self.stride) + way
    }

    #[inline(always)]
    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>) {
        self.frames[frame] = content;
        let way = frame & self.mask;
        let half = if NARROW { 0 } else { way >> 3 & 1 };
        let shift = way % 8 * 8;
        let set = &mut self.sets[set];
        set.tags[half] = set.tags[half] & !(0xff << shift) | tag(block) << shift;
        set.filled |= 1 << way;
        set.order = used::<NARROW>(set.order, way);
    }

    #[inline]
    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
        self.sets[set].filled &= !(1 << (frame & self.mask));
    }
}

/// A byte from 1 to 255 that depends on a block.
#[inline]
fn tag(block: u64) -> u64 {
    // The high bits of a product depend on all bits of its factors.
    (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).max(1)
}
