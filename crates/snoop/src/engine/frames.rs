//! Where blocks are in a cache, and which one gives way.
//!
//! Both arrangements keep for each frame a *label*: the number of its block shifted left by two,
//! and in the low bits what the processor may do with the copy without asking anybody. An
//! invalidated frame keeps its label with no such bit.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// The label of a frame that was never used.
const UNUSED: u64 = u64::MAX;

/// Bits of a label.
pub(crate) const QUIET_READ: u64 = 1;
/// See [`QUIET_READ`].
pub(crate) const QUIET_WRITE: u64 = 2;
const BITS: u64 = 3;

/// The frames of one cache.
pub(crate) trait Frames: Send {
    /// A cache of so many sets (a power of two) with so many frames each.
    fn new(sets: usize, ways: usize) -> Self;
    /// Numbers of frames are below this.
    fn count(&self) -> usize;
    /// The frame of the block's set that was used last.
    fn front(&self, block: u64) -> usize;
    /// The label of a frame; that of [`Self::front`] may lie beyond the frames.
    fn label(&self, frame: usize) -> u64;
    /// The frame that has the block or had it last.
    fn find(&self, block: u64) -> Option<usize>;
    /// The frame becomes the one used last.
    fn touch(&mut self, block: u64, frame: usize);
    /// The frame that a new block takes: never used, else the invalidated one used longest ago,
    /// else the one used longest ago.
    fn victim(&self, block: u64) -> usize;
    /// The frame gets the block, which is used now.
    fn fill(&mut self, block: u64, frame: usize);
    /// The frame loses its copy but keeps its label.
    fn invalidate(&mut self, block: u64, frame: usize);
    /// What the processor may do with the copy without asking.
    fn allow(&mut self, frame: usize, bits: u64);
}

/// Whether the label is this block's.
#[inline]
fn is(label: u64, block: u64) -> bool {
    label ^ (block << 2) <= BITS
}

/// Whether a label was ever given.
pub(crate) fn is_used(label: u64) -> bool {
    label != UNUSED
}

/// The block of a label.
pub(crate) fn block_of(label: u64) -> u64 {
    label >> 2
}

/// Up to 16 frames a set: the order of use is a list of four-bit numbers in one word, so that no
/// frame ever moves, and a search compares eight tags at a time.
pub(crate) struct Few {
    ways: usize,
    /// From a set's first frame to the next set's: a power of two.
    stride: usize,
    set_mask: u64,
    set_bits: u32,
    /// Some more than there are frames: tags of frames that a set has not may seem to fit.
    labels: Vec<u64>,
    sets: Vec<FewSet>,
}

/// One set of [`Few`].
#[derive(Clone, Copy)]
struct FewSet {
    /// Its frames, the one used last in the lowest bits.
    order: u64,
    /// For each frame a byte that depends on its block; 0 if it was never used.
    tags: [u64; 2],
    /// A bit for each frame that was ever used, and for each that is invalidated.
    used: u16,
    invalid: u16,
}

/// Most frames in a set of [`Few`].
pub(crate) const FEW_MAX: u64 = 16;

const TAGS: u64 = 0x0101_0101_0101_0101;

impl Few {
    #[inline]
    fn set(&self, block: u64) -> usize {
        usize::try_from(block & self.set_mask).unwrap_or(0)
    }

    /// A frame's place within its set.
    #[inline]
    fn way(&self, frame: usize) -> u64 {
        (frame & (self.stride - 1)) as u64
    }

    /// A byte from 1 to 255.
    #[inline]
    fn tag(&self, block: u64) -> u64 {
        ((block >> self.set_bits).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) | 1
    }
}

/// The high bit of each byte that is the wanted tag, and sometimes of one above it that is not.
#[inline]
fn equal(tags: u64, want: u64) -> u64 {
    let differ = tags ^ (want * TAGS);
    differ.wrapping_sub(TAGS) & !differ & (TAGS << 7)
}

impl Frames for Few {
    fn new(sets: usize, ways: usize) -> Self {
        let stride = ways.next_power_of_two();
        let set = FewSet { order: 0xfedc_ba98_7654_3210, tags: [0; 2], used: 0, invalid: 0 };
        Self {
            ways,
            stride,
            set_mask: sets as u64 - 1,
            set_bits: sets.trailing_zeros(),
            labels: vec![UNUSED; sets * stride + 16],
            sets: vec![set; sets],
        }
    }

    fn count(&self) -> usize {
        self.sets.len() * self.stride
    }

    #[inline]
    fn front(&self, block: u64) -> usize {
        let set = self.set(block);
        set * self.stride + usize::try_from(self.sets[set].order & 15).unwrap_or(0)
    }

    #[inline]
    fn label(&self, frame: usize) -> u64 {
        self.labels[frame]
    }

