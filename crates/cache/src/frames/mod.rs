//! Cache arrays: where blocks are in the caches, and which one is replaced.
//!
//! The frames of all caches are in one array, those of a set together, so that a reference finds
//! its set by number, in any cache. Each frame has a *label*: the number of its block shifted left
//! by two, and in the low bits what the processor may do with the copy without a transaction. An
//! invalidated frame keeps its label without these bits.

mod direct;
mod frame;
mod indexed;
mod miss_status;
mod packed;
mod set_order;

use homenode_machine::CacheShape;

use crate::holders::CACHES_MAX;
pub use direct::DirectMapped;
pub use frame::{CacheFrame, MAY_READ, MAY_WRITE, READ, WRITTEN, permission};
pub(crate) use frame::{PERMISSIONS, label_of, touched_by};
pub use indexed::IndexedSets;
pub use miss_status::MissStatus;
pub use packed::{UpTo8Ways, UpTo16Ways};

/// Largest cache.
const CACHE_BYTES_MAX: u64 = 1 << 30;

/// Sets (a power of two) and frames in each of one cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheGeometry {
    /// Sets.
    pub sets: usize,
    /// Frames in each.
    pub ways: usize,
}

impl CacheGeometry {
    /// The geometry of a cache that consists of whole sets, whose number is a power of two, and
    /// has at most 1 GiB; `None` for others.
    ///
    /// ```
    /// use homenode_cache::CacheGeometry;
    /// use homenode_machine::CacheShape;
    /// let shape = CacheShape { size_bytes: 1024, block_size_bytes: 32, associativity: 4 };
    /// assert_eq!(CacheGeometry::of(shape), Some(CacheGeometry { sets: 8, ways: 4 }));
    /// assert_eq!(CacheGeometry::of(CacheShape { associativity: 3, ..shape }), None);
    /// ```
    #[must_use]
    pub fn of(cache: CacheShape) -> Option<Self> {
        let CacheShape { size_bytes, block_size_bytes, associativity } = cache;
        let set_bytes = associativity.saturating_mul(block_size_bytes);
        if set_bytes == 0 || size_bytes % set_bytes != 0 || size_bytes > CACHE_BYTES_MAX {
            return None;
        }
        let sets = usize::try_from(size_bytes / set_bytes).ok()?;
        let ways = usize::try_from(associativity).ok()?;
        sets.is_power_of_two().then_some(Self { sets, ways })
    }
}

/// The frames of all caches. Sets and frames are numbered through all of them.
///
/// Engines read and write the frames, which hold the protocol's states and the use of each copy;
/// these arrays decide which frame is searched, touched and replaced.
pub trait CacheArrays<W>: Send {
    /// The largest number of frames a set.
    const WAYS_MAX: usize;
    /// Whether the order of use of a set is kept in one word ([`Self::order`]).
    const ORDER_IN_WORD: bool;

    /// Caches of these geometries.
    fn new(geometries: &[CacheGeometry]) -> Self;
    /// All frames, by their numbers.
    fn all(&self) -> &[CacheFrame<W>];
    /// See [`Self::all`].
    fn all_mut(&mut self) -> &mut [CacheFrame<W>];
    /// The set of a cache in which a block can be.
    fn set_of(&self, cache: usize, block: u64) -> usize;
    /// The frame of a set that may have the block; if it does not, another one still may.
    fn guess(&self, set: usize, block: u64) -> usize;
    /// True only if no frame of a set has the block or had it last; may be false although none
    /// does.
    fn lacks(&self, set: usize, block: u64) -> bool;
    /// The frame of a set that has the block or had it last.
    fn find(&self, set: usize, block: u64) -> Option<usize>;
    /// Makes a frame the most recently used one of its set.
    fn touch(&mut self, set: usize, frame: usize);
    /// The order of use of a set, if it is kept in one word.
    fn order(&self, set: usize) -> u64;
    /// Restores an earlier order of use. Since then frames of the set were only touched.
    fn restore_order(&mut self, set: usize, order: u64);
    /// The frame that a new block takes: one that was never used, else the least recently used one
    /// among those invalidated, else the least recently used one.
    fn victim(&self, set: usize) -> usize;
    /// Fills a frame of a set with a block and its content, as its most recent use.
    fn fill(&mut self, set: usize, frame: usize, block: u64, content: CacheFrame<W>);
    /// Takes the copy away from a frame, which keeps its label.
    fn invalidate(&mut self, set: usize, frame: usize);
}

