//! Pages that nobody used before.

use std::collections::BTreeMap;

use homenode_base::BlockSize;

use crate::reader::TraceReader;

/// The largest reference in bytes: no reference can move more.
const LARGEST: u64 = 64;

/// A stretch of pages that the trace does not use.
pub(super) struct Room {
    page: BlockSize,
    /// First word of the next page.
    next: u64,
    /// New pages so far.
    pages: u64,
    /// Words left of the page that each owner fills, from the first to behind the last.
    filling: BTreeMap<Owner, (u64, u64)>,
}

/// Whose words a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// Words that one thread references.
    Thread(u16),
    /// Words that have to be brought together and that several threads reference.
    Several,
}

impl Room {
    /// The largest stretch of addresses that the trace neither references nor names, if it holds
    /// all pages that could be needed.
    pub(super) fn beside(trace: &TraceReader, page: BlockSize, window: u64) -> Option<Self> {
        let mut used: Vec<(u64, u64)> = Vec::new();
        let chunks = trace.chunks().iter().filter(|chunk| chunk.rows > 0);
        used.extend(chunks.map(|chunk| (chunk.addr_low, chunk.addr_high)));
        let ranges = trace.metadata().ranges.iter().filter(|range| range.size > 0);
        used.extend(ranges.map(|range| (range.start, range.start.saturating_add(range.size - 1))));
        used.sort_unstable();
        // Free stretches as (first byte, last byte).
        let (mut best, mut free) = (None, Some(0));
        let mut offer = |first: Option<u64>, last: Option<u64>| {
            let Some((first, last)) = first.zip(last).filter(|(first, last)| first <= last) else {
                return;
            };
            if best.is_none_or(|(start, end)| last - first >= end - start) {
                best = Some((first, last));
            }
        };
        for (low, high) in used {
            offer(free, low.checked_sub(1));
            free = free.and_then(|first| Some(first.max(high.checked_add(1)?)));
        }
        offer(free, Some(u64::MAX));
        let (first, last) = best?;
        let start = first.checked_next_multiple_of(page.bytes())?;
        let needed = pages_at_most(trace, page, window).checked_mul(page.bytes())?;
        let enough = start.checked_add(needed).is_some_and(|end| end <= last);
        let next = start / BlockSize::WORD_BYTES;
        enough.then(|| Self { page, next, pages: 0, filling: BTreeMap::new() })
    }

    /// New pages so far.
    pub(super) const fn pages(&self) -> u64 {
        self.pages
    }

    /// A new window: pages that are partly filled have been used.
    pub(super) fn close(&mut self) {
        self.filling.clear();
    }

    /// First of `words` words in a row for the owner, on one page unless they are too many for it.
    pub(super) fn take(&mut self, owner: Owner, words: u64) -> u64 {
        let size = self.page.words();
        if let Some((first, end)) = self.filling.get_mut(&owner)
            && *end - *first >= words
        {
            *first += words;
            return *first - words;
        }
        let first = self.next;
        self.next += words.next_multiple_of(size);
        self.pages += words.div_ceil(size);
        self.filling.insert(owner, (first + words, self.next));
        first
    }
}

/// A bound of the pages that all windows together can fill.
fn pages_at_most(trace: &TraceReader, page: BlockSize, window: u64) -> u64 {
    let windows = trace.references() / window + 1;
    let owners = u64::from(trace.threads()) + 1;
    // A page is left behind less than half full only if what comes next fills more than half of
    // one, and a reference that begins within a word touches one more.
    let bytes = trace.references().saturating_mul(2 * (LARGEST + 2 * BlockSize::WORD_BYTES));
    (bytes / page.bytes()).saturating_add(windows.saturating_mul(owners)).saturating_add(1)
}
