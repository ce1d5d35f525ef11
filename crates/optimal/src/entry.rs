//! The optimum as a policy.

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::policy::{Entry, Policy, PolicyError, Setup};
use homenode_placement::{Block, Cost, Tally};

use crate::change::{Change, Changes};
use crate::global::{GlobalPrices, GlobalSolver};
use crate::global_migration::{self, GlobalMigration};
use crate::global_replay::replay;
use crate::key::KeyPrices;
use crate::migration::Migration;
use crate::replication::Scratch;

/// The off-line policies of this crate.
pub const TABLE: &[Entry] = &[
    Entry {
        name: "optimal",
        summary: "the cheapest placement there is, found with hindsight",
        source: "Bolosky 1993, section 4.2.2, corrected (docs/optimal.md)",
        params: &[],
        needs_global: false,
        needs_prices: true,
        build: |setup, _| build(setup, true),
    },
    Entry {
        name: "optimal-no-replication",
        summary: "the cheapest placement with a single copy of every block at all times",
        source: "Bolosky 1993, section 4.2.1, in Dietz's form",
        params: &[],
        needs_global: false,
        needs_prices: true,
        build: |setup, _| build(setup, false),
    },
];

fn build(setup: &Setup, replicate: bool) -> Result<Box<dyn Policy>, PolicyError> {
    let prices = check(setup)?;
    Ok(if setup.global {
        Box::new(GlobalOptimal::new(prices, setup.processors, replicate))
    } else {
        Box::new(Optimal::new(prices, setup.processors, replicate))
    })
}

/// The prices, if the recurrences hold for them.
fn check(setup: &Setup) -> Result<Prices, PolicyError> {
    let fail = |machine, remedy| Err(PolicyError::Machine { policy: "optimal", machine, remedy });
    let Some(prices) = setup.prices else {
        return fail("without prices", "give the prices: this policy chooses by them");
    };
    if !setup.global && KeyPrices::new(&prices, 1).is_none() {
        return fail(
            "with these prices",
            "r and R must not both be infinite, and r must not be below 1, even with --force",
        );
    }
    if setup.global && GlobalPrices::new(&prices, 1).is_none() {
        return fail(
            "with global memory and these prices",
            "optimal with global memory is offered where g and G are finite, 1 <= g <= r and \
             G <= R; change the prices, or leave the policy out",
        );
    }
    Ok(prices)
}

struct Optimal {
    prices: Prices,
    processors: u16,
    replicate: bool,
    scratch: Scratch,
    migration: Migration,
}

impl Optimal {
    fn new(prices: Prices, processors: u16, replicate: bool) -> Self {
        let scratch = Scratch::new(processors);
        Self { prices, processors, replicate, scratch, migration: Migration::default() }
    }

    fn keys(&self, references: u64) -> KeyPrices {
        KeyPrices::new(&self.prices, references).expect("build() has checked the prices")
    }
}

impl Policy for Optimal {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let references = self.scratch.survey(block.runs);
        if self.scratch.active().len() == 1 {
            return all_local(block, tally);
        }
        let keys = self.keys(references);
        let mut own = Tally::default();
        let key = if self.replicate {
            let key = self.scratch.solve(block.runs, keys);
            self.scratch.replay(block.runs, |step| step.count(&keys, &mut own));
            key
        } else {
            let key = self.migration.solve(block.runs, &keys, self.processors);
            self.migration.count(block.runs, &mut own);
            key
        };
        confirm(block, &own, &self.prices, (key, keys.shift));
        *tally += &own;
    }
}

/// The optimum where there is global memory.
struct GlobalOptimal {
    prices: Prices,
    processors: u16,
    replicate: bool,
    scratch: Scratch,
}

impl GlobalOptimal {
    fn new(prices: Prices, processors: u16, replicate: bool) -> Self {
        Self { prices, processors, replicate, scratch: Scratch::new(processors) }
    }

    fn keys(&self, references: u64) -> GlobalPrices {
        GlobalPrices::new(&self.prices, references).expect("build() has checked the prices")
    }
}

