//! The optimum as a policy.

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::policy::{Entry, Policy, PolicyError, Setup};
use homenode_placement::{Block, Cost, Run, Tally};

use crate::change::{Change, Changes};
use crate::general::General;
use crate::global_lanes;
use crate::global_migration;
use crate::key::KeyPrices;
use crate::migration::Migration;
use crate::replication::Scratch;
use crate::sink::Counter;
use crate::walk::{Sink, Walk};
use crate::way::WayPrices;
use crate::wide::Wide;

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
    if setup.global && WayPrices::new(&prices, 1).is_none() {
        return fail(
            "with global memory and these prices",
            "neither r nor g must be below 1, nor r below a finite g, even with --force",
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
        let value = Wide { infinite: 0, key };
        confirm(block, &own, &self.prices, (value, keys.shift));
        *tally += &own;
    }
}

/// The optimum where there is global memory.
struct GlobalOptimal {
    prices: Prices,
    processors: u16,
    replicate: bool,
    scratch: Scratch,
    /// Memory of the narrow recurrence.
    codes: Vec<u16>,
}

impl GlobalOptimal {
    fn new(prices: Prices, processors: u16, replicate: bool) -> Self {
        let scratch = Scratch::new(processors);
        Self { prices, processors, replicate, scratch, codes: Vec::new() }
    }

    /// Finds the best placement and tells the sink.
    fn solve(&mut self, runs: &[Run], sink: &mut impl Sink) -> (Wide, u32) {
        let references = self.scratch.survey(runs);
        let prices = WayPrices::new(&self.prices, references);
        let prices = prices.expect("build() has checked the prices");
        let (active, lane) = self.scratch.lanes();
        let value = if self.replicate {
            let both = (&self.prices, &prices);
            let narrow = global_lanes::solve(both, runs, (active.len(), lane), &mut self.codes);
            let solution =
                narrow.unwrap_or_else(|| General::new(prices, active.len()).solve(runs, lane));
            Walk::new(&prices, active, sink).run(runs, &solution, lane);
            solution.value
        } else {
            let (value, path) =
                global_migration::solve(&prices, (runs, references), self.processors);
            let steps = runs.iter().flat_map(|&run| global_migration::steps(run));
            singles(steps.zip(path), self.processors, sink);
            value
        };
        (value, prices.shift)
    }
}

impl Policy for GlobalOptimal {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        if block.runs.iter().all(|run| run.processor() == block.runs[0].processor()) {
            return all_local(block, tally);
        }
        let mut counter = Counter::new(block.runs);
        let (value, shift) = self.solve(block.runs, &mut counter);
        let own = counter.finish();
        confirm(block, &own, &self.prices, (value, shift));
        *tally += &own;
    }
}

/// A block that one processor alone refers to stays there.
fn all_local(block: Block<'_>, tally: &mut Tally) {
    tally.local_reads += block.runs.iter().map(|run| run.reads()).sum::<u64>();
    tally.local_writes += block.runs.iter().map(|run| run.writes()).sum::<u64>();
}

/// The counts, priced, are the minimum that was found.
fn confirm(block: Block<'_>, tally: &Tally, prices: &Prices, (value, shift): (Wide, u32)) {
    let priced = Cost::of(tally, prices).total().steps.and_then(|c| i128::try_from(c).ok());
    let least = (value.infinite == 0).then_some(value.key >> shift);
    assert_eq!(priced, least, "block {}: counts against the minimum", block.number);
    let moves = i128::from(tally.remote_moves + tally.global_moves);
    let counted = value.key & ((1 << shift) - 1);
    assert!(least.is_none() || moves == counted, "block {}: moves", block.number);
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
        optimal.solve(block.runs, &mut changes);
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
fn singles(steps: impl Iterator<Item = (u64, ProcId)>, global: ProcId, sink: &mut impl Sink) {
    let mut position = 0;
    for (references, place) in steps {
        let processors = [place];
        let held = if place == global { &[][..] } else { &processors };
        sink.set(position, held, place == global);
        position += references;
    }
}
