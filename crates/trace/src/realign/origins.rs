//! Where the words on new pages came from, object by object.

use homenode_base::BlockSize;

use super::owners::Owners;
use crate::model::MovedRange;

/// Most stretches that are kept: a few megabytes of metadata.
const STRETCHES_MAX: usize = 1 << 17;

/// Words in a row that come from one object.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Present places in words, from the first to behind the last.
    first: u64,
    end: u64,
    /// Index of the range that owned the words.
    range: usize,
    /// An address where the range owned the first of them.
    from: u64,
}

/// The stretches of all windows so far.
pub(super) struct WordOrigins {
    owners: Owners,
    /// Words of a page.
    page: u64,
    /// Stretches of the window.
    window: Vec<Stretch>,
    kept: Vec<Stretch>,
}

impl WordOrigins {
    pub(super) fn new(owners: Owners, page: BlockSize) -> Self {
        Self { owners, page: page.words(), window: Vec::new(), kept: Vec::new() }
    }

    /// Notes that a word of the program is at another place now.
    pub(super) fn moved(&mut self, word: u64, place: u64) {
        let Some((range, from)) = self.owners.of(word) else { return };
        self.window.push(Stretch { first: place, end: place + 1, range, from });
    }

    /// Ends the window. Stretches of one object become one if nothing of another lies between,
    /// whosever pages they are on: neighbouring pages of several threads mostly hold one array.
    pub(super) fn close(&mut self) {
        self.window.sort_unstable_by_key(|stretch| stretch.first);
        for stretch in self.window.drain(..) {
            let page = self.page;
            let follows = |last: &&mut Stretch| {
                let same = last.range == stretch.range;
                same && stretch.first <= last.end.next_multiple_of(page)
            };
            if let Some(last) = self.kept.last_mut().filter(follows) {
                last.end = stretch.end;
            } else if self.kept.len() < STRETCHES_MAX {
                self.kept.push(stretch);
            }
        }
    }

    /// The stretches as ranges of addresses.
    pub(super) fn ranges(&self) -> Vec<MovedRange> {
        let bytes = |words: u64| words * BlockSize::WORD_BYTES;
        let range = |stretch: &Stretch| MovedRange {
            start: bytes(stretch.first),
            size: bytes(stretch.end - stretch.first),
            from: stretch.from,
        };
        self.kept.iter().map(range).collect()
    }
}