/// Boxes the result of a function whose type parameters are cache arrays, word masks and the width
/// of sets of caches. Chooses parameters that suffice for blocks of this number of words, sets of
/// this number of ways, and this number of caches.
///
/// Each choice is a whole copy of the simulator in the program. So each caller names the arrays
/// that its machines need for blocks of up to 64 words and up to 64 caches, a set of which is one
/// word; the rest shares wider ones. In the order of the trace, direct-mapped caches take a third
/// more instructions a reference without [`DirectMapped`], most others a tenth more without
/// [`UpTo8Ways`].
///
/// `boxed_for_geometry!((words, ways, caches), [DirectMapped], engine, (setup, table))` is
/// `Box::new(engine::<_, _, _>(setup, table)?)`.
#[macro_export]
macro_rules! boxed_for_geometry {
    (
        ($words:expr, $ways:expr, $caches:expr),
        [$($narrow:ident),*], $make:ident, $arguments:tt
    ) => {{
        use $crate::{IndexedSets, NARROW_CACHES_MAX, UpTo16Ways, WIDE_WORDS, boxed_for_geometry};
        let (small, narrow) = ($words <= 64, $words <= 64 && $caches <= NARROW_CACHES_MAX);
        match $ways {
            $(ways if narrow && ways <= $crate::ways_max::<$crate::$narrow<u64>, u64>() => {
                boxed_for_geometry!(@of $crate::$narrow<_>, u64, 1, $make, $arguments)
            })*
            ..=16 if small => {
                boxed_for_geometry!(@of UpTo16Ways<_>, u64, WIDE_WORDS, $make, $arguments)
            }
            _ => {
                boxed_for_geometry!(@of IndexedSets<_>, [u64; 4], WIDE_WORDS, $make, $arguments)
            }
        }
    }};
    (@of $arrays:ty, $mask:ty, $width:expr, $make:ident, ($($argument:expr),+)) => {
        Box::new($make::<$arrays, $mask, { $width }>($($argument),+)?)
    };
}

/// The same for masks of bytes, for any block size: `boxed_for_bytes!((ways, caches), engine,
/// (setup, table))`.
#[macro_export]
macro_rules! boxed_for_bytes {
    (($ways:expr, $caches:expr), $make:ident, ($($argument:expr),+)) => {{
        use $crate::{ByteMask, IndexedSets, NARROW_CACHES_MAX, UpTo16Ways, WIDE_WORDS};
        match ($caches <= NARROW_CACHES_MAX, $ways) {
            (true, ..=16) => Box::new($make::<UpTo16Ways<_>, ByteMask, 1>($($argument),+)?),
            (false, ..=16) => {
                Box::new($make::<UpTo16Ways<_>, ByteMask, WIDE_WORDS>($($argument),+)?)
            }
            (_, _) => Box::new($make::<IndexedSets<_>, ByteMask, WIDE_WORDS>($($argument),+)?),
        }
    }};
}

/// [`CacheArrays::WAYS_MAX`], for [`boxed_for_geometry`].
#[must_use]
pub const fn ways_max<F: CacheArrays<W>, W>() -> usize {
    F::WAYS_MAX
}

/// Unused sets behind those of each cache. The number of a cache's sets is a power of two: without
/// these the copies of a block would share few sets of the host's caches.
const SPARE_SETS: usize = 5;

/// A power of two, at least the number of caches of any machine.
const CACHES: usize = CACHES_MAX.next_power_of_two();

/// The first set of a cache, and the bits of a block's number that select its set.
#[derive(Clone, Copy, Debug)]
struct SetRange {
    first: usize,
    mask: u64,
}

impl SetRange {
    #[inline]
    fn set_of(self, block: u64) -> usize {
        self.first + usize::try_from(block & self.mask).unwrap_or(0)
    }
}

