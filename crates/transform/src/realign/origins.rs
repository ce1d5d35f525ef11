//! The origins of the words on new pages, object by object.

use homenode_base::BlockSize;
use homenode_trace::MovedRange;

use super::owners::Owners;

/// Most intervals that are kept: a few megabytes of metadata.
const INTERVALS_MAX: usize = 1 << 17;

#[derive(Clone, Copy, Debug)]
struct OriginInterval {
    /// Present places in words: the first, and one past the last.
    first: u64,
    end: u64,
    /// Index of the range that owned the words.
    range: usize,
    /// An address at which the range owned the first of them.
    from: u64,
}

pub(super) struct WordOrigins {
    owners: Owners,
    page: u64,
    window: Vec<OriginInterval>,
    kept: Vec<OriginInterval>,
}

impl WordOrigins {
    pub(super) fn new(owners: Owners, page: BlockSize) -> Self {
        Self { owners, page: page.words(), window: Vec::new(), kept: Vec::new() }
    }

    pub(super) fn moved(&mut self, word: u64, place: u64) {
        let Some((range, from)) = self.owners.of(word) else { return };
        self.window.push(OriginInterval { first: place, end: place + 1, range, from });
    }

    /// Ends the window. Intervals of one object are joined if no other object lies between, even
    /// across the pages of several threads, which mostly hold parts of one array.
    pub(super) fn end_window(&mut self) {
        self.window.sort_unstable_by_key(|interval| interval.first);
        for interval in self.window.drain(..) {
            let page = self.page;
            let follows = |last: &&mut OriginInterval| {
                let same = last.range == interval.range;
                same && interval.first <= last.end.next_multiple_of(page)
            };
            if let Some(last) = self.kept.last_mut().filter(follows) {
                last.end = interval.end;
            } else if self.kept.len() < INTERVALS_MAX {
                self.kept.push(interval);
            }
        }
    }

    pub(super) fn ranges(&self) -> Vec<MovedRange> {
        let bytes = |words: u64| words * BlockSize::WORD_BYTES;
        let range = |interval: &OriginInterval| MovedRange {
            start: bytes(interval.first),
            size: bytes(interval.end - interval.first),
            from: interval.from,
        };
        self.kept.iter().map(range).collect()
    }
}