impl Policy for GlobalOptimal {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let references = self.scratch.survey(block.runs);
        if self.scratch.active().len() == 1 {
            return all_local(block, tally);
        }
        let keys = self.keys(references);
        let mut own = Tally::default();
        let key = if self.replicate {
            let (active, lane) = self.scratch.lanes();
            let solution = GlobalSolver::new(keys, active.len()).solve(block.runs, lane);
            let found = (&solution, &keys);
            replay(block.runs, found, (active.len(), lane), |step| step.count(&mut own));
            solution.key
        } else {
            let (key, path) = GlobalMigration::new(keys, self.processors).solve(block.runs);
            GlobalMigration::count(block.runs, &path, self.processors, &mut own);
            key
        };
        confirm(block, &own, &self.prices, (key, keys.shift));
        *tally += &own;
    }
}

/// A block that one processor alone refers to stays there.
fn all_local(block: Block<'_>, tally: &mut Tally) {
    tally.local_reads += block.runs.iter().map(|run| run.reads()).sum::<u64>();
    tally.local_writes += block.runs.iter().map(|run| run.writes()).sum::<u64>();
}

/// The counts, priced, are the minimum that was found.
fn confirm(block: Block<'_>, tally: &Tally, prices: &Prices, (key, shift): (i128, u32)) {
    let priced = Cost::of(tally, prices).total().steps.and_then(|c| i128::try_from(c).ok());
    let moves = i128::from(tally.remote_moves + tally.global_moves);
    assert_eq!(priced, Some(key >> shift), "block {}: counts against the minimum", block.number);
    assert_eq!(moves, key & ((1 << shift) - 1), "block {}: moves", block.number);
}

/// The optimal placement of one block itself: the places at its first reference, and every change.
/// Of several optima it is the one with the fewest moves, then the lowest-numbered places, decided
/// from the end of the history backwards. Copies are made by the first read that uses them.
///
/// # Errors
/// When the prices allow no placement, or the machine has global memory at prices that the
/// recurrence does not cover.
pub fn placement(
    block: Block<'_>,
    setup: &Setup,
    replicate: bool,
) -> Result<Vec<Change>, PolicyError> {
    let prices = check(setup)?;
    let mut changes = Changes::default();
    if setup.global {
        let mut optimal = GlobalOptimal::new(prices, setup.processors, replicate);
        let references = optimal.scratch.survey(block.runs);
        let keys = optimal.keys(references);
        if replicate {
            let (active, lane) = optimal.scratch.lanes();
            let solution = GlobalSolver::new(keys, active.len()).solve(block.runs, lane);
            let found = (&solution, &keys);
            replay(block.runs, found, (active.len(), lane), |step| {
                step.record(active, &mut changes);
            });
        } else {
            let (_, path) = GlobalMigration::new(keys, setup.processors).solve(block.runs);
            let steps = block.runs.iter().flat_map(|&run| global_migration::steps(run));
            singles(steps.zip(path), setup.processors, &mut changes);
        }
        return Ok(changes.finish());
    }
    let mut optimal = Optimal::new(prices, setup.processors, replicate);
    let references = optimal.scratch.survey(block.runs);
    let keys = optimal.keys(references);
    if replicate {
        optimal.scratch.solve(block.runs, keys);
        let active = optimal.scratch.active().to_vec();
        optimal.scratch.replay(block.runs, |step| step.record(&keys, &active, &mut changes));
    } else {
        optimal.migration.solve(block.runs, &keys, setup.processors);
        let runs = block.runs.iter().map(|run| run.references());
        let path = optimal.migration.path().iter().copied();
        singles(runs.zip(path), setup.processors, &mut changes);
    }
    Ok(changes.finish())
}

/// Single places, each with the number of references made there; `global` is global memory.
fn singles(steps: impl Iterator<Item = (u64, ProcId)>, global: ProcId, changes: &mut Changes) {
    let mut position = 0;
    for (references, place) in steps {
        let processors = if place == global { Vec::new() } else { vec![place] };
        changes.set(position, processors, place == global);
        position += references;
    }
}
