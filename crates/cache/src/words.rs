//! Sets of the words of a block.

use bytemuck::Zeroable;

/// A set of words, by their position in the block. Narrow sets keep frames small: each has three.
pub trait WordMask: Copy + Default + Zeroable + Send + 'static {
    /// The maximum number of words: a power of two.
    const COUNT: u64;
    /// Bytes of a word.
    const BYTES: u64 = 4;

    /// Position of the word at an offset within a block.
    #[inline]
    fn word(offset: u64) -> u32 {
        u32::try_from((offset / Self::BYTES) & (Self::COUNT - 1)).unwrap_or(0)
    }

    /// The words of the bytes from offset `first` to offset `last` within a block.
    #[inline(always)]
    fn of_bytes(first: u64, last: u64) -> Self {
        Self::range(Self::word(first), Self::word(last))
    }

    /// The words from `first` to `last`, both included and below the size of the set.
    fn range(first: u32, last: u32) -> Self;
    /// Adds the words of another set.
    fn add(&mut self, other: Self);
    /// The words that another set does not have.
    #[must_use]
    fn without(self, other: Self) -> Self;
    /// Whether a word is in both.
    fn meets(self, other: Self) -> bool;
    /// Whether there is no word.
    fn is_empty(self) -> bool;
    /// Position of the first word; 0 if there is none.
    fn first(self) -> u32;
    /// The number of words.
    fn len(self) -> u32;
    /// The positions of the words.
    fn numbers(self) -> impl Iterator<Item = u32> {
        let all = 0..u32::try_from(Self::COUNT).unwrap_or(u32::MAX);
        all.filter(move |&word| self.meets(Self::range(word, word)))
    }
}

/// The words of blocks of up to 256 bytes.
impl WordMask for u64 {
    const COUNT: u64 = Self::BITS as u64;

    #[inline]
    fn range(first: u32, last: u32) -> Self {
        (Self::MAX >> (Self::BITS - 1 - last)) & (Self::MAX << first)
    }

    #[inline]
    fn add(&mut self, other: Self) {
        *self |= other;
    }

    #[inline]
    fn without(self, other: Self) -> Self {
        self & !other
    }

    #[inline]
    fn meets(self, other: Self) -> bool {
        self & other != 0
    }

    #[inline]
    fn is_empty(self) -> bool {
        self == 0
    }

    #[inline]
    fn first(self) -> u32 {
        self.trailing_zeros() & (Self::BITS - 1)
    }

    #[inline]
    fn len(self) -> u32 {
        self.count_ones()
    }
}

/// The bytes of blocks of up to 64 bytes, each of which is a word of its own. They distinguish
/// threads that share a flag of one byte from threads that use adjacent flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
pub struct ByteMask(u64);

impl WordMask for ByteMask {
    const COUNT: u64 = 64;
    const BYTES: u64 = 1;

    #[inline]
    fn range(first: u32, last: u32) -> Self {
        Self(u64::range(first, last))
    }

    #[inline]
    fn add(&mut self, other: Self) {
        self.0.add(other.0);
    }

    #[inline]
    fn without(self, other: Self) -> Self {
        Self(self.0.without(other.0))
    }

    #[inline]
    fn meets(self, other: Self) -> bool {
        self.0.meets(other.0)
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn first(self) -> u32 {
        self.0.first()
    }

    #[inline]
    fn len(self) -> u32 {
        self.0.len()
    }
}

/// The words of blocks of up to 1024 bytes.
impl WordMask for [u64; 4] {
    const COUNT: u64 = 256;

    fn range(first: u32, last: u32) -> Self {
        let mut set = Self::default();
        for (limb, base) in set.iter_mut().zip((0u32..).step_by(64)) {
            let (low, high) = (first.max(base), last.min(base + 63));
            if low <= high {
                *limb = u64::range(low - base, high - base);
            }
        }
        set
    }

    fn add(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(limb, other)| *limb |= other);
    }

    fn without(mut self, other: Self) -> Self {
        self.iter_mut().zip(other).for_each(|(limb, other)| *limb &= !other);
        self
    }

    fn meets(self, other: Self) -> bool {
        self.into_iter().zip(other).any(|(limb, other)| limb & other != 0)
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn first(self) -> u32 {
        let limbs = self.into_iter().zip((0u32..).step_by(64));
        let mut used = limbs.filter(|&(limb, _)| limb != 0);
        used.next().map_or(0, |(limb, base)| base + limb.trailing_zeros())
    }

    fn len(self) -> u32 {
        self.into_iter().map(u64::count_ones).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_ends_and_nothing_beside() {
        assert_eq!(u64::range(0, 63), u64::MAX);
        assert_eq!(u64::range(3, 4), 0b1_1000);
        assert_eq!(u64::range(63, 63), 1 << 63);
        assert_eq!(<[u64; 4]>::range(62, 65), [3 << 62, 3, 0, 0]);
        assert_eq!(<[u64; 4]>::range(255, 255), [0, 0, 0, 1 << 63]);
        assert_eq!((ByteMask::word(63), u64::word(63), u64::word(255)), (63, 15, 63));
        assert!(ByteMask::range(4, 4).meets(ByteMask::range(0, 7)));
        assert!(!ByteMask::range(4, 4).meets(ByteMask::range(5, 7)));
        for (first, last) in [(0, 255), (64, 127), (10, 200)] {
            let set = <[u64; 4]>::range(first, last);
            assert_eq!(set.first(), first);
            let ones: u32 = set.iter().map(|limb| limb.count_ones()).sum();
            assert_eq!((ones, set.len()), (last - first + 1, ones));
            assert!(set.meets(<[u64; 4]>::range(last, last)));
            assert!(set.without(<[u64; 4]>::range(first, last)).is_empty());
            assert_eq!(set.without(<[u64; 4]>::range(last, last)).len(), ones - 1);
            assert!(first == 0 || !set.meets(<[u64; 4]>::range(first - 1, first - 1)));
        }
    }
}
