//! Optimal static: the node at which the fills and write-backs of a page cost least.

use super::best_static::StaticHomes;
use super::spec::first_run;
use super::{Entry, PageDemand};

/// The node at which all fills and write-backs of a page in a first run of the same trace cost
/// least; of several, that with the lowest number. A page without fills in the first run goes
/// round robin.
///
/// What they cost is for the machine to say ([`super::HomeCost`]). Invalidations and blocks that
/// come from other caches are left out of it, as in the definition.
///
/// Source: ours: what a static placement can reach, beside the best by fills alone.
pub const ENTRY: Entry = Entry {
    name: "optimal-static",
    summary: "the node at which the page's fills and write-backs in a first run cost least",
    source: "homenode",
    params: &[],
    needs_first_run: true,
    needs_allocations: false,
    build: |setup, _| {
        let demands = first_run(setup, ENTRY.name)?;
        let (nodes, cost) = (setup.nodes, setup.cost);
        let cheapest =
            |page: &PageDemand| (0..nodes).min_by_key(|&home| cost.page(page, home)).unwrap_or(0);
        Ok(Box::new(StaticHomes { nodes, homes: demands.homes(cheapest) }))
    },
};
