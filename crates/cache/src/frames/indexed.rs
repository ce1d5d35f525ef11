//! Any number of frames a set.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SetRange, set_ranges};
use crate::words::WordMask;

const NONE: u32 = u32::MAX;

/// Any number of frames a set: an index of each cache's blocks, and a list of each set's frames in
/// order of use.
pub struct IndexedSets<W> {
    /// One more than the sets have, for a guess in a set without a used frame.
    frames: Vec<CacheFrame<W>>,
    ranges: Box<[SetRange; CACHES]>,
    index: Vec<FxHashMap<u64, u32>>,
    links: Vec<LruLink>,
    clock: u64,
    sets: Vec<IndexedSet>,
}

/// A frame's position in its set's order of use.
#[derive(Clone, Copy)]
struct LruLink {
    /// Its neighbours, used later and earlier.
    later: u32,
    earlier: u32,
    /// The clock at its last use.
    stamp: u64,
}

/// The frames of one set and their order of use.
#[derive(Clone)]
struct IndexedSet {
    cache: usize,
    /// The first of its frames, their number, and the number of those ever used.
    first: usize,
    ways: usize,
    used: usize,
    /// The most and the least recently used frame.
    last: u32,
    oldest: u32,
    /// Invalidated frames by their last use.
    invalid: BTreeMap<u64, u32>,
}

impl<W: WordMask> IndexedSets<W> {
    fn number(frame: usize) -> u32 {
        u32::try_from(frame).unwrap_or(NONE)
    }

    fn unlink(&mut self, set: usize, frame: usize) {
        let LruLink { later, earlier, .. } = self.links[frame];
        match frame_index(later) {
            Some(later) => self.links[later].earlier = earlier,
            None => self.sets[set].last = earlier,
        }
        match frame_index(earlier) {
            Some(earlier) => self.links[earlier].later = later,
            None => self.sets[set].oldest = later,
        }
    }

    fn link(&mut self, set: usize, frame: usize) {
        self.clock += 1;
        let last = self.sets[set].last;
        self.links[frame] = LruLink { later: NONE, earlier: last, stamp: self.clock };
        match frame_index(last) {
            Some(last) => self.links[last].later = Self::number(frame),
            None => self.sets[set].oldest = Self::number(frame),
        }
        self.sets[set].last = Self::number(frame);
    }
}

fn frame_index(number: u32) -> Option<usize> {
    (number != NONE).then(|| usize::try_from(number).ok()).flatten()
}

impl<W: WordMask> CacheArrays<W> for IndexedSets<W> {
    const WAYS_MAX: usize = usize::MAX;
    const ORDER_IN_WORD: bool = false;

    fn new(geometries: &[CacheGeometry]) -> Self {
        let mut sets = Vec::new();
        let mut first = 0;
        for (cache, &CacheGeometry { sets: count, ways }) in geometries.iter().enumerate() {
            for _ in 0..count {
                let (last, oldest, invalid) = (NONE, NONE, BTreeMap::new());
                sets.push(IndexedSet { cache, first, ways, used: 0, last, oldest, invalid });
                first += ways;
            }
        }
        Self {
            frames: CacheFrame::unused(first + 1),
            ranges: set_ranges(geometries, 0).0,
            index: vec![FxHashMap::default(); geometries.len()],
            links: vec![LruLink { later: NONE, earlier: NONE, stamp: 0 }; first],
            clock: 0,
            sets,
        }
    }

    fn all(&self) -> &[CacheFrame<W>] {
        &self.frames
    }

    fn all_mut(&mut self) -> &mut [CacheFrame<W>] {
        &mut self.frames
    }

    fn set_of(&self, cache: usize, block: u64) -> usize {
        self.ranges[cache & (CACHES - 1)].set_of(block)
    }

    fn guess(&self, set: usize, block: u64) -> usize {
        let last = frame_index(self.sets[set].last).unwrap_or(self.links.len());
        if self.frames[last].is_of(block) {
            return last;
        }
        self.find(set, block).unwrap_or(last)
    }

    fn lacks(&self, set: usize, block: u64) -> bool {
        self.find(set, block).is_none()
    }

    fn find(&self, set: usize, block: u64) -> Option<usize> {
        self.index[self.sets[set].cache].get(&block).copied().and_then(frame_index)
    }

    fn touch(&mut self, set: usize, frame: usize) {
        if frame_index(self.sets[set].last) != Some(frame) {
            self.unlink(set, frame);
            self.link(set, frame);
        }
    }

    fn order(&self, _: usize) -> u64 {
        0
    }

    fn restore_order(&mut self, _: usize, _: u64) {}

    fn victim(&self, set: usize) -> usize {
        let set = &self.sets[set];
        if set.used < set.ways {
            return set.first + set.used;
        }
        let invalid = set.invalid.values().next();
        let oldest = invalid.copied().unwrap_or(set.oldest);
        frame_index(oldest).unwrap_or(set.first)
    }

    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>) {
        let cache = self.sets[set].cache;
        if self.frames[frame].is_used() {
            self.sets[set].invalid.remove(&self.links[frame].stamp);
            self.index[cache].remove(&self.frames[frame].block());
            self.unlink(set, frame);
        } else {
            self.sets[set].used += 1;
        }
        self.frames[frame] = content;
        self.index[cache].insert(block, Self::number(frame));
        self.link(set, frame);
    }

    fn invalidate(&mut self, set: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
        self.sets[set].invalid.insert(self.links[frame].stamp, Self::number(frame));
    }
}
