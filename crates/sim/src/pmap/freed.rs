//! The pages that a program frees by removing mappings.

use std::collections::BTreeSet;

use homenode_base::{AccessKind, Time};
use homenode_placement::HistoryBuilder;
use homenode_trace::{Batch, EventKind};

use crate::pass::{PassSink, Unchanged};

/// Passes references on, and notes which pages lose their mappings and when.
pub(super) struct FreedPages {
    page_bytes: u64,
    freed: Vec<FreedSpan>,
}

/// Pages from the first to before `end`, freed before the reference with this Time.
struct FreedSpan {
    first: u64,
    end: u64,
    time: Time,
}

impl FreedPages {
    pub(super) fn new(page_bytes: u64) -> Self {
        Self { page_bytes, freed: Vec::new() }
    }

    /// Only whole pages are freed.
    fn free(&mut self, addr: u64, size: u64, time: Time) {
        let (first, end) =
            (addr.div_ceil(self.page_bytes), addr.saturating_add(size) / self.page_bytes);
        if first < end {
            self.freed.push(FreedSpan { first, end, time });
        }
    }

    pub(super) fn by_page(self) -> FreedTimes {
        let ends: BTreeSet<u64> =
            self.freed.iter().flat_map(|span| [span.first, span.end]).collect();
        let starts: Vec<u64> = ends.into_iter().collect();
        let mut times = vec![Vec::new(); starts.len()];
        for FreedSpan { first, end, time } in self.freed {
            let at = |page| starts.partition_point(|&start| start < page);
            times[at(first)..at(end)].iter_mut().for_each(|times| times.push(time));
        }
        FreedTimes { starts, times }
    }
}

impl PassSink for FreedPages {
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        for batch in batches {
            let (mut time, mut row) = (batch.first_time, 0);
            for (before, event) in &batch.events {
                let EventKind::Unmap { addr, size } = event.what else { continue };
                let until = usize::try_from(*before).unwrap_or(usize::MAX).min(batch.len());
                let fetch = AccessKind::Fetch.code();
                // Time counts data references.
                time +=
                    batch.kind[row..until].iter().filter(|&&kind| kind != fetch).count() as Time;
                row = until;
                self.free(addr, size, time);
            }
        }
        Unchanged.push(builders, batches);
    }

    fn takes_events(&self) -> bool {
        true
    }
}

/// When each page is freed.
pub(super) struct FreedTimes {
    /// Where the pages that are freed at the same times begin.
    starts: Vec<u64>,
    times: Vec<Vec<Time>>,
}

impl FreedTimes {
    /// The Times of this page, ascending.
    pub(super) fn of(&self, page: u64) -> &[Time] {
        let at = self.starts.partition_point(|&start| start <= page);
        at.checked_sub(1).map_or(&[], |at| &self.times[at])
    }
}
