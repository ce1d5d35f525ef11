//! The optimum block by block: counts, or the placement itself.

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::policy::{PlacementSetup, PolicyError};
use homenode_placement::{Block, Cost, Run, Tally};

use crate::change::{Change, Changes};
use crate::copy_plan::PlanPrices;
use crate::general::GeneralRecurrence;
use crate::global_migration;
use crate::global_place_costs;
use crate::key::KeyPrices;
use crate::migration::Migration;
use crate::replication::ReplicationScratch;
use crate::sink::EventCounter;
use crate::walk::{PlaceSink, SolutionWalk};
use crate::wide::WideKey;

/// Finds optimal placements at one price list. Keeps no state from block to block except buffers.
pub struct Optimum {
    pub(crate) setup: PlacementSetup,
    pub(crate) prices: Prices,
    replicate: bool,
    scratch: ReplicationScratch,
    migration: Migration,
    /// Buffer of the narrow recurrence with global memory.
    codes: Vec<u16>,
}

impl Optimum {
    /// A solver with or without replication, at the prices of the setup.
    ///
    /// # Errors
    /// When the recurrences do not cover the prices.
    pub fn new(setup: &PlacementSetup, replicate: bool) -> Result<Self, PolicyError> {
        let prices = check(setup)?;
        let scratch = ReplicationScratch::new(setup.processors);
        let migration = Migration::default();
        Ok(Self { setup: *setup, prices, replicate, scratch, migration, codes: Vec::new() })
    }

    /// Whether a block may have several copies.
    #[must_use]
    pub fn replicates(&self) -> bool {
        self.replicate
    }

    /// The counts of the optimal placement of a block.
    ///
    /// # Panics
    /// When the counts, priced, are not the minimum found: a fault of this crate.
    pub fn tally(&mut self, block: Block<'_>) -> Tally {
        let references = self.scratch.survey(block.runs);
        if self.scratch.active().len() == 1 {
            return all_local(block);
        }
        if self.uses_copy_plans() {
            let mut counter = EventCounter::new(block.runs);
            let (value, shift) = self.with_global(block.runs, references, &mut counter);
            let tally = counter.finish();
            confirm(block, &tally, &self.prices, value, shift);
            return tally;
        }
        let keys = self.keys(references);
        let mut tally = Tally::default();
        let key = if self.replicate {
            let key = self.scratch.solve(block.runs, keys);
            self.scratch.replay(block.runs, |step| step.count(&keys, &mut tally));
            key
        } else {
            let key = self.migration.solve(block.runs, &keys, self.setup.processors);
            self.migration.count(block.runs, &mut tally);
            key
        };
        confirm(block, &tally, &self.prices, WideKey { infinite: 0, key }, keys.shift);
        tally
    }

    /// The optimal placement of a block itself: the places at its first reference, and every
    /// change.
    ///
    /// Of several optima it is the one with the fewest moves, then the lowest-numbered places,
    /// decided from the end of the history backwards. Copies are made by the first read that uses
    /// them, or earlier if that is cheaper.
    pub fn placement(&mut self, block: Block<'_>) -> Vec<Change> {
        let references = self.scratch.survey(block.runs);
        let mut changes = Changes::default();
        if self.uses_copy_plans() {
            self.with_global(block.runs, references, &mut changes);
            return changes.finish();
        }
        let keys = self.keys(references);
        if self.replicate {
            self.scratch.solve(block.runs, keys);
            let active = self.scratch.active().to_vec();
            self.scratch.replay(block.runs, |step| step.record(&keys, &active, &mut changes));
        } else {
            self.migration.solve(block.runs, &keys, self.setup.processors);
            let runs = block.runs.iter().map(|run| run.references());
            let path = self.migration.path().iter().copied();
            singles(runs.zip(path), self.setup.processors, &mut changes);
        }
        changes.finish()
    }

    /// Whether the solvers with copy plans are needed: only they handle global memory and infinite
    /// cost.
    fn uses_copy_plans(&self) -> bool {
        let Prices { remote_reference, remote_move, .. } = self.prices;
        self.setup.global || remote_reference.is_none() && remote_move.is_none()
    }

    fn keys(&self, references: u64) -> KeyPrices {
        KeyPrices::new(&self.prices, references).expect("new() has checked the prices")
    }

    /// Finds the best placement on a machine with global memory and hands its changes to the sink.
    fn with_global(
        &mut self,
        runs: &[Run],
        references: u64,
        sink: &mut impl PlaceSink,
    ) -> (WideKey, u32) {
        let prices = PlanPrices::new(&self.prices, references);
        let prices = prices.expect("new() has checked the prices");
        let value = if self.replicate {
            let (active, proc) = self.scratch.procs();
            let (procs, codes) = (active.len(), &mut self.codes);
            let narrow = global_place_costs::solve(&self.prices, &prices, runs, procs, proc, codes);
            let solution = narrow
                .unwrap_or_else(|| GeneralRecurrence::new(prices, active.len()).solve(runs, proc));
            SolutionWalk::new(&prices, active, sink).run(runs, &solution, proc);
            solution.value
        } else {
            let processors = self.setup.processors;
            let (value, path) = global_migration::solve(&prices, runs, references, processors);
            let steps = runs.iter().flat_map(|&run| global_migration::steps(run));
            singles(steps.zip(path), processors, sink);
            value
        };
        (value, prices.shift)
    }
}

/// The prices, if the recurrences hold for them.
fn check(setup: &PlacementSetup) -> Result<Prices, PolicyError> {
    let fail =
        |machine, remedy| Err(PolicyError::Machine { policy: "optimal".into(), machine, remedy });
    let Some(prices) = setup.prices else {
        return fail("without prices", "give the prices: this policy chooses by them");
    };
    if PlanPrices::new(&prices, 1).is_none() {
        return fail(
            "with these prices",
            "neither r nor g must be below 1, nor r below a finite g, even with --force",
        );
    }
    Ok(prices)
}

/// Counts a block that only one processor refers to: it stays there.
fn all_local(block: Block<'_>) -> Tally {
    let local_reads = block.runs.iter().map(|run| run.reads()).sum();
    let local_writes = block.runs.iter().map(|run| run.writes()).sum();
    Tally { local_reads, local_writes, ..Tally::default() }
}

/// Checks that the counts, priced, are the minimum that was found.
fn confirm(block: Block<'_>, tally: &Tally, prices: &Prices, value: WideKey, shift: u32) {
    let priced = Cost::of(tally, prices).total().steps.and_then(|c| i128::try_from(c).ok());
    let least = (value.infinite == 0).then_some(value.key >> shift);
    assert_eq!(priced, least, "block {}: counts against the minimum", block.number);
    let moves = i128::from(tally.remote_moves + tally.global_moves);
    let counted = value.key & ((1 << shift) - 1);
    assert!(least.is_none() || moves == counted, "block {}: moves", block.number);
}

/// Single places, each with the number of references made there; `global` is global memory.
fn singles(steps: impl Iterator<Item = (u64, ProcId)>, global: ProcId, sink: &mut impl PlaceSink) {
    let (mut position, mut before) = (0, None);
    for (references, place) in steps {
        if before != Some(place) {
            let processors = [place];
            let held = if place == global { &[][..] } else { &processors };
            sink.set(position, held, place == global);
        }
        before = Some(place);
        position += references;
    }
}
