//! One node is the home of all pages.

use homenode_protocol::{ProtocolParameter, ValueRange};

use super::{Entry, HomeError, HomePolicy, PlacedPage};

/// One node is the home of all pages.
///
/// Source: ours; the worst placement, and a machine with all memory in one place.
pub const ENTRY: Entry = Entry {
    name: "fixed",
    summary: "one node for all pages",
    source: "homenode",
    params: &[ProtocolParameter {
        name: "node",
        doc: "the node, numbered from 0. Default: 0",
        values: ValueRange::Number { from: 0, to: 1023 },
    }],
    needs_first_run: false,
    needs_allocations: false,
    build: |setup, setting| {
        let (node, nodes) = (setting.value("node").unwrap_or(0), setup.nodes);
        let found = u16::try_from(node).ok().filter(|&node| node < nodes);
        Ok(Box::new(FixedHome { node: found.ok_or(HomeError::Node { node, nodes })? }))
    },
};

struct FixedHome {
    node: u16,
}

impl HomePolicy for FixedHome {
    fn place(&mut self, _: PlacedPage) -> u16 {
        self.node
    }
}
