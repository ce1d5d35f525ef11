//! Best static: the node that makes the most fills of a page.

use rustc_hash::FxHashMap;

use super::spec::first_run;
use super::{Entry, HomePolicy, PageDemand, PlacedPage};

/// The node that made the most fills of a page in a first run of the same trace; of several, that
/// with the lowest number. A page without fills in the first run goes round robin.
///
/// Source: ours, as a base with hindsight to compare with.
pub const ENTRY: Entry = Entry {
    name: "best-static",
    summary: "the node with the most fills of the page in a first run",
    source: "homenode",
    params: &[],
    needs_first_run: true,
    needs_allocations: false,
    build: |setup, _| {
        let demands = first_run(setup, ENTRY.name)?;
        // Ties go to the lowest number.
        let most = |page: &PageDemand| {
            let by = page.nodes.iter().rev().max_by_key(|by| by.fills);
            by.map_or(0, |by| by.node)
        };
        Ok(Box::new(StaticHomes { nodes: setup.nodes, homes: demands.homes(most) }))
    },
};

/// A home for each page of a first run.
pub(super) struct StaticHomes {
    pub(super) nodes: u16,
    pub(super) homes: FxHashMap<u64, u16>,
}

impl HomePolicy for StaticHomes {
    fn place(&mut self, page: PlacedPage) -> u16 {
        self.homes.get(&page.page).copied().unwrap_or(page.round_robin(self.nodes))
    }
}
