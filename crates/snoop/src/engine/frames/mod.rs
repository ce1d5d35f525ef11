//! Where blocks are in the caches, and which one gives way.
//!
//! The frames of all caches lie in one array, those of a set together, so that a reference knows
//! the set by its number and looks into no cache in particular. Each frame has a *label*: the
//! number of its block shifted left by two, and in the low bits what the processor may do with the
//! copy without asking anybody. An invalidated frame keeps its label with no such bit.

mod eight;
mod few;
mod many;
mod sixteen;

/// Up to eight frames a set.
pub(crate) type Eight<W> = few::Few<eight::Set, W>;
/// Up to 16 frames a set.
pub(crate) type Sixteen<W> = few::Few<sixteen::Set, W>;
pub(crate) use many::Many;

use super::directory::SCRATCH;

/// The label of a frame that was never used.
const UNUSED: u64 = u64::MAX;

/// Bits of a label.
pub(crate) const QUIET_READ: u64 = 1;
/// See [`QUIET_READ`].
pub(crate) const QUIET_WRITE: u64 = 2;
const BITS: u64 = 3;

/// Why a frame lost its copy, or what is still open about the copy it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Story {
    /// Nothing.
    #[default]
    None,
    /// The copy was fetched by an invalidation miss that is not yet known to be true sharing.
    Open,
    /// The same, and it was the kernel's reference that missed.
    OpenKernel,
    /// Another processor's transaction invalidated the copy.
    Invalidated,
    /// The copy went with its process.
    Removed,
}

impl Story {
    /// Whether the miss is still open.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::OpenKernel)
    }

    /// Whether the miss is still open, and then whether it is the kernel's.
    #[inline]
    pub(crate) fn open(self) -> Option<bool> {
        self.is_open().then_some(self == Self::OpenKernel)
    }
}

/// A frame and what is known of the copy in it: all that a reference needs lies side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<W> {
    pub(crate) label: u64,
    /// The words its holder has read, and those it has written since the others were last told
    /// ([`Self::take_written`]).
    pub(crate) marks: [W; 2],
    /// The words that others wrote since the copy was lost, or before an open miss.
    pub(crate) fresh: W,
    /// Number of the block in the directory.
    pub(crate) number: u32,
    pub(crate) state: u8,
    pub(crate) story: Story,
}

/// Positions in [`Frame::marks`].
pub(crate) const READ: usize = 0;
/// See [`READ`].
pub(crate) const WRITTEN: usize = 1;

impl<W: super::words::Words> Frame<W> {
    fn unused() -> Self {
        Self { label: UNUSED, ..Self::of(0, SCRATCH) }
    }

    /// A frame for a block that is not there yet.
    #[inline]
    pub(crate) fn of(block: u64, number: u32) -> Self {
        let none = W::default();
        let (marks, story) = ([none; 2], Story::None);
        Self { label: block << 2, marks, fresh: none, number, state: 0, story }
    }

    /// Whether it ever had a block.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.label != UNUSED
    }

    /// The block that it has or had.
    #[inline]
    pub(crate) fn block(&self) -> u64 {
        self.label >> 2
    }

    #[inline]
    fn has_label_of(&self, block: u64) -> bool {
        self.label ^ (block << 2) <= BITS
    }

    /// Whether it has a copy of the block, with which the processor may do this without asking.
    #[inline]
    pub(crate) fn allows(&self, block: u64, need: u64) -> bool {
        // All but the bit that is not needed.
        let relevant = !BITS | need;
        (self.label ^ (block << 2 | need)) & relevant == 0
    }

    /// Sets what the processor may do with the copy without asking.
    #[inline]
    pub(crate) fn allow(&mut self, bits: u64) {
        self.label = self.label & !BITS | bits;
    }

    /// Words that the holder touched during the life of its copy.
    pub(crate) fn touched(&self) -> W {
        let [mut touched, written] = self.marks;
        touched.add(written);
        touched
    }

    /// Words written since the last call; they count as touched from now on.
    pub(crate) fn take_written(&mut self) -> W {
        let written = std::mem::take(&mut self.marks[WRITTEN]);
        self.marks[READ].add(written);
        written
    }
}

/// Sets (a power of two) and frames in each of one cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) sets: usize,
    pub(crate) ways: usize,
}

