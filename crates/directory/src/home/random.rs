//! Random homes.

use homenode_base::Rng;

use super::{Entry, HomePolicy, PlacedPage};

/// Each page gets any node, each equally likely, at its first reference.
///
/// Source: ours, as a baseline; the generator is the project's own, so that a seed gives the same
/// homes everywhere.
pub const ENTRY: Entry = Entry {
    name: "random",
    summary: "any node, drawn at each page's first reference",
    source: "homenode",
    params: &[],
    needs_first_run: false,
    needs_allocations: false,
    build: |setup, _| Ok(Box::new(RandomHome { nodes: setup.nodes, rng: Rng::new(setup.seed) })),
};

struct RandomHome {
    nodes: u16,
    rng: Rng,
}

impl HomePolicy for RandomHome {
    fn place(&mut self, _: PlacedPage) -> u16 {
        u16::try_from(self.rng.below(u64::from(self.nodes))).unwrap_or(0)
    }
}
