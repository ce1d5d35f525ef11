//! The lines of memory that a survey is about, as an approximate filter.

const LINE_WORDS: u64 = 16;

/// Bits of the filter: 32 KB, which stay in a cache while a trace is read.
const BITS: usize = 1 << 18;

pub(crate) struct LineFilter {
    bits: Box<[u64]>,
}

impl LineFilter {
    pub(crate) fn new(words: impl IntoIterator<Item = u64>) -> Self {
        let mut bits = vec![0; BITS / 64];
        for word in words {
            let (element, bit) = Self::place(word);
            bits[element] |= bit;
        }
        Self { bits: bits.into() }
    }

    /// The element and bit of a word's line.
    #[inline]
    fn place(word: u64) -> (usize, u64) {
        let line = word / LINE_WORDS;
        let at = usize::try_from(line % BITS as u64).unwrap_or(0);
        (at / 64, 1 << (at % 64))
    }

    #[inline]
    pub(crate) fn holds(&self, word: u64) -> bool {
        let (element, bit) = Self::place(word);
        self.bits[element] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_held_whole_and_others_mostly_not() {
        let filter = LineFilter::new([5, 1 << 40]);
        assert!((0..16).all(|word| filter.holds(word)));
        assert!((1 << 40..(1 << 40) + 16).all(|word| filter.holds(word)));
        assert!((16..10_000).all(|word| !filter.holds(word)));
        assert!(!LineFilter::new([]).holds(0));
    }
}
