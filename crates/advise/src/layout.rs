//! Where the words of some objects go: a one-to-one map of words.

use homenode_base::BlockSize;
use rustc_hash::FxHashMap;

/// Words in a page of the index of pieces.
const PAGE_WORDS: u64 = 1024;

/// Words in a row that stay together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedWords {
    /// Number of the first one where it was.
    pub from: u64,
    /// How many.
    pub words: u64,
    /// Number of the first one where it goes.
    pub to: u64,
}

/// A map of words: those of the pieces move, all others stay.
///
/// Invariant: no two pieces overlap, neither where they were nor where they go, and they go where
/// no word of the trace was. So the map is one to one.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// In order of `from`.
    pieces: Vec<MovedWords>,
    /// For every page with words that move, its pieces: the first and behind the last.
    index: FxHashMap<u64, (usize, usize)>,
}

impl Layout {
    /// The layout that moves these pieces.
    ///
    /// # Panics
    /// When pieces overlap.
    #[must_use]
    pub fn new(mut pieces: Vec<MovedWords>) -> Self {
        pieces.retain(|piece| piece.words > 0);
        pieces.sort_unstable();
        let apart = |at: fn(&MovedWords) -> u64, sorted: &[MovedWords]| {
            sorted.windows(2).all(|pair| at(&pair[0]) + pair[0].words <= at(&pair[1]))
        };
        assert!(apart(|piece| piece.from, &pieces), "pieces were apart");
        let mut arrived = pieces.clone();
        arrived.sort_unstable_by_key(|piece| piece.to);
        assert!(apart(|piece| piece.to, &arrived), "pieces go apart");
        let mut index: FxHashMap<u64, (usize, usize)> = FxHashMap::default();
        for (i, piece) in pieces.iter().enumerate() {
            let last = piece.from + piece.words - 1;
            for page in piece.from / PAGE_WORDS..=last / PAGE_WORDS {
                index.entry(page).or_insert((i, i)).1 = i + 1;
            }
        }
        Self { pieces, index }
    }

    /// The pieces, in order of where they were.
    #[must_use]
    pub fn pieces(&self) -> &[MovedWords] {
        &self.pieces
    }

    /// Whether everything stays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// This layout and another one of other words together.
    #[must_use]
    pub fn and(&self, other: &[MovedWords]) -> Self {
        Self::new([&self.pieces, other].concat())
    }

    /// The piece that a word belongs to.
    #[inline]
    #[must_use]
    pub fn piece(&self, word: u64) -> Option<&MovedWords> {
        let &(from, to) = self.index.get(&(word / PAGE_WORDS))?;
        let some = &self.pieces[from..to];
        let piece = &some[..some.partition_point(|piece| piece.from <= word)].last()?;
        (word < piece.from + piece.words).then_some(piece)
    }

    /// Where a word goes.
    #[inline]
    #[must_use]
    pub fn word(&self, word: u64) -> u64 {
        self.piece(word).map_or(word, |piece| piece.to + (word - piece.from))
    }

    /// Where a byte goes: it keeps its place in its word.
    #[must_use]
    pub fn address(&self, addr: u64) -> u64 {
        let word = BlockSize::WORD_BYTES;
        self.word(addr / word) * word + addr % word
    }

    /// Calls `take` with address and size of each part of a reference: bytes that lie in a row
    /// after the move, in the order in which they were.
    #[inline]
    pub fn parts(&self, (addr, size): (u64, u8), mut take: impl FnMut(u64, u8)) {
        let bytes = BlockSize::WORD_BYTES;
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        let (first_word, last_word) = (addr / bytes, last / bytes);
        let start = self.word(first_word);
        let moved = |at: u64, word: u64| at.wrapping_sub(word);
        if moved(self.word(last_word), last_word) == moved(start, first_word) {
            // Words between the ends of one piece, or of none, are in it; longer ones are checked.
            if last_word - first_word < 2 || self.in_one_piece(first_word, last_word) {
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

    fn in_one_piece(&self, first: u64, last: u64) -> bool {
        match (self.piece(first), self.piece(last)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => (first..=last).all(|word| self.piece(word).is_none()),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

/// Bytes from the first to the last of a part of a reference.
fn length(first: u64, last: u64) -> u8 {
    u8::try_from(last - first + 1).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(layout: &Layout, addr: u64, size: u8) -> Vec<(u64, u8)> {
        let mut found = Vec::new();
        layout.parts((addr, size), |addr, size| found.push((addr, size)));
        found
    }

    /// ```text
    /// word   4  5  6  7  8  9
    /// goes  40 41  .  70 71  .
    /// ```
    #[test]
    fn references_are_cut_where_the_layout_cuts() {
        let piece = |from, words, to| MovedWords { from, words, to };
        let layout = Layout::new(vec![piece(7, 2, 70), piece(4, 2, 40)]);
        assert_eq!(parts(&layout, 16, 8), [(160, 8)]);
        assert_eq!(parts(&layout, 19, 4), [(163, 4)]);
        assert_eq!(parts(&layout, 18, 10), [(162, 6), (24, 4)]);
        assert_eq!(parts(&layout, 16, 24), [(160, 8), (24, 4), (280, 8), (36, 4)]);
        assert_eq!(parts(&layout, 24, 1), [(24, 1)]);
        assert_eq!(parts(&layout, 12, 4), [(12, 4)]);
        assert_eq!(layout.address(31), 283);
        // Before and behind the same way, but not between.
        let both = Layout::new(vec![piece(0, 1, 100), piece(1, 1, 200), piece(2, 1, 102)]);
        assert_eq!(parts(&both, 0, 12), [(400, 4), (800, 4), (408, 4)]);
        let hole = Layout::new(vec![piece(1, 1, 200)]);
        assert_eq!(parts(&hole, 0, 12), [(0, 4), (800, 4), (8, 4)]);
    }

    #[test]
    #[should_panic(expected = "pieces go apart")]
    fn two_words_cannot_go_to_one_place() {
        let _ = Layout::new(vec![
            MovedWords { from: 0, words: 2, to: 10 },
            MovedWords { from: 8, words: 1, to: 11 },
        ]);
    }
}
