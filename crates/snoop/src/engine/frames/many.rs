//! Any number of frames a set.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::words::Words;
use super::{BITS, CACHES, Frame, Frames, Region, Shape};

/// No frame.
const NONE: u32 = u32::MAX;

/// Any number of frames a set: an index of each cache's blocks, and a list of each set's frames in
/// order of use.
pub(crate) struct Many<W> {
    /// One more than there are frames, for the guess in a set without any.
    frames: Vec<Frame<W>>,
    regions: Box<[Region; CACHES]>,
    index: Vec<FxHashMap<u64, u32>>,
    links: Vec<Link>,
    clock: u64,
    sets: Vec<Set>,
}

/// A frame's place in its set's list.
#[derive(Clone, Copy)]
struct Link {
    /// Its neighbours, used later and earlier.
    later: u32,
    earlier: u32,
    /// When it was used last.
    stamp: u64,
}

/// One set.
#[derive(Clone)]
struct Set {
    cache: usize,
    /// Its frames: the first, how many, and how many were ever used.
    first: usize,
    ways: usize,
    used: usize,
    /// The frame used last, and the one used longest ago.
    last: u32,
    eldest: u32,
    /// Invalidated frames by when they were used last.
    invalid: BTreeMap<u64, u32>,
}

impl<W: Words> Many<W> {
    fn number(frame: usize) -> u32 {
        u32::try_from(frame).unwrap_or(NONE)
    }

    fn unlink(&mut self, set: usize, frame: usize) {
        let Link { later, earlier, .. } = self.links[frame];
        match place(later) {
            Some(later) => self.links[later].earlier = earlier,
            None => self.sets[set].last = earlier,
        }
        match place(earlier) {
            Some(earlier) => self.links[earlier].later = later,
            None => self.sets[set].eldest = later,
        }
    }

    fn link(&mut self, set: usize, frame: usize) {
        self.clock += 1;
        let last = self.sets[set].last;
        self.links[frame] = Link { later: NONE, earlier: last, stamp: self.clock };
        match place(last) {
            Some(last) => self.links[last].later = Self::number(frame),
            None => self.sets[set].eldest = Self::number(frame),
        }
        self.sets[set].last = Self::number(frame);
    }
}

/// The frame with this number, if it is one.
fn place(number: u32) -> Option<usize> {
    (number != NONE).then(|| usize::try_from(number).ok()).flatten()
}

impl<W: Words> Frames<W> for Many<W> {
    fn new(shapes: &[Shape]) -> Self {
        let mut sets = Vec::new();
        let mut first = 0;
        for (cache, &Shape { sets: count, ways }) in shapes.iter().enumerate() {
            for _ in 0..count {
                let (last, eldest, invalid) = (NONE, NONE, BTreeMap::new());
                sets.push(Set { cache, first, ways, used: 0, last, eldest, invalid });
                first += ways;
            }
        }
        Self {
            frames: vec![Frame::unused(); first + 1],
            regions: Region::all(shapes),
            index: vec![FxHashMap::default(); shapes.len()],
            links: vec![Link { later: NONE, earlier: NONE, stamp: 0 }; first],
            clock: 0,
            sets,
        }
    }

    fn all(&self) -> &[Frame<W>] {
        &self.frames
    }

    fn all_mut(&mut self) -> &mut [Frame<W>] {
        &mut self.frames
    }

    fn set(&self, cache: usize, block: u64) -> usize {
        self.regions[cache & (CACHES - 1)].set(block)
    }

    fn guess(&self, set: usize, block: u64) -> usize {
        let last = place(self.sets[set].last).unwrap_or(self.links.len());
        if self.frames[last].has_label_of(block) {
            return last;
        }
        self.find(set, block).unwrap_or(last)
    }

    fn lacks(&self, set: usize, block: u64) -> bool {
        self.find(set, block).is_none()
    }

    fn find(&self, set: usize, block: u64) -> Option<usize> {
        self.index[self.sets[set].cache].get(&block).copied().and_then(place)
    }

    fn touch(&mut self, set: usize, frame: usize) {
        if place(self.sets[set].last) != Some(frame) {
            self.unlink(set, frame);
            self.link(set, frame);
        }
    }

    fn victim(&self, set: usize) -> usize {
        let set = &self.sets[set];
        if set.used < set.ways {
            return set.first + set.used;
        }
        let invalid = set.invalid.values().next();
        let eldest = invalid.copied().unwrap_or(set.eldest);
        place(eldest).unwrap_or(set.first)
    }

    fn fill(&mut self, (set, frame): (usize, usize), block: u64, content: Frame<W>) {
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
        self.frames[frame].label &= !BITS;
        self.sets[set].invalid.insert(self.links[frame].stamp, Self::number(frame));
    }
}
