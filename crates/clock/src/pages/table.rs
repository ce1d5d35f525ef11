//! The frame of each page.

use homenode_base::Rng;

/// Frames in one permutation.
const SHUFFLED: u32 = 1 << 16;

/// A static page table that maps the n-th page of the trace to the n-th frame of a permutation, so
/// that consecutive pages are not in consecutive frames.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4: virtual-to-physical address translation.
pub struct PageTable {
    page_shift: u32,
    shuffle: Vec<u32>,
}

impl PageTable {
    /// Pages have `1 << page_shift` bytes; the seed chooses the permutation.
    #[must_use]
    pub fn shuffled(page_shift: u32, seed: u64) -> Self {
        let mut shuffle: Vec<u32> = (0..SHUFFLED).collect();
        let mut rng = Rng::new(seed);
        for last in (1..shuffle.len()).rev() {
            let other = usize::try_from(rng.below(last as u64 + 1)).unwrap_or(0);
            shuffle.swap(last, other);
        }
        Self { page_shift, shuffle }
    }

    /// Translates an address whose page part is a page number.
    #[must_use]
    pub fn address(&self, addr: u64) -> u64 {
        let (page, offset) = (addr >> self.page_shift, addr & ((1 << self.page_shift) - 1));
        let (window, at) = (page / u64::from(SHUFFLED), page % u64::from(SHUFFLED));
        let at = usize::try_from(at).unwrap_or(0);
        let frame = window * u64::from(SHUFFLED) + u64::from(self.shuffle[at]);
        frame << self.page_shift | offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_distinct_and_not_consecutive() {
        let table = PageTable::shuffled(12, 1);
        let mut frames: Vec<u64> =
            (0..100_000u64).map(|page| table.address(page << 12) >> 12).collect();
        let neighbours = frames.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert!(neighbours < 20, "{neighbours}");
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames.len(), 100_000);
        assert!(frames.last().is_some_and(|&last| last < 2 * u64::from(SHUFFLED)), "dense");
        let [low, high] = [0x5000, 0x5fff].map(|addr| table.address(addr));
        assert_eq!((low & 0xfff, high), (0, low | 0xfff));
        assert_ne!(PageTable::shuffled(12, 2).address(0), table.address(0));
    }
}
