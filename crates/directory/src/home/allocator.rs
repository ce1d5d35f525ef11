//! Allocator: the node that allocated the page.

use super::{Entry, HomeError, HomePolicy, PageAllocators, PlacedPage};

/// The node whose thread made the first allocation that covers a byte of the page is its home for
/// good: freed memory that another node gets later stays where it is. A page that no allocation
/// covers (static data, stacks) goes round robin.
///
/// Source: the placement of Alewife, as the introduction of Marchetti, Kontothanassis, Bianchini
/// and Scott 1995 describes it.
///
/// # Deviations
/// Alewife allocates from a heap of each node, so that a page has data of one node only. Here pages
/// are those of the recorded program's heap, and one of several nodes belongs to the first.
pub const ENTRY: Entry = Entry {
    name: "allocator",
    summary: "the node that allocated the page first; pages without allocations, the nodes in turn",
    source: "Marchetti et al. 1995, of Alewife",
    params: &[],
    needs_first_run: false,
    needs_allocations: true,
    build: |setup, _| {
        let allocators = setup.allocators.ok_or(HomeError::NoAllocations { name: ENTRY.name })?;
        Ok(Box::new(AllocatorHome { nodes: setup.nodes, allocators: allocators.clone() }))
    },
};

struct AllocatorHome {
    nodes: u16,
    allocators: PageAllocators,
}

impl HomePolicy for AllocatorHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        self.allocators.node(page.page).unwrap_or(page.round_robin(self.nodes))
    }
}