/// The sets of caches of these geometries, one cache after the other with `spare` unused ones
/// behind each, and their number in all.
fn set_ranges(geometries: &[CacheGeometry], spare: usize) -> (Box<[SetRange; CACHES]>, usize) {
    let mut first = 0;
    let mut ranges = Box::new([SetRange { first, mask: 0 }; CACHES]);
    for (range, cache) in ranges.iter_mut().zip(geometries) {
        *range = SetRange { first, mask: cache.sets as u64 - 1 };
        first += cache.sets + spare;
    }
    (ranges, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Rng;

    const GEOMETRIES: fn(usize) -> [CacheGeometry; 2] =
        |ways| [CacheGeometry { sets: 4, ways }, CacheGeometry { sets: 1, ways: ways.div_ceil(2) }];

    /// A packed arrangement does what the indexed one does under random operations.
    fn agree<F: CacheArrays<u64>>(ways: usize) {
        let (mut packed, mut indexed) =
            (F::new(&GEOMETRIES(ways)), IndexedSets::<u64>::new(&GEOMETRIES(ways)));
        let mut rng = Rng::new(u64::try_from(ways).unwrap());
        // Frames have different numbers in the two arrangements: they are identified by how they
        // were filled.
        let mut filled = vec![(0, 0)];
        for step in 0..40_000 {
            let (cache, block) = (usize::from(rng.below(2) == 0), rng.below(60) << 40 >> 38);
            let sets = (packed.set_of(cache, block), indexed.set_of(cache, block));
            let found = (packed.find(sets.0, block), indexed.find(sets.1, block));
            assert_eq!(found.0.is_some(), found.1.is_some(), "step {step}, {ways} ways");
            let copy = found.0.filter(|&frame| packed.all()[frame].label & PERMISSIONS != 0);
            assert_eq!(
                copy.is_some(),
                found.1.is_some_and(|f| indexed.all()[f].label & PERMISSIONS != 0)
            );
            match (found, rng.below(4)) {
                ((Some(a), Some(b)), 0) if copy.is_some() => {
                    packed.invalidate(sets.0, a);
                    indexed.invalidate(sets.1, b);
                }
                ((Some(a), Some(b)), _) if copy.is_some() => {
                    packed.touch(sets.0, a);
                    indexed.touch(sets.1, b);
                }
                (_, _) => {
                    let a = found.0.unwrap_or_else(|| packed.victim(sets.0));
                    let b = found.1.unwrap_or_else(|| indexed.victim(sets.1));
                    assert_eq!(filled[packed.number(a)], filled[indexed.number(b)], "step {step}");
                    let number = u32::try_from(filled.len()).unwrap();
                    filled.push((cache, block));
                    packed.put(sets.0, a, block, number);
                    indexed.put(sets.1, b, block, number);
                }
            }
        }
    }

    #[test]
    fn all_arrangements_agree() {
        for ways in 1..=16 {
            agree::<UpTo16Ways<u64>>(ways);
            if ways == 1 {
                agree::<DirectMapped<u64>>(ways);
            }
            if ways <= 8 {
                agree::<UpTo8Ways<u64>>(ways);
            }
        }
    }

    trait Put {
        fn put(&mut self, set: usize, frame: usize, block: u64, number: u32);
        fn number(&self, frame: usize) -> usize;
    }

    impl<F: CacheArrays<u64>> Put for F {
        fn put(&mut self, set: usize, frame: usize, block: u64, number: u32) {
            self.fill(set, frame, block, CacheFrame::of(block, number));
            self.all_mut()[frame].permit(MAY_READ);
        }

        fn number(&self, frame: usize) -> usize {
            usize::try_from(self.all()[frame].number).unwrap()
        }
    }

    fn victims<F: CacheArrays<u64>>() {
        let mut cache = F::new(&[CacheGeometry { sets: 1, ways: 3 }]);
        for block in [10, 11, 12] {
            let frame = cache.victim(0);
            assert!(!cache.all()[frame].is_used());
            cache.fill(0, frame, block, CacheFrame::of(block, 0));
        }
        // Used longest ago: 10, then 11, then 12.
        let frames = [10, 11, 12].map(|block| cache.find(0, block).unwrap());
        assert_eq!(cache.victim(0), frames[0]);
        cache.invalidate(0, frames[2]);
        assert_eq!(cache.victim(0), frames[2], "the invalidated one first");
        cache.invalidate(0, frames[1]);
        assert_eq!(cache.victim(0), frames[1], "among those, the one used longest ago");
        assert_eq!(cache.find(0, 11), Some(frames[1]), "it keeps its block's number");
    }

    #[test]
    fn the_victim_is_unused_then_invalidated_then_oldest() {
        victims::<UpTo8Ways<u64>>();
        victims::<UpTo16Ways<u64>>();
        victims::<IndexedSets<u64>>();
    }
}
