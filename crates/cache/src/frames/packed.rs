//! Sets whose tags and order of use are packed into words: all that does not depend on how.

use super::{
    CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SetRange, set_ranges, tag,
};
use crate::words::WordMask;

/// The tags and the order of use of one set. Frames are numbered from 0, and a tag of 0 is that of
/// a frame that was never used.
pub trait TagSet: Copy + Send {
    /// A set of so many frames, none of them used.
    fn new(ways: usize) -> Self;
    /// The frame that may have the tag; if it has not, another one may still.
    fn guess(&self, tag: u64) -> usize;
    /// Whether no frame has the tag.
    fn lacks(&self, tag: u64) -> bool;
    /// The first frame with the tag that `has` the block.
    fn find(&self, tag: u64, has: impl Fn(usize) -> bool) -> Option<usize>;
    /// See [`CacheArrays::touch`].
    fn touch(&mut self, way: usize);
    /// See [`CacheArrays::victim`].
    fn victim(&self) -> usize;
    /// The frame gets a block with this tag, which is used now.
    fn fill(&mut self, way: usize, tag: u64);
    /// The frame loses its copy but keeps its tag.
    fn invalidate(&mut self, way: usize);
}

/// The frames of all caches, in sets of this kind.
pub struct PackedSets<S, W> {
    frames: Vec<CacheFrame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    mask: usize,
    ranges: Box<[SetRange; CACHES]>,
    sets: Vec<S>,
}

impl<S: TagSet, W: WordMask> PackedSets<S, W> {
    /// The number of a frame within its set.
    #[inline]
    fn way(&self, frame: usize) -> usize {
        frame & self.mask
    }
}

impl<S: TagSet, W: WordMask> CacheArrays<W> for PackedSets<S, W> {
    fn new(geometries: &[CacheGeometry]) -> Self {
        let ways = geometries.iter().map(|cache| cache.ways).max().unwrap_or(1);
        let stride = ways.next_power_of_two().trailing_zeros();
        let of = |cache: &CacheGeometry| std::iter::repeat_n(S::new(cache.ways), cache.sets);
        let sets: Vec<S> = geometries.iter().flat_map(of).collect();
        let frames = CacheFrame::unused(sets.len() << stride);
        Self { frames, stride, mask: (1 << stride) - 1, ranges: set_ranges(geometries, 0).0, sets }
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
        let way = self.way(frame);
        self.sets[set].touch(way);
    }

    #[inline]
    fn victim(&self, set: usize) -> usize {
        (set << self.stride) + self.sets[set].victim()
    }

    #[inline]
    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>) {
        self.frames[frame] = content;
        let way = self.way(frame);
        self.sets[set].fill(way, tag(block));
    }

    #[inline]
    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
        let way = self.way(frame);
        self.sets[set].invalidate(way);
    }
}
