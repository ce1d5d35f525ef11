//! Up to 16 frames a set.

use super::tag_set::{TagSet, tag};
use super::{CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SetRange, set_ranges};
use crate::words::WordMask;

/// Unused sets behind those of each cache. A cache has a power of two of them: without these the
/// copies of a block would all lie in few sets of the caches of the machine that simulates this.
const SPARE_SETS: usize = 5;

/// Up to 16 frames a set: the tags and the order of use of a set are packed into words.
pub struct UpTo16Ways<W> {
    frames: Vec<CacheFrame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    /// Extracts the number of a frame within its set.
    mask: usize,
    ranges: Box<[SetRange; CACHES]>,
    sets: Vec<TagSet>,
    /// Frames of each set; the most of any where no more is said.
    ways_max: usize,
    ways: Vec<u8>,
}

impl<W: WordMask> CacheArrays<W> for UpTo16Ways<W> {
    fn new(geometries: &[CacheGeometry]) -> Self {
        let ways_max = geometries.iter().map(|cache| cache.ways).max().unwrap_or(1);
        let stride = ways_max.next_power_of_two().trailing_zeros();
        let (ranges, sets) = set_ranges(geometries, SPARE_SETS);
        let ways = |cache: &CacheGeometry| {
            let ways = u8::try_from(cache.ways).unwrap_or(u8::MAX);
            std::iter::repeat_n(ways, cache.sets + SPARE_SETS)
        };
        let differ = geometries.iter().any(|cache| cache.ways != ways_max);
        Self {
            frames: CacheFrame::unused(sets << stride),
            stride,
            mask: (1 << stride) - 1,
            ranges,
            sets: bytemuck::zeroed_vec(sets),
            ways_max,
            ways: if differ { geometries.iter().flat_map(ways).collect() } else { Vec::new() },
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
        (set << self.stride) + self.sets[set].guess(tag(block))
    }

    #[inline]
    fn lacks(&self, set: usize, block: u64) -> bool {
        self.sets[set].lacks(tag(block))
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        let first = set << self.stride;
        let has = |way: usize| self.frames[first + way].is_of(block);
        self.sets[set].find(tag(block), has).map(|way| first + way)
    }

    #[inline]
    fn touch(&mut self, set: usize, frame: usize) {
        self.sets[set].touch(frame & self.mask);
    }

    #[inline]
    fn victim(&self, set: usize) -> usize {
        let ways = self.ways.get(set).map_or(self.ways_max, |&ways| usize::from(ways));
        (set << self.stride) + self.sets[set].victim(ways)
    }

    #[inline]
    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>) {
        self.frames[frame] = content;
        self.sets[set].fill(frame & self.mask, tag(block));
    }

    #[inline]
    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
        self.sets[set].invalidate(frame & self.mask);
    }
}