/// The frames of all caches. Sets and frames are numbered through all of them.
pub(crate) trait Frames<W>: Send {
    /// Caches of these shapes.
    fn new(shapes: &[Shape]) -> Self;
    fn all(&self) -> &[Frame<W>];
    fn all_mut(&mut self) -> &mut [Frame<W>];
    /// The set of a cache in which a block can be.
    fn set(&self, cache: usize, block: u64) -> usize;
    /// The frame of a set that may have the block; if it has not, another one may still.
    fn guess(&self, set: usize, block: u64) -> usize;
    /// Whether no frame of a set has the block or had it last; sometimes unduly false.
    fn lacks(&self, set: usize, block: u64) -> bool;
    /// The frame of a set that has the block or had it last.
    fn find(&self, set: usize, block: u64) -> Option<usize>;
    /// The frame becomes the one used last.
    fn touch(&mut self, set: usize, frame: usize);
    /// The frame that a new block takes: never used, else the invalidated one used longest ago,
    /// else the one used longest ago.
    fn victim(&self, set: usize) -> usize;
    /// A set's frame gets a block, which is used now, and all else that is in it.
    fn fill(&mut self, place: (usize, usize), block: u64, content: Frame<W>);
    /// The frame loses its copy but keeps its label.
    fn invalidate(&mut self, set: usize, frame: usize);
}

/// Boxes the `new` of a type that has an arrangement of frames and a size of blocks as parameters,
/// for the smallest that do.
macro_rules! arranged {
    ($kind:ident, $setup:expr, $($argument:expr),+) => {{
        use $crate::engine::frames::{Eight, Many, Sixteen};
        let (block, ways) = $setup.geometry()?;
        match (block.words(), ways) {
            (..=32, ..=8) => Box::new($kind::<Eight<u32>, u32>::new($setup, $($argument),+)?),
            (..=32, ..=16) => Box::new($kind::<Sixteen<u32>, u32>::new($setup, $($argument),+)?),
            (..=32, _) => Box::new($kind::<Many<u32>, u32>::new($setup, $($argument),+)?),
            (..=64, ..=16) => Box::new($kind::<Sixteen<u64>, u64>::new($setup, $($argument),+)?),
            (..=64, _) => Box::new($kind::<Many<u64>, u64>::new($setup, $($argument),+)?),
            (_, ..=16) => {
                Box::new($kind::<Sixteen<[u64; 4]>, [u64; 4]>::new($setup, $($argument),+)?)
            }
            (_, _) => Box::new($kind::<Many<[u64; 4]>, [u64; 4]>::new($setup, $($argument),+)?),
        }
    }};
}
pub(crate) use arranged;

/// Numbers of caches fit into a byte.
const CACHES: usize = 256;

/// Where the sets of a cache begin, and which part of a block's number says which it is.
#[derive(Clone, Copy, Debug)]
struct Region {
    first: usize,
    mask: u64,
}

impl Region {
    /// The regions of caches of these shapes, one after the other.
    fn all(shapes: &[Shape]) -> Box<[Self; CACHES]> {
        let mut first = 0;
        let mut regions = Box::new([Self { first, mask: 0 }; CACHES]);
        for (region, shape) in regions.iter_mut().zip(shapes) {
            *region = Self { first, mask: shape.sets as u64 - 1 };
            first += shape.sets;
        }
        regions
    }

    #[inline]
    fn set(self, block: u64) -> usize {
        self.first + usize::try_from(block & self.mask).unwrap_or(0)
    }
}

/// A byte from 1 to 255 that depends on a block: tags are compared eight at a time.
#[inline]
fn tag(block: u64) -> u64 {
    // The high bits of a product depend on all bits of its factors.
    (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).max(1)
}

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is the wanted tag.
#[inline]
fn equal(tags: u64, want: u64) -> u64 {
    let differ = tags ^ (want * ONES);
    !(((differ & !(ONES << 7)) + !(ONES << 7)) | differ) & (ONES << 7)
}

/// The same, and sometimes the high bit of a byte above it that is not: for the lowest it will do.
#[inline]
fn first_equal(tags: u64, want: u64) -> u64 {
    zeros(tags ^ (want * ONES))
}

