//! The optimum as a policy.

use homenode_base::ProcId;
use homenode_machine::Prices;
use homenode_placement::policy::{Entry, Policy, PolicyError, Setup};
use homenode_placement::{Block, Cost, Tally};

use crate::key::KeyPrices;
use crate::lanes::Lane;
use crate::migration::Migration;
use crate::replication::{Scratch, Step};

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
    let fail = |machine, remedy| Err(PolicyError::Machine { policy: "optimal", machine, remedy });
    let Some(prices) = setup.prices else {
        return fail("without prices", "give the prices: this policy chooses by them");
    };
    if setup.global {
        return fail(
            "with global memory",
            "optimal with global memory is not offered; choose a machine without prices g and G, \
             or leave the policy out",
        );
    }
    if KeyPrices::new(&prices, 1).is_none() {
        return fail(
            "with these prices",
            "r and R must not both be infinite, and r must not be below 1, even with --force",
        );
    }
    Ok(Box::new(Optimal::new(prices, setup.processors, replicate)))
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
            tally.local_reads += block.runs.iter().map(|run| run.reads()).sum::<u64>();
            tally.local_writes += block.runs.iter().map(|run| run.writes()).sum::<u64>();
            return;
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
        let priced =
            Cost::of(&own, &self.prices).total().steps.and_then(|c| i128::try_from(c).ok());
        let (cost, moves) = (key >> keys.shift, key & ((1 << keys.shift) - 1));
        assert_eq!(priced, Some(cost), "block {}: counts against the minimum", block.number);
        assert_eq!(i128::from(own.remote_moves), moves, "block {}: moves", block.number);
        *tally += &own;
    }
}

/// A change of the set of places that hold a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Position in the block's own history, counted from 0, of the first reference made with
    /// these places.
    pub reference: u64,
    /// The places, ascending.
    pub places: Vec<ProcId>,
}

/// The optimal placement of one block itself: the places at its first reference, and every change.
/// Of several optima it is the one with the fewest moves, then the lowest-numbered places, decided
/// from the end of the history backwards. Copies are made by the first read that uses them.
///
/// # Errors
/// When the machine has global memory or the prices allow no placement.
pub fn placement(
    block: Block<'_>,
    setup: &Setup,
    replicate: bool,
) -> Result<Vec<Change>, PolicyError> {
    build(setup, replicate)?;
    let Some(prices) = setup.prices else { return Ok(Vec::new()) };
    let mut optimal = Optimal::new(prices, setup.processors, replicate);
    let references = optimal.scratch.survey(block.runs);
    let keys = optimal.keys(references);
    let mut changes = Changes(Vec::new());
    if replicate {
        optimal.scratch.solve(block.runs, keys);
        let active = optimal.scratch.active().to_vec();
        optimal.scratch.replay(block.runs, |step| changes.step(&step, &keys, &active));
    } else {
        optimal.migration.solve(block.runs, &keys, setup.processors);
        let mut position = 0;
        for (run, &place) in block.runs.iter().zip(optimal.migration.path()) {
            changes.set(position, vec![place]);
            position += run.references();
        }
    }
    Ok(changes.0)
}

struct Changes(Vec<Change>);

impl Changes {
    fn set(&mut self, reference: u64, mut places: Vec<ProcId>) {
        places.sort_unstable();
        match self.0.last_mut() {
            Some(last) if last.places == places => {}
            Some(last) if last.reference == reference => last.places = places,
            Some(_) | None => self.0.push(Change { reference, places }),
        }
    }

    fn add(&mut self, reference: u64, place: ProcId) {
        let mut places = self.0.last().map(|c| c.places.clone()).unwrap_or_default();
        places.push(place);
        self.set(reference, places);
    }

    fn step(&mut self, step: &Step<'_>, prices: &KeyPrices, active: &[ProcId]) {
        let name = |lane: Lane| active[usize::from(lane)];
        if self.0.is_empty() {
            self.set(0, vec![name(step.start)]);
        }
        for &(j, at) in step.readers.iter().filter(|(j, _)| step.replicates(*j, prices)) {
            self.add(at, name(j));
        }
        let Some((w, run, at)) = step.writes else { return };
        self.set(at, vec![name(step.end)]);
        if w == step.end || !prices.copies(run.cycle_reads()) {
            return;
        }
        let cycle = run.cycle_writes() + run.cycle_reads();
        for again in 1..run.repeats() {
            self.add(at + again * cycle - run.cycle_reads(), name(w));
            self.set(at + again * cycle, vec![name(step.end)]);
        }
    }
}
