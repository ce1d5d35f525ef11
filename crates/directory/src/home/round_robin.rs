//! Round robin: pages are dealt out in the order of their first references.

use homenode_protocol::{ProtocolParameter, ValueRange};

use super::{Entry, HomePolicy, PlacedPage};

/// Pages are dealt out in the order of their first references, from node `first` on. Which node is
/// the first is an accident of a run, so several values of it show how much depends on it.
///
/// Source: ours; a machine without a placement policy does this.
pub const ENTRY: Entry = Entry {
    name: "round-robin",
    summary: "the nodes in turn, in the order of the pages' first references",
    source: "homenode",
    params: &[ProtocolParameter {
        name: "first",
        doc: "node of the first page, modulo the nodes. Default: 0",
        values: ValueRange::Number { from: 0, to: 65_535 },
    }],
    needs_first_run: false,
    needs_allocations: false,
    build: |setup, setting| {
        let first = setting.value("first").unwrap_or(0);
        Ok(Box::new(RoundRobinHome { nodes: setup.nodes, first }))
    },
};

struct RoundRobinHome {
    nodes: u16,
    first: u64,
}

impl HomePolicy for RoundRobinHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        page.dealt_from(self.first, self.nodes)
    }
}
