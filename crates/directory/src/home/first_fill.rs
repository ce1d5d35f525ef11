//! First fill: the node that is first to make some fills of a page.

use homenode_protocol::{ProtocolParameter, ValueRange};

use super::{Entry, HomePolicy, PlacedPage};

/// The node that is first to make `n` fills of a page is its home from then on, and for good. Until
/// then the page is where round robin put it. Where the trace says when initialisation ends, only
/// fills after that count, as with `first-use`.
///
/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995.
pub const ENTRY: Entry = Entry {
    name: "first-fill",
    summary: "the node that is first to make n fills of the page; before, the nodes in turn",
    source: "Marchetti et al. 1995",
    params: &[ProtocolParameter {
        name: "n",
        doc: "fills that make a node the home. Default: 4",
        values: ValueRange::Number { from: 1, to: 1_000_000 },
    }],
    needs_first_run: false,
    needs_allocations: false,
    build: |setup, setting| {
        let (nodes, fills) = (setup.nodes, setting.value("n").unwrap_or(4));
        Ok(Box::new(FirstFillHome { nodes, fills, after_init_done: setup.marks_init_done }))
    },
};

struct FirstFillHome {
    nodes: u16,
    fills: u64,
    after_init_done: bool,
}

impl HomePolicy for FirstFillHome {
    fn place(&mut self, page: PlacedPage) -> u16 {
        page.round_robin(self.nodes)
    }

    fn fills_of_home(&self) -> Option<u64> {
        Some(self.fills)
    }

    fn counts_after_init_done(&self) -> bool {
        self.after_init_done
    }
}
