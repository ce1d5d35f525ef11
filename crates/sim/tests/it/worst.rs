//! The worst blocks agree with the simulation they explain.

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_machine::PriceModel;
use homenode_sim::{POLICIES, SimConfig, SimError, WorstBlocks, run, worst_blocks};
use homenode_trace::{Metadata, TraceReader};

use crate::made;

fn trace(seed: u64) -> TraceReader {
    let mut rng = Rng::new(seed);
    let access = |_| {
        let thread = u16::try_from(rng.below(4)).unwrap_or(0);
        let kind = if rng.below(3) == 0 { AccessKind::Write } else { AccessKind::Read };
        let flags = Flags(u8::try_from(rng.below(5) / 3).unwrap_or(0));
        let addr = 0x1000 + rng.below(0x400);
        Access { flags, ..Access::new(thread, kind, addr, 4) }
    };
    made::trace(&(0..3_000).map(access).collect::<Vec<_>>(), 100, Metadata::default())
}

fn worst(config: &SimConfig, trace: &TraceReader) -> Result<WorstBlocks, SimError> {
    worst_blocks(config, trace, 3, &mut |_, _| ControlFlow::Continue(()))
}

/// Private references that are counted as local have no block, and no extra cost either.
#[test]
fn extra_cost_is_the_total_less_one_per_reference() {
    for entry in POLICIES.iter().copied().flatten().filter(|entry| !entry.needs_global) {
        let placement = entry.runs_on.has(PriceModel::Placement);
        let machine = if placement { "prices:r=15,R=59" } else { "markatos" };
        let config = SimConfig::new(&[machine], &[entry.name], &[64]);
        let trace = trace(3);
        let outcome = run(&config, &trace, &mut |_, _| ControlFlow::Continue(()))
            .expect("a simulation")
            .outcomes
            .remove(0);
        let found = worst(&config, &trace).expect("an analysis");
        let total = outcome.total_cost.steps.expect("a finite cost");
        let extra = found.report.extra_cost.steps.expect("a finite cost");
        // On markatos a local reference takes 5 steps, and replicating may be as cheap.
        let local = if placement { 1 } else { 5 };
        assert_eq!(extra, total - local * u128::from(outcome.accesses), "{}", entry.name);
        assert_eq!((found.machine.as_str(), found.policy.as_str()), (machine, entry.name));
        assert_eq!(found.report.worst.len(), 3);
    }
}

#[test]
fn exactly_one_point_is_required() {
    let config = SimConfig::new(&["cc"], &["migrate", "first-touch"], &[64]);
    let error = worst(&config, &trace(1)).expect_err("two policies");
    assert!(error.is_config());
    assert!(error.to_string().contains("found 1, 2 and 1"), "{error}");
}
