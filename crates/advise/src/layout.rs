//! A layout: a one-to-one map of bytes to new addresses.

use homenode_base::BlockSize;
use rustc_hash::FxHashMap;

/// Bytes in a page of the index.
const PAGE_BYTES: u64 = 4096;

/// Bits in a [`PageFilter`].
const FILTER_BITS: u64 = 1 << 12;

/// Consecutive bytes that move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedBytes {
    /// Address of the first before the move.
    pub from: u64,
    /// How many.
    pub bytes: u64,
    /// Address of the first after the move.
    pub to: u64,
}

impl MovedBytes {
    fn last(&self) -> u64 {
        self.from + (self.bytes - 1)
    }
}

/// A filter that rules out most pages without moved bytes. Most references are to such pages.
#[derive(Clone, Debug)]
struct PageFilter(Box<[u64; 1 << 6]>);

impl Default for PageFilter {
    fn default() -> Self {
        Self(Box::new([0; 1 << 6]))
    }
}

impl PageFilter {
    /// The word of the filter and the bit in it for a page.
    #[inline]
    fn place(page: u64) -> (usize, u64) {
        let bit = page % FILTER_BITS;
        (usize::try_from(bit / 64).unwrap_or(0), 1 << (bit % 64))
    }

    fn add(&mut self, page: u64) {
        let (at, bit) = Self::place(page);
        self.0[at] |= bit;
    }

    #[inline]
    fn may_have(&self, page: u64) -> bool {
        let (at, bit) = Self::place(page);
        self.0[at] & bit != 0
    }
}

/// A map of bytes: those listed move, all others stay.
///
/// Invariant: no two moves overlap, neither in their sources nor in their destinations, and no byte
/// of the trace is at a destination. So the map is one to one.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// In order of `from`.
    moves: Vec<MovedBytes>,
    /// The range of moves in each page that has any: the first, and one past the last.
    index: FxHashMap<u64, (usize, usize)>,
    filter: PageFilter,
}

/// Bytes from an address on that stay consecutive.
struct ConsecutiveBytes {
    to: u64,
    /// The last of them, before the move.
    last: u64,
}

impl Layout {
    /// The layout that makes these moves.
    ///
    /// # Panics
    /// When moves overlap.
    #[must_use]
    pub fn new(mut moves: Vec<MovedBytes>) -> Self {
        moves.retain(|moved| moved.bytes > 0);
        moves.sort_unstable();
        let apart = |at: fn(&MovedBytes) -> u64, sorted: &[MovedBytes]| {
            sorted.windows(2).all(|pair| at(&pair[0]) + pair[0].bytes <= at(&pair[1]))
        };
        assert!(apart(|moved| moved.from, &moves), "sources are disjoint");
        let mut arrived = moves.clone();
        arrived.sort_unstable_by_key(|moved| moved.to);
        assert!(apart(|moved| moved.to, &arrived), "destinations are disjoint");
        let mut index: FxHashMap<u64, (usize, usize)> = FxHashMap::default();
        let mut filter = PageFilter::default();
        for (i, moved) in moves.iter().enumerate() {
            for page in moved.from / PAGE_BYTES..=moved.last() / PAGE_BYTES {
                index.entry(page).or_insert((i, i)).1 = i + 1;
                filter.add(page);
            }
        }
        Self { moves, index, filter }
    }

    /// The moves, in order of their sources.
    #[must_use]
    pub fn moves(&self) -> &[MovedBytes] {
        &self.moves
    }

    /// Whether everything stays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// This layout with further moves, of other bytes.
    #[must_use]
    pub fn and(&self, other: &[MovedBytes]) -> Self {
        Self::new([&self.moves, other].concat())
    }

    /// Whether a reference may be to a byte that moves: if not, it stays as it is.
    #[inline]
    #[must_use]
    pub fn may_move(&self, addr: u64, size: u8) -> bool {
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        self.filter.may_have(addr / PAGE_BYTES) || self.filter.may_have(last / PAGE_BYTES)
    }

    /// The bytes from this one on that move, or stay, with it; at most to the end of the page if
    /// they stay.
    #[inline]
    fn piece(&self, addr: u64) -> ConsecutiveBytes {
        let page = addr / PAGE_BYTES;
        let stays = |last| ConsecutiveBytes { to: addr, last };
        let page_end = addr | (PAGE_BYTES - 1);
        if !self.filter.may_have(page) {
            return stays(page_end);
        }
        let Some(&(from, to)) = self.index.get(&page) else { return stays(page_end) };
        let some = &self.moves[from..to];
        let after = some.partition_point(|moved| moved.from <= addr);
        if let Some(moved) = some[..after].last().filter(|moved| addr <= moved.last()) {
            return ConsecutiveBytes { to: moved.to + (addr - moved.from), last: moved.last() };
        }
        stays(some.get(after).map_or(page_end, |next| page_end.min(next.from - 1)))
    }

