//! The lines of memory that a survey is about, as an approximate filter.

const LINE_BYTES: u64 = 64;

/// Bits of the filter: 32 KB, which stay in a cache while a trace is read.
const BITS: usize = 1 << 18;

pub(crate) struct LineFilter {
    bits: Box<[u64]>,
    /// Units in a line.
    line_units: u64,
}

impl LineFilter {
    /// The lines of these units, which have `unit_bytes` bytes each.
    pub(crate) fn new(units: impl IntoIterator<Item = u64>, unit_bytes: u64) -> Self {
        let bits = vec![0; BITS / 64].into();
        let mut filter = Self { bits, line_units: LINE_BYTES / unit_bytes };
        for unit in units {
            let (element, bit) = filter.place(unit);
            filter.bits[element] |= bit;
        }
        filter
    }

    /// The element and bit of a unit's line.
    #[inline]
    fn place(&self, unit: u64) -> (usize, u64) {
        let line = unit / self.line_units;
        let at = usize::try_from(line % BITS as u64).unwrap_or(0);
        (at / 64, 1 << (at % 64))
    }

    #[inline]
    pub(crate) fn holds(&self, unit: u64) -> bool {
        let (element, bit) = self.place(unit);
        self.bits[element] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_held_whole_and_others_mostly_not() {
        let filter = LineFilter::new([5, 1 << 40], 4);
        assert!((0..16).all(|word| filter.holds(word)));
        assert!((1 << 40..(1 << 40) + 16).all(|word| filter.holds(word)));
        assert!((16..10_000).all(|word| !filter.holds(word)));
        assert!(!LineFilter::new([], 4).holds(0));
    }
}
