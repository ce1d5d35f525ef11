//! Unused addresses of a trace, for the pages of a re-aligned layout.

use homenode_base::BlockSize;
use homenode_trace::TraceReader;

/// The largest reference in bytes.
const LARGEST: u64 = 64;

/// The addresses that a trace uses, and the number of its references, which bounds the words that
/// can move.
#[derive(Clone, Debug, Default)]
pub struct AddressMap {
    /// Intervals of addresses that are referenced or named, by first and last byte, in order.
    used: Vec<(u64, u64)>,
    references: u64,
    threads: u16,
}

impl AddressMap {
    /// The map of a trace.
    #[must_use]
    pub fn of(trace: &TraceReader) -> Self {
        let mut used: Vec<(u64, u64)> = Vec::new();
        let chunks = trace.chunks().iter().filter(|chunk| chunk.rows > 0);
        used.extend(chunks.map(|chunk| (chunk.addr_low, chunk.addr_high)));
        let ranges = trace.metadata().ranges.iter().filter(|range| range.size > 0);
        used.extend(ranges.map(|range| (range.start, range.start.saturating_add(range.size - 1))));
        let moved = trace.metadata().moved.iter().filter(|stretch| stretch.size > 0);
        used.extend(moved.map(|new| (new.start, new.start.saturating_add(new.size - 1))));
        used.sort_unstable();
        Self { used, references: trace.references(), threads: trace.threads() }
    }

    /// First word of the largest interval of addresses that the trace neither references nor names,
    /// aligned to `align` bytes; `None` if `bytes` bytes do not fit.
    #[must_use]
    pub fn free_range(&self, bytes: u64, align: u64) -> Option<u64> {
        let (first, last) = self.largest()?;
        let start = first.checked_next_multiple_of(align)?;
        let enough = start.checked_add(bytes).is_some_and(|end| end <= last);
        enough.then_some(start / BlockSize::WORD_BYTES)
    }

    fn largest(&self) -> Option<(u64, u64)> {
        let (mut best, mut free) = (None, Some(0));
        let mut offer = |first: Option<u64>, last: Option<u64>| {
            let Some((first, last)) = first.zip(last).filter(|(first, last)| first <= last) else {
                return;
            };
            if best.is_none_or(|(start, end)| last - first >= end - start) {
                best = Some((first, last));
            }
        };
        for &(low, high) in &self.used {
            offer(free, low.checked_sub(1));
            free = free.and_then(|first| Some(first.max(high.checked_add(1)?)));
        }
        offer(free, Some(u64::MAX));
        best
    }

    /// An upper bound of the pages that all windows together can fill.
    fn pages_at_most(&self, page: BlockSize, window: u64) -> u64 {
        let windows = self.references / window + 1;
        let owners = u64::from(self.threads) + 1;
        // A page is left less than half full only if the next unit fills more than half of one, and
        // an unaligned reference touches one word more.
        let bytes = self.references.saturating_mul(2 * (LARGEST + 2 * BlockSize::WORD_BYTES));
        (bytes / page.bytes()).saturating_add(windows.saturating_mul(owners)).saturating_add(1)
    }
}

pub(super) struct FreeRange {
    page: BlockSize,
    first: u64,
    /// First word of the next page.
    next: u64,
    /// Free words of the page that each owner fills, as first and one past the last: entry 0 for
    /// words of several threads, then one for each thread.
    filling: Vec<(u64, u64)>,
}

/// The threads whose words a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageUser {
    Thread(u16),
    /// Words that must become consecutive and that several threads reference.
    Several,
}

impl FreeRange {
    /// Pages in the largest free interval of the map, if it holds all that could be needed.
    pub(super) fn outside_of(addresses: &AddressMap, page: BlockSize, window: u64) -> Option<Self> {
        let needed = addresses.pages_at_most(page, window).checked_mul(page.bytes())?;
        let first = addresses.free_range(needed, page.bytes())?;
        Some(Self { page, first, next: first, filling: Vec::new() })
    }

    /// Number of the new page, counted from 0, with the word at `place`; `None` if it is on no new
    /// page.
    #[inline]
    pub(super) fn page_at(&self, place: u64) -> Option<usize> {
        let within = place >= self.first && place < self.next;
        // Page sizes are powers of two: a shift instead of a division.
        let shift = self.page.words().trailing_zeros();
        if within { usize::try_from((place - self.first) >> shift).ok() } else { None }
    }

    pub(super) fn pages(&self) -> u64 {
        (self.next - self.first) / self.page.words()
    }

    /// Begins a new window, which must not use the pages of earlier ones, even partly filled ones.
    pub(super) fn begin_window(&mut self) {
        self.filling.fill((0, 0));
    }

    /// Allocates consecutive words for the owner, on one page if they fit; returns the first.
    pub(super) fn allocate(&mut self, owner: PageUser, words: u64) -> u64 {
        let owner = match owner {
            PageUser::Several => 0,
            PageUser::Thread(thread) => usize::from(thread) + 1,
        };
        if owner >= self.filling.len() {
            self.filling.resize(owner + 1, (0, 0));
        }
        let (first, end) = &mut self.filling[owner];
        if *end - *first < words {
            *first = self.next;
            self.next += words.next_multiple_of(self.page.words());
            *end = self.next;
        }
        *first += words;
        *first - words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_range_is_the_largest_unused_interval() {
        let addresses =
            |used: &[(u64, u64)]| AddressMap { used: used.to_vec(), references: 0, threads: 1 };
        assert_eq!(addresses(&[(0, 99), (5000, u64::MAX)]).free_range(1000, 256), Some(64));
        assert_eq!(addresses(&[(0, 99), (300, u64::MAX)]).free_range(1000, 256), None);
        assert_eq!(addresses(&[(0x1000, 0x1fff)]).free_range(64, 4096), Some(0x800));
    }
}
