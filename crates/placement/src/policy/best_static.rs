//! Places each block at its cheapest single place, chosen with hindsight.

use homenode_base::ProcId;
use homenode_machine::Prices;

use super::place::FixedPlace;
use super::{Entry, Policy, PolicyError, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Bolosky equation 4.1 with P the same single place at every t; Marchetti et al. 1995 §3.2
/// name this placement as the ideal that future knowledge would allow, and Verghese et al. 1996
/// simulate it as "post facto". Off-line: it is given the prices and sees the whole history. Ties
/// go to the lowest-numbered processor, then to global memory. If every place costs infinitely
/// much, it takes the one with the fewest references of infinite price.
pub const ENTRY: Entry = Entry {
    name: "best-static",
    summary: "every block stays at the cheapest single place, chosen with hindsight",
    source: "static placement, off-line",
    params: &[],
    tested_with: &[],
    needs_global: false,
    needs_prices: true,
    assigns_homes: false,
    runs_on: RunsOn::Placement,
    build: |setup, _| {
        let prices = setup.prices.ok_or(PolicyError::Machine {
            policy: "best-static".into(),
            machine: "without prices",
            remedy: "give the prices: this policy chooses by them",
        })?;
        Ok(Box::new(BestStatic { prices, own: vec![0; usize::from(setup.processors)] }))
    },
};

struct BestStatic {
    prices: Prices,
    /// References of each processor to the block; all 0 between blocks.
    own: Vec<u64>,
}

impl BestStatic {
    /// References of infinite price, then cost.
    fn cost(&self, local: u64, elsewhere: u64, price: Option<u64>) -> (u64, u128) {
        let near = u128::from(local) * u128::from(self.prices.scale);
        match price {
            Some(price) => (0, near + u128::from(elsewhere) * u128::from(price)),
            None => (elsewhere, near),
        }
    }
}

impl Policy for BestStatic {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let mut all = 0;
        for run in block.runs {
            self.own[usize::from(run.processor())] += run.references();
            all += run.references();
        }
        // One pass over the history suffices: the cost of a block that stays depends on the number
        // of local and of other references only, not on their order.
        let mut best = (self.cost(0, all, self.prices.remote_reference), FixedPlace::Processor(0));
        for (p, &own) in (0..ProcId::MAX).zip(&self.own) {
            let cost = self.cost(own, all - own, self.prices.remote_reference);
            // Strictly below, so that ties stay with the lowest-numbered processor.
            if cost < best.0 || p == 0 {
                best = (cost, FixedPlace::Processor(p));
            }
        }
        if self.prices.has_global() {
            let cost = self.cost(0, all, self.prices.global_reference);
            if cost < best.0 {
                best = (cost, FixedPlace::Global);
            }
        }
        self.own.fill(0);
        best.1.count_runs(block.runs, tally);
    }
}
