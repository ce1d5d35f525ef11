//! Who allocated each page.

use std::collections::BTreeMap;

/// The node that allocated each page first. What it takes depends on the number of allocations, not
/// on how large they are.
#[derive(Clone, Debug)]
pub struct PageAllocators {
    page_bytes: u64,
    /// By the first page of each span; spans do not overlap.
    spans: BTreeMap<u64, Span>,
}

/// Successive pages that one node allocated first.
#[derive(Clone, Copy, Debug)]
struct Span {
    last_page: u64,
    node: u16,
}

impl PageAllocators {
    /// Nothing allocated yet, in a machine with pages of this size.
    #[must_use]
    pub const fn new(page_bytes: u64) -> Self {
        Self { page_bytes, spans: BTreeMap::new() }
    }

    /// A node allocates memory, after all that were added before. Pages that have an allocator keep
    /// it.
    ///
    /// ```
    /// let mut allocators = homenode_directory::PageAllocators::new(256);
    /// allocators.add(0x180, 0x100, 2);
    /// allocators.add(0x280, 0x200, 3);
    /// assert_eq!([0, 1, 2, 3, 4, 5].map(|page| allocators.node(page)),
    ///            [None, Some(2), Some(2), Some(3), Some(3), None]);
    /// ```
    pub fn add(&mut self, addr: u64, size: u64, node: u16) {
        let Some(beyond_first) = size.checked_sub(1) else { return };
        let mut page = addr / self.page_bytes;
        let last = addr.saturating_add(beyond_first) / self.page_bytes;
        while page <= last {
            let taken_to = self.span(page).map(|span| span.last_page);
            let end = taken_to.unwrap_or_else(|| {
                let next = self.spans.range(page..=last).next();
                let last_page = next.map_or(last, |(first, _)| first - 1);
                self.spans.insert(page, Span { last_page, node });
                last_page
            });
            page = end + 1;
        }
    }

    /// The node that allocated a page first, if one did.
    #[must_use]
    pub fn node(&self, page: u64) -> Option<u16> {
        self.span(page).map(|span| span.node)
    }

    fn span(&self, page: u64) -> Option<Span> {
        let (_, span) = self.spans.range(..=page).next_back()?;
        (page <= span.last_page).then_some(*span)
    }
}
