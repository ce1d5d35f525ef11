//! Places each block at a random processor, each equally likely.

use homenode_base::{ProcId, Rng};

use super::place::FixedPlace;
use super::{DefaultValue, Entry, ParamKind, Policy, PolicyParam, RunsOn};
use crate::history::Block;
use crate::tally::Tally;

/// Source: Bolosky §5.2.1 compares with random placement. The processor is the first number below
/// N from a generator seeded with `seed` and the block number, so that it depends on neither the
/// order of references nor the other blocks.
pub const ENTRY: Entry = Entry {
    name: "random",
    summary: "every block stays at a random processor",
    source: "static placement; Bolosky 1993, section 5.2.1",
    params: &[PolicyParam {
        name: "seed",
        kind: ParamKind::Count { min: 0 },
        default: DefaultValue::Fixed(0),
        unit: "",
        doc: "seed of the random generator",
    }],
    tested_with: &["seed=9"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: true,
    runs_on: RunsOn::Both,
    build: |setup, values| {
        Ok(Box::new(Random { processors: setup.processors, seed: values.get(0) }))
    },
};

struct Random {
    processors: u16,
    seed: u64,
}

impl Policy for Random {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let mixed = self.seed ^ block.number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let home = Rng::new(mixed).below(u64::from(self.processors));
        let home = ProcId::try_from(home).unwrap_or(0);
        FixedPlace::Processor(home).count_runs(block.runs, tally);
    }
}