/// The high bit of each byte that is zero, and sometimes of one above it that is not.
#[inline]
fn zeros(bytes: u64) -> u64 {
    bytes.wrapping_sub(ONES) & !bytes & (ONES << 7)
}

/// The position of the byte whose high bit is the lowest one; 0 if there is none.
#[inline]
fn first(high_bits: u64) -> usize {
    usize::try_from(high_bits.trailing_zeros() >> 3 & 7).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    const SHAPES: fn(usize) -> [Shape; 2] =
        |ways| [Shape { sets: 4, ways }, Shape { sets: 1, ways: ways.div_ceil(2) }];

    /// Both arrangements do the same, whatever happens.
    fn agree<F: Frames<u32>>(ways: usize) {
        let (mut few, mut many) = (F::new(&SHAPES(ways)), Many::<u32>::new(&SHAPES(ways)));
        let mut rng = Rng::new(u64::try_from(ways).unwrap());
        // Frames have other numbers in the two: they are known by how they were filled.
        let mut filled = vec![(0, 0)];
        for step in 0..40_000 {
            let (cache, block) = (usize::from(rng.below(2) == 0), rng.below(60) << 40 >> 38);
            let sets = (few.set(cache, block), many.set(cache, block));
            let found = (few.find(sets.0, block), many.find(sets.1, block));
            assert_eq!(found.0.is_some(), found.1.is_some(), "step {step}, {ways} ways");
            let copy = found.0.filter(|&frame| few.all()[frame].label & BITS != 0);
            assert_eq!(copy.is_some(), found.1.is_some_and(|f| many.all()[f].label & BITS != 0));
            match (found, rng.below(4)) {
                ((Some(a), Some(b)), 0) if copy.is_some() => {
                    few.invalidate(sets.0, a);
                    many.invalidate(sets.1, b);
                }
                ((Some(a), Some(b)), _) if copy.is_some() => {
                    few.touch(sets.0, a);
                    many.touch(sets.1, b);
                }
                (_, _) => {
                    let a = found.0.unwrap_or_else(|| few.victim(sets.0));
                    let b = found.1.unwrap_or_else(|| many.victim(sets.1));
                    assert_eq!(filled[few.number(a)], filled[many.number(b)], "step {step}");
                    let number = u32::try_from(filled.len()).unwrap();
                    filled.push((cache, block));
                    few.put((sets.0, a), block, number);
                    many.put((sets.1, b), block, number);
                }
            }
        }
    }

    #[test]
    fn all_arrangements_agree() {
        for ways in 1..=16 {
            agree::<Sixteen<u32>>(ways);
            if ways <= 8 {
                agree::<Eight<u32>>(ways);
            }
        }
    }

    trait Put {
        fn put(&mut self, place: (usize, usize), block: u64, number: u32);
        fn number(&self, frame: usize) -> usize;
    }

    impl<F: Frames<u32>> Put for F {
        fn put(&mut self, (set, frame): (usize, usize), block: u64, number: u32) {
            self.fill((set, frame), block, Frame::of(block, number));
            self.all_mut()[frame].allow(QUIET_READ);
        }

        fn number(&self, frame: usize) -> usize {
            usize::try_from(self.all()[frame].number).unwrap()
        }
    }

    fn victims<F: Frames<u32>>() {
        let mut cache = F::new(&[Shape { sets: 1, ways: 3 }]);
        for block in [10, 11, 12] {
            let frame = cache.victim(0);
            assert!(!cache.all()[frame].is_used());
            cache.fill((0, frame), block, Frame::of(block, 0));
        }
        // Used longest ago: 10, then 11, then 12.
        let frames = [10, 11, 12].map(|block| cache.find(0, block).unwrap());
        assert_eq!(cache.victim(0), frames[0]);
        cache.invalidate(0, frames[2]);
        assert_eq!(cache.victim(0), frames[2], "the invalidated one first");
        cache.invalidate(0, frames[1]);
        assert_eq!(cache.victim(0), frames[1], "of those the one used longest ago");
        assert_eq!(cache.find(0, 11), Some(frames[1]), "it keeps its block's number");
    }

    #[test]
    fn the_victim_is_unused_then_invalidated_then_eldest() {
        victims::<Eight<u32>>();
        victims::<Sixteen<u32>>();
        victims::<Many<u32>>();
    }
}
