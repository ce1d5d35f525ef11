//! Round robin: pages are dealt out in the order of their first references.

use super::{Entry, HomePolicy, PlacedPage};

/// Pages are dealt out in the order of their first references.
///
/// Source: ours; a machine without a placement policy does this.
pub const ENTRY: Entry = Entry {
    name: "round-robin",
    summary: "the nodes in turn, in the order of the pages' first references",
    source: "homenode",
    params: &[],
    needs_first_run: false,
    build: |setup, _| Ok(Box::new(RoundRobinHome { nodes: setup.nodes })),
};

struct RoundRobinHome {
    nodes: u16,
}

impl HomePolicy for RoundRobinHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        page.round_robin(self.nodes)
    }
}
