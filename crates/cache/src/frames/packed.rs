//! Up to 16 frames a set.

use super::{CACHES, CacheArrays, CacheFrame, CacheGeometry, PERMISSIONS, SetRange, set_ranges};
use crate::words::WordMask;

/// Unused sets behind those of each cache. The number of a cache's sets is a power of two: without
/// these the copies of a block would share few sets of the host's caches.
const SPARE_SETS: usize = 5;

/// In a stamp: the frame is not invalidated. Frames without it are older than all others.
const VALID: u64 = 1 << 63;

/// Up to 16 frames a set. A search compares eight tags of a set at a time; the order of use is a
/// stamp for each frame, so that a use is one store. Sets that were never used are all zeros and
/// take no memory.
pub struct UpTo16Ways<W> {
    frames: Vec<CacheFrame<W>>,
    /// From a set's first frame to the next set's, as a shift.
    stride: u32,
    ranges: Box<[SetRange; CACHES]>,
    /// By set: for each frame a byte that depends on its block; 0 if it was never used.
    tags: Vec<[u64; 2]>,
    /// By frame: the clock at its last use, and [`VALID`]; 0 if it was never used.
    stamps: Vec<u64>,
    /// Uses so far.
    clock: u64,
    /// Frames of each set; where it is empty, `ways_max` in all.
    ways: Vec<u8>,
    ways_max: usize,
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
            ranges,
            tags: vec![[0; 2]; sets],
            stamps: vec![0; sets << stride],
            clock: 0,
            ways: if differ { geometries.iter().flat_map(ways).collect() } else { Vec::new() },
            ways_max,
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
        let ([low, high], tag) = (self.tags[set], tag(block));
        let frame = set << self.stride;
        let hits = first_equal(low, tag);
        // Sets of up to eight frames have no high tags: the branch is always predicted for them.
        if hits == 0 && high != 0 {
            let hits = first_equal(high, tag);
            return frame + if hits == 0 { 0 } else { 8 + first(hits) };
        }
        frame + first(hits)
    }

    #[inline]
    fn lacks(&self, set: usize, block: u64) -> bool {
        let ([low, high], tag) = (self.tags[set], tag(block));
        first_equal(low, tag) == 0 && (high == 0 || first_equal(high, tag) == 0)
    }

    #[inline]
    fn find(&self, set: usize, block: u64) -> Option<usize> {
        let tag = tag(block);
        for (half, &tags) in self.tags[set].iter().enumerate() {
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
    fn touch(&mut self, _: usize, frame: usize) {
        self.clock += 1;
        let stamp = &mut self.stamps[frame];
        *stamp = *stamp & VALID | self.clock;
    }

    #[inline]
    fn victim(&self, set: usize) -> usize {
        let ways = self.ways.get(set).map_or(self.ways_max, |&ways| usize::from(ways));
        let first = set << self.stride;
        let (mut oldest, mut victim) = (u64::MAX, 0);
        for (way, &stamp) in self.stamps[first..first + ways].iter().enumerate() {
            if stamp < oldest {
                (oldest, victim) = (stamp, way);
            }
        }
        first + victim
    }

    #[inline]
    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>) {
        self.frames[frame] = content;
        let way = frame - (set << self.stride);
        let (half, shift) = (way >> 3 & 1, way % 8 * 8);
        let tags = &mut self.tags[set][half];
        *tags = *tags & !(0xff << shift) | tag(block) << shift;
        self.clock += 1;
        self.stamps[frame] = VALID | self.clock;
    }

    #[inline]
    fn invalidate(&mut self, _: usize, frame: usize) {
        self.frames[frame].label &= !PERMISSIONS;
        self.stamps[frame] &= !VALID;
    }
}

/// A byte from 1 to 255 that depends on a block.
#[inline]
fn tag(block: u64) -> u64 {
    // The high bits of a product depend on all bits of its factors.
    (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).max(1)
}

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is the wanted one.
#[inline]
fn equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    !(((differ & !(ONES << 7)) + !(ONES << 7)) | differ) & (ONES << 7)
}

/// As [`equal`] in fewer instructions, but sometimes with the high bit of a byte above the first
/// one that is not the wanted one.
#[inline]
fn first_equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    differ.wrapping_sub(ONES) & !differ & (ONES << 7)
}

/// The position of the byte whose high bit is the lowest one; 0 if there is none.
#[inline]
fn first(high_bits: u64) -> usize {
    usize::try_from(high_bits.trailing_zeros() >> 3 & 7).unwrap_or(0)
}
