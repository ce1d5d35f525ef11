//! One frame a set.

use super::{
    CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SPARE_SETS, SetRange, set_ranges,
};
use crate::words::WordMask;

/// Direct-mapped caches. A set has the number of its frame. There is no order of use and no tag
/// outside the frame, so that a search reads one place in memory.
pub struct DirectMapped<W> {
    frames: Vec<CacheFrame<W>>,
    ranges: Box<[SetRange; CACHES]>,
}

impl<W: WordMask> CacheArrays<W> for DirectMapped<W> {
    const WAYS_MAX: usize = 1;
    const ORDER_IN_WORD: bool = true;

    fn new(geometries: &[CacheGeometry]) -> Self {
        let (ranges, sets) = set_ranges(geometries, SPARE_SETS);
        Self { frames: CacheFrame::unused(sets), ranges }
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
    fn guess(&self, set: usize, _: u64) -> usize {
        set
    }

    #[inline]
    fn lacks(&self, set: usize, block: u64) -> bool {
        !self.frames[set].is_of(block)
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        self.frames[set].is_of(block).then_some(set)
    }

    #[inline]
    fn touch(&mut self, _: usize, _: usize) {}

    #[inline]
    fn order(&self, _: usize) -> u64 {
        0
    }

    #[inline]
    fn restore_order(&mut self, _: usize, _: u64) {}

    #[inline]
    fn victim(&self, set: usize) -> usize {
        set
    }

    #[inline]
    fn fill(&mut self, _: usize, frame: usize, _: u64, content: CacheFrame<W>) {
        self.frames[frame] = content;
    }

    #[inline]
    fn invalidate(&mut self, _: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
    }
}