    /// The new address of a byte.
    #[inline]
    #[must_use]
    pub fn address(&self, addr: u64) -> u64 {
        self.piece(addr).to
    }

    /// The new number of a word: of the one that its first byte is in.
    #[inline]
    #[must_use]
    pub fn word(&self, word: u64) -> u64 {
        self.address(word * BlockSize::WORD_BYTES) / BlockSize::WORD_BYTES
    }

    /// Calls `take` with the new address and size of each part of a reference, in the order of the
    /// original bytes. A part is a run of bytes that are still consecutive.
    #[inline]
    pub fn parts(&self, addr: u64, size: u8, mut take: impl FnMut(u64, u8)) {
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        let first = self.piece(addr);
        if last <= first.last {
            return take(first.to, size);
        }
        let (mut from, mut to, mut end) = (addr, first.to, first.last);
        while end < last {
            let next = self.piece(end + 1);
            if next.to != to + (end + 1 - from) {
                take(to, length(from, end));
                (from, to) = (end + 1, next.to);
            }
            end = next.last;
        }
        take(to, length(from, last));
    }
}

/// Bytes of a part of a reference, from its first to its last.
fn length(first: u64, last: u64) -> u8 {
    u8::try_from(last - first + 1).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(layout: &Layout, addr: u64, size: u8) -> Vec<(u64, u8)> {
        let mut found = Vec::new();
        layout.parts(addr, size, |addr, size| found.push((addr, size)));
        found
    }

    /// ```text
    /// word   4  5  6  7  8  9
    /// goes  40 41  .  70 71  .
    /// ```
    #[test]
    fn references_are_cut_where_the_layout_cuts() {
        let moved = |from: u64, words: u64, to: u64| MovedBytes {
            from: 4 * from,
            bytes: 4 * words,
            to: 4 * to,
        };
        let layout = Layout::new(vec![moved(7, 2, 70), moved(4, 2, 40)]);
        assert_eq!(parts(&layout, 16, 8), [(160, 8)]);
        assert_eq!(parts(&layout, 19, 4), [(163, 4)]);
        assert_eq!(parts(&layout, 18, 10), [(162, 6), (24, 4)]);
        assert_eq!(parts(&layout, 16, 24), [(160, 8), (24, 4), (280, 8), (36, 4)]);
        assert_eq!(parts(&layout, 24, 1), [(24, 1)]);
        assert_eq!(parts(&layout, 12, 4), [(12, 4)]);
        assert_eq!(layout.address(31), 283);
        // The words before and after are moved equally far, the one between is not.
        let both = Layout::new(vec![moved(0, 1, 100), moved(1, 1, 200), moved(2, 1, 102)]);
        assert_eq!(parts(&both, 0, 12), [(400, 4), (800, 4), (408, 4)]);
        let hole = Layout::new(vec![moved(1, 1, 200)]);
        assert_eq!(parts(&hole, 0, 12), [(0, 4), (800, 4), (8, 4)]);
    }

    #[test]
    fn bytes_of_a_word_go_apart() {
        let moved = |from, bytes, to| MovedBytes { from, bytes, to };
        let layout = Layout::new(vec![moved(16, 1, 256), moved(17, 1, 320), moved(18, 2, 384)]);
        assert_eq!(parts(&layout, 17, 1), [(320, 1)]);
        assert_eq!(parts(&layout, 18, 2), [(384, 2)]);
        assert_eq!(parts(&layout, 14, 8), [(14, 2), (256, 1), (320, 1), (384, 2), (20, 2)]);
        assert_eq!((layout.address(19), layout.word(4)), (385, 64));
        // To the end of a page and beyond it, and at the end of memory.
        assert_eq!(parts(&layout, 4094, 4), [(4094, 4)]);
        assert_eq!(parts(&layout, u64::MAX - 1, 8), [(u64::MAX - 1, 8)]);
    }

    #[test]
    #[should_panic(expected = "destinations are disjoint")]
    fn two_bytes_cannot_go_to_one_place() {
        let _ = Layout::new(vec![
            MovedBytes { from: 0, bytes: 2, to: 10 },
            MovedBytes { from: 8, bytes: 1, to: 11 },
        ]);
    }
}
