//! A layout: a one-to-one map of words to new addresses.

use homenode_base::BlockSize;
use rustc_hash::FxHashMap;

/// Words in a page of the index.
const PAGE_WORDS: u64 = 1024;

/// Bits in a [`PageFilter`].
const FILTER_BITS: u64 = 1 << 12;

/// Consecutive words that move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedWords {
    /// Number of the first word before the move.
    pub from: u64,
    /// Number of words.
    pub words: u64,
    /// Number of the first word after the move.
    pub to: u64,
}

/// A filter that rules out most pages without moved words. Most references are to such pages.
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

/// A map of words: those listed move, all others stay.
///
/// Invariant: no two moves overlap, neither in their sources nor in their destinations, and no word
/// of the trace is at a destination. So the map is one to one.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// In order of `from`.
    moves: Vec<MovedWords>,
    /// The range of moves in each page that has any: the first, and one past the last.
    index: FxHashMap<u64, (usize, usize)>,
    filter: PageFilter,
}

impl Layout {
    /// The layout that makes these moves.
    ///
    /// # Panics
    /// When moves overlap.
    #[must_use]
    pub fn new(mut moves: Vec<MovedWords>) -> Self {
        moves.retain(|moved| moved.words > 0);
        moves.sort_unstable();
        let apart = |at: fn(&MovedWords) -> u64, sorted: &[MovedWords]| {
            sorted.windows(2).all(|pair| at(&pair[0]) + pair[0].words <= at(&pair[1]))
        };
        assert!(apart(|moved| moved.from, &moves), "sources are disjoint");
        let mut arrived = moves.clone();
        arrived.sort_unstable_by_key(|moved| moved.to);
        assert!(apart(|moved| moved.to, &arrived), "destinations are disjoint");
        let mut index: FxHashMap<u64, (usize, usize)> = FxHashMap::default();
        let mut filter = PageFilter::default();
        for (i, moved) in moves.iter().enumerate() {
            let last = moved.from + moved.words - 1;
            for page in moved.from / PAGE_WORDS..=last / PAGE_WORDS {
                index.entry(page).or_insert((i, i)).1 = i + 1;
                filter.add(page);
            }
        }
        Self { moves, index, filter }
    }

    /// The moves, in order of their sources.
    #[must_use]
    pub fn moves(&self) -> &[MovedWords] {
        &self.moves
    }

    /// Whether everything stays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// This layout with further moves, of other words.
    #[must_use]
    pub fn and(&self, other: &[MovedWords]) -> Self {
        Self::new([&self.moves, other].concat())
    }

    /// Whether a reference may be to a word that moves: if not, it stays as it is.
    #[inline]
    #[must_use]
    pub fn may_move(&self, addr: u64, size: u8) -> bool {
        let page = PAGE_WORDS * BlockSize::WORD_BYTES;
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        self.filter.may_have(addr / page) || self.filter.may_have(last / page)
    }

    /// The move that a word is part of.
    #[inline]
    #[must_use]
    pub fn move_of(&self, word: u64) -> Option<&MovedWords> {
        let page = word / PAGE_WORDS;
        if !self.filter.may_have(page) {
            return None;
        }
        let &(from, to) = self.index.get(&page)?;
        let some = &self.moves[from..to];
        let moved = &some[..some.partition_point(|moved| moved.from <= word)].last()?;
        (word < moved.from + moved.words).then_some(moved)
    }

    /// The new number of a word.
    #[inline]
    #[must_use]
    pub fn word(&self, word: u64) -> u64 {
        self.move_of(word).map_or(word, |moved| moved.to + (word - moved.from))
    }

    /// The new address of a byte: it keeps its offset in its word.
    #[must_use]
    pub fn address(&self, addr: u64) -> u64 {
        let word = BlockSize::WORD_BYTES;
        self.word(addr / word) * word + addr % word
    }

    /// Calls `take` with the new address and size of each part of a reference, in the order of the
    /// original bytes. A part is a run of bytes that are still consecutive.
    #[inline]
    pub fn parts(&self, addr: u64, size: u8, mut take: impl FnMut(u64, u8)) {
        let bytes = BlockSize::WORD_BYTES;
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        let (first_word, last_word) = (addr / bytes, last / bytes);
        let start = self.word(first_word);
        let distance = |at: u64, word: u64| at.wrapping_sub(word);
        if distance(self.word(last_word), last_word) == distance(start, first_word) {
            // One or two words moved by the same distance stay consecutive; for longer references
            // the words between must be checked.
            if last_word - first_word < 2 || self.moves_as_one(first_word, last_word) {
                return take(start * bytes + addr % bytes, size);
            }
        }
        let (mut from, mut to) = (addr, start * bytes + addr % bytes);
        for word in first_word + 1..=last_word {
            let here = self.word(word) * bytes;
            if here != to + (word * bytes - from) {
                take(to, length(from, word * bytes - 1));
                (from, to) = (word * bytes, here);
            }
        }
        take(to, length(from, last));
    }

    fn moves_as_one(&self, first: u64, last: u64) -> bool {
        match (self.move_of(first), self.move_of(last)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => (first..=last).all(|word| self.move_of(word).is_none()),
            (None, Some(_)) | (Some(_), None) => false,
        }
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
        let moved = |from, words, to| MovedWords { from, words, to };
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
    #[should_panic(expected = "destinations are disjoint")]
    fn two_words_cannot_go_to_one_place() {
        let _ = Layout::new(vec![
            MovedWords { from: 0, words: 2, to: 10 },
            MovedWords { from: 8, words: 1, to: 11 },
        ]);
    }
}