    #[inline]
    fn find(&self, block: u64) -> Option<usize> {
        let (set, want) = (self.set(block), self.tag(block));
        let halves = if self.stride > 8 { 2 } else { 1 };
        for (half, &tags) in self.sets[set].tags[..halves].iter().enumerate() {
            let mut hits = equal(tags, want);
            while hits != 0 {
                let way = usize::try_from(hits.trailing_zeros() / 8).unwrap_or(0);
                let frame = set * self.stride + 8 * half + way;
                if is(self.labels[frame], block) {
                    return Some(frame);
                }
                hits &= hits - 1;
            }
        }
        None
    }

    #[inline]
    fn touch(&mut self, block: u64, frame: usize) {
        const ONES: u64 = 0x1111_1111_1111_1111;
        let set = self.set(block);
        let way = self.way(frame);
        let order = self.sets[set].order;
        // The lowest four bits that equal the way: those that differ leave a one somewhere.
        let differ = order ^ (way * ONES);
        let zero = differ.wrapping_sub(ONES) & !differ & (ONES << 3);
        let below = ((zero & zero.wrapping_neg()) >> 3).wrapping_sub(1);
        self.sets[set].order = (order & !((below << 4) | 15)) | ((order & below) << 4) | way;
    }

    #[inline]
    fn victim(&self, block: u64) -> usize {
        let set = self.set(block);
        let FewSet { order, used, invalid, .. } = self.sets[set];
        let unused = usize::try_from(used.trailing_ones()).unwrap_or(0);
        let nth = |n: usize| usize::try_from((order >> (4 * n)) & 15).unwrap_or(0);
        let way = if unused < self.ways {
            unused
        } else if invalid == 0 {
            nth(self.ways - 1)
        } else {
            let mut from_eldest = (0..self.ways).rev().map(nth);
            from_eldest.find(|&way| invalid >> way & 1 == 1).unwrap_or(0)
        };
        set * self.stride + way
    }

    #[inline]
    fn fill(&mut self, block: u64, frame: usize) {
        let (way, tag) = (self.way(frame), self.tag(block));
        self.labels[frame] = block << 2;
        let set = self.set(block);
        let set = &mut self.sets[set];
        set.used |= 1 << way;
        set.invalid &= !(1 << way);
        let (half, shift) = (usize::from(way > 7), way % 8 * 8);
        set.tags[half] = set.tags[half] & !(0xff << shift) | tag << shift;
        self.touch(block, frame);
    }

    fn invalidate(&mut self, block: u64, frame: usize) {
        let (set, way) = (self.set(block), self.way(frame));
        self.labels[frame] = block << 2;
        self.sets[set].invalid |= 1 << way;
    }

    #[inline]
    fn allow(&mut self, frame: usize, bits: u64) {
        self.labels[frame] = self.labels[frame] & !BITS | bits;
    }
}

/// No frame.
const NONE: u32 = u32::MAX;

/// Any number of frames a set: an index of blocks, and a list of each set's frames in order of use.
pub(crate) struct Many {
    ways: usize,
    set_mask: u64,
    /// One more than there are frames, for the front of a set without any.
    labels: Vec<u64>,
    index: FxHashMap<u64, u32>,
    /// Neighbours of each frame in its set's list: used later, used earlier.
    later: Vec<u32>,
    earlier: Vec<u32>,
    /// When each frame was used last.
    stamp: Vec<u64>,
    clock: u64,
    sets: Vec<ManySet>,
}

/// One set of [`Many`].
#[derive(Clone)]
struct ManySet {
    last: u32,
    eldest: u32,
    used: usize,
    /// Invalidated frames by when they were used last.
    invalid: BTreeMap<u64, u32>,
}

impl Many {
    fn set(&self, block: u64) -> usize {
        usize::try_from(block & self.set_mask).unwrap_or(0)
    }

    fn number(frame: usize) -> u32 {
        u32::try_from(frame).unwrap_or(NONE)
    }

    fn unlink(&mut self, set: usize, frame: usize) {
        let (later, earlier) = (self.later[frame], self.earlier[frame]);
        match place(later) {
            Some(later) => self.earlier[later] = earlier,
            None => self.sets[set].last = earlier,
        }
        match place(earlier) {
            Some(earlier) => self.later[earlier] = later,
            None => self.sets[set].eldest = later,
        }
    }

    fn link(&mut self, set: usize, frame: usize) {
        self.clock += 1;
        self.stamp[frame] = self.clock;
        let last = self.sets[set].last;
        (self.later[frame], self.earlier[frame]) = (NONE, last);
        match place(last) {
            Some(last) => self.later[last] = Self::number(frame),
            None => self.sets[set].eldest = Self::number(frame),
        }
        self.sets[set].last = Self::number(frame);
    }
}

