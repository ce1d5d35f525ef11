//! Sharing over whole traces: against the optimum, and on any number of threads.

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_machine::{Machine, MachineKind, TABLE};
use homenode_sim::{
    PrivateReferences, SharingConfig, SharingReport, SimConfig, SimError, run, sharing,
};
use homenode_trace::{Metadata, TraceReader};

use crate::made;

fn trace(seed: u64) -> TraceReader {
    let mut rng = Rng::new(seed);
    let mut all = Vec::new();
    for _ in 0..800 {
        let thread = u16::try_from(rng.below(6)).expect("a thread");
        let place = 0x1000 + 4 * rng.below(3000);
        for i in 0..1 + rng.below(8) {
            let write = rng.below(5) < 2;
            let kind = if write { AccessKind::Write } else { AccessKind::Read };
            let size = if rng.below(3) == 0 { 8 } else { 4 };
            let mut access = Access::new(thread, kind, place + 4 * i, size);
            if rng.below(9) == 0 {
                access.flags = Flags::PRIVATE;
            }
            all.push(access);
        }
    }
    made::trace(&all, 100, Metadata::default())
}

fn config(machines: &[&str], sizes: &[u64]) -> SharingConfig {
    let simulation = SimConfig::new(machines, &["optimal"], sizes);
    SharingConfig { count: 5, ..SharingConfig::new(simulation) }
}

fn find(config: &SharingConfig, trace: &TraceReader) -> Result<SharingReport, SimError> {
    sharing(config, trace, &mut |_, _| ControlFlow::Continue(()))
}

/// Section 7.1.6: on a machine that only moves blocks, capital phi is the optimum's moves.
#[test]
fn transfers_are_the_moves_of_the_optimum() {
    let sizes = [4, 8, 64, 1024, 8192];
    for seed in 0..6 {
        let trace = trace(seed);
        let simulation = SimConfig::new(&["cc"], &["optimal"], &sizes);
        let optimum = run(&simulation, &trace, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let found = find(&config(&["cc"], &sizes), &trace).unwrap();
        for ((outcome, size), cost) in optimum.outcomes.iter().zip(&found.sizes).zip(&found.costs) {
            assert_eq!(outcome.counts.remote_moves, size.counts.transfers);
            let parts = cost.components.unwrap();
            let sum =
                [parts.local, parts.overhead_moves, parts.overhead_references, parts.data_transfer];
            let sum: f64 = sum.iter().map(|part| part.value()).sum();
            assert!((sum / outcome.accesses as f64 - outcome.mcpr.unwrap()).abs() < 1e-9);
        }
        assert_eq!(found.word_transfers, found.sizes[0].counts.transfers);
    }
}

/// Machines that only move blocks are not simulated, others are; both have the costs of `simulate`.
#[test]
fn costs_are_those_of_the_optimum() {
    let (machines, sizes) = (["cc", "numa", "prices:r=inf,R=7"], [16, 4096]);
    for private in [PrivateReferences::Local, PrivateReferences::Exclude] {
        let trace = trace(7);
        let mut config = config(&machines, &sizes);
        config.simulation.private = Some(private);
        let optimum =
            run(&config.simulation, &trace, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let found = find(&config, &trace).unwrap();
        assert_eq!(found.costs.len(), machines.len() * sizes.len());
        assert_eq!(found.references, optimum.outcomes[0].references);
        for (outcome, cost) in optimum.outcomes.iter().zip(&found.costs) {
            assert_eq!((&outcome.machine, outcome.block_size), (&cost.machine, cost.block_size));
            assert_eq!((outcome.accesses, outcome.total_cost), (cost.accesses, cost.total_cost));
        }
    }
}

#[test]
fn components_add_up_on_every_machine() {
    let trace = trace(1);
    let priced = |name: &&str| Machine::parse(name).unwrap().kind() == MachineKind::Placement;
    let all: Vec<&str> = TABLE.iter().map(|preset| preset.name).filter(priced).collect();
    let mut config = config(&all, &[64, 4096]);
    config.simulation.processors = Some(4);
    let mut forced = config.clone();
    forced.simulation.force = true;
    let found = find(&forced, &trace).unwrap();
    assert_eq!(found.costs.len(), 2 * all.len());
    for cost in &found.costs {
        let parts = cost.components.unwrap();
        let sum =
            [parts.local, parts.overhead_moves, parts.overhead_references, parts.data_transfer];
        let sum: f64 = sum.iter().map(|part| part.value()).sum();
        assert!((sum / cost.accesses as f64 - cost.mcpr.unwrap()).abs() < 1e-9, "{cost:?}");
    }
}

#[test]
fn neither_threads_nor_memory_change_the_report() {
    let trace = trace(2);
    let mut config = config(&["numa", "cc"], &[16, 4096]);
    config.detail = Some(4096);
    let json =
        |config: &SharingConfig| serde_json::to_string(&find(config, &trace).unwrap()).unwrap();
    config.simulation.threads = Some(1);
    let expected = json(&config);
    config.simulation.threads = Some(3);
    assert_eq!(json(&config), expected);
    config.simulation.memory_budget_bytes = Some(1);
    assert_eq!(json(&config), expected);
}

#[test]
fn invalid_options_are_errors_with_a_remedy() {
    let trace = trace(3);
    let fails = |config: &SharingConfig| find(config, &trace).unwrap_err().to_string();
    let mut free = config(&["cc"], &[64]);
    free.merge_transfers = 0;
    assert!(fails(&free).contains("at least 1 block move"));
    let mut elsewhere = config(&["cc"], &[64]);
    elsewhere.detail = Some(128);
    assert!(fails(&elsewhere).contains("add it to --block-size"));
    assert!(fails(&config(&["cc"], &[8 << 20])).contains("choose smaller ones"));
    let stopped = sharing(&config(&["cc"], &[64]), &trace, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SimError::Interrupted)));
}
