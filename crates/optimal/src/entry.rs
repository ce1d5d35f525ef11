//! The optimum as a policy.

use homenode_placement::policy::{Entry, PlacementSetup, Policy, PolicyError, RunsOn};
use homenode_placement::{Block, Tally};

use crate::change::Change;
use crate::optimum::Optimum;

/// The off-line policies of this crate.
pub const TABLE: &[Entry] = &[
    Entry {
        name: "optimal",
        summary: "the cheapest placement there is, found with hindsight",
        source: "Bolosky 1993, section 4.2.2, corrected (docs/optimal.md)",
        params: &[],
        tested_with: &[],
        needs_global: false,
        needs_prices: true,
        assigns_homes: false,
        runs_on: RunsOn::Placement,
        build: |setup, _| build(setup, true),
    },
    Entry {
        name: "optimal-no-replication",
        summary: "the cheapest placement with a single copy of every block at all times",
        source: "Bolosky 1993, section 4.2.1, in Dietz's form",
        params: &[],
        tested_with: &[],
        needs_global: false,
        needs_prices: true,
        assigns_homes: false,
        runs_on: RunsOn::Placement,
        build: |setup, _| build(setup, false),
    },
];

fn build(setup: &PlacementSetup, replicate: bool) -> Result<Box<dyn Policy>, PolicyError> {
    Ok(Box::new(Optimum::new(setup, replicate)?))
}

impl Policy for Optimum {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        *tally += &self.tally(block);
    }
}

/// The optimal placement of one block ([`Optimum::placement`]).
///
/// # Errors
/// When the recurrences do not cover the prices.
pub fn placement(
    block: Block<'_>,
    setup: &PlacementSetup,
    replicate: bool,
) -> Result<Vec<Change>, PolicyError> {
    Ok(Optimum::new(setup, replicate)?.placement(block))
}