/// The frame with this number, if it is one.
fn place(number: u32) -> Option<usize> {
    (number != NONE).then(|| usize::try_from(number).ok()).flatten()
}

impl Frames for Many {
    fn new(sets: usize, ways: usize) -> Self {
        let frames = sets * ways;
        let set = ManySet { last: NONE, eldest: NONE, used: 0, invalid: BTreeMap::new() };
        Self {
            ways,
            set_mask: sets as u64 - 1,
            labels: vec![UNUSED; frames + 1],
            index: FxHashMap::default(),
            later: vec![NONE; frames],
            earlier: vec![NONE; frames],
            stamp: vec![0; frames],
            clock: 0,
            sets: vec![set; sets],
        }
    }

    fn count(&self) -> usize {
        self.stamp.len()
    }

    fn front(&self, block: u64) -> usize {
        place(self.sets[self.set(block)].last).unwrap_or(self.labels.len() - 1)
    }

    fn label(&self, frame: usize) -> u64 {
        self.labels[frame]
    }

    fn find(&self, block: u64) -> Option<usize> {
        self.index.get(&block).copied().and_then(place)
    }

    fn touch(&mut self, block: u64, frame: usize) {
        let set = self.set(block);
        self.unlink(set, frame);
        self.link(set, frame);
    }

    fn victim(&self, block: u64) -> usize {
        let set = self.set(block);
        let (used, invalid) = (self.sets[set].used, self.sets[set].invalid.values().next());
        if used < self.ways {
            return set * self.ways + used;
        }
        let eldest = invalid.copied().unwrap_or(self.sets[set].eldest);
        place(eldest).unwrap_or(set * self.ways)
    }

    fn fill(&mut self, block: u64, frame: usize) {
        let set = self.set(block);
        if is_used(self.labels[frame]) {
            self.sets[set].invalid.remove(&self.stamp[frame]);
            self.index.remove(&block_of(self.labels[frame]));
            self.unlink(set, frame);
        } else {
            self.sets[set].used += 1;
        }
        self.labels[frame] = block << 2;
        self.index.insert(block, Self::number(frame));
        self.link(set, frame);
    }

    fn invalidate(&mut self, block: u64, frame: usize) {
        let set = self.set(block);
        self.labels[frame] = block << 2;
        self.sets[set].invalid.insert(self.stamp[frame], Self::number(frame));
    }

    fn allow(&mut self, frame: usize, bits: u64) {
        self.labels[frame] = self.labels[frame] & !BITS | bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    /// Both arrangements do the same, whatever happens.
    #[test]
    fn few_and_many_agree() {
        for ways in [1, 2, 4, 8, 16] {
            let (mut few, mut many) = (Few::new(4, ways), Many::new(4, ways));
            let mut rng = Rng::new(u64::try_from(ways).unwrap());
            for _ in 0..20_000 {
                let block = rng.below(40);
                let found = few.find(block);
                assert_eq!(found, many.find(block));
                match (found, rng.below(4)) {
                    (Some(frame), 0) => {
                        if few.label(frame) & BITS != 0 {
                            few.invalidate(block, frame);
                            many.invalidate(block, frame);
                        }
                    }
                    (Some(frame), _) if few.label(frame) & BITS != 0 => {
                        few.touch(block, frame);
                        many.touch(block, frame);
                    }
                    (_, _) => {
                        let frame = found.unwrap_or_else(|| few.victim(block));
                        assert_eq!(frame, found.unwrap_or_else(|| many.victim(block)));
                        few.put(block, frame);
                        many.put(block, frame);
                    }
                }
            }
        }
    }

    trait Put {
        fn put(&mut self, block: u64, frame: usize);
    }

    impl<F: Frames> Put for F {
        fn put(&mut self, block: u64, frame: usize) {
            self.fill(block, frame);
            self.allow(frame, QUIET_READ);
        }
    }

    #[test]
    fn the_victim_is_unused_then_invalidated_then_eldest() {
        let mut cache = Few::new(1, 3);
        for block in [10, 11, 12] {
            let frame = cache.victim(block);
            assert!(!is_used(cache.label(frame)));
            cache.fill(block, frame);
        }
        // Used longest ago: 10, then 11, then 12.
        let frames = [10, 11, 12].map(|block| cache.find(block).unwrap());
        assert_eq!(cache.victim(13), frames[0]);
        cache.invalidate(12, frames[2]);
        assert_eq!(cache.victim(13), frames[2], "the invalidated one first");
        cache.invalidate(11, frames[1]);
        assert_eq!(cache.victim(13), frames[1], "of those the one used longest ago");
        assert_eq!(cache.find(11), Some(frames[1]), "it keeps its block's number");
    }
}
