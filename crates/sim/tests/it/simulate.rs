//! Whole simulations through [`homenode_sim::run`].

use std::ops::ControlFlow;
use std::sync::Arc;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_placement::{
    Block, PlacementSetup, Policy, PolicyError, PolicyFactory, PolicySpec, Tally,
};
use homenode_sim::{PlacementSimulation, SimConfig, SimError, run, run_policies};
use homenode_trace::{Metadata, Process, TraceReader};

use crate::made::trace;

fn simulate(config: &SimConfig, trace: &TraceReader) -> Result<PlacementSimulation, SimError> {
    run(config, trace, &mut |_, _| ControlFlow::Continue(()))
}

fn json(config: &SimConfig, trace: &TraceReader) -> String {
    serde_json::to_string(&simulate(config, trace).unwrap().outcomes).unwrap()
}

#[test]
fn the_documented_example_prints_exactly_the_documented_fields() {
    let accesses =
        [Access::new(0, AccessKind::Write, 0x1000, 4), Access::new(1, AccessKind::Read, 0x1000, 4)];
    let trace = trace(&accesses, 100, Metadata::default());
    let config = SimConfig::new(&["prices:r=15,R=59"], &["optimal", "ace"], &[64]);
    let object = |policy: &str, counts: &str, cost: &str| {
        let head = format!(
            r#""trace":"t.hnt","machine":"prices:r=15,R=59","policy":"{policy}","block_size":64"#
        );
        let size = r#""processors":2,"references":2,"accesses":2"#;
        format!(r#"{{{head},{size},"counts":{{{counts}}},"cost":{{{cost}}}"#)
    };
    let counts = |reads: &str, moves: &str, events: &str| {
        let zeros = r#""global_reads":0,"global_writes":0"#;
        let updates = r#""update_packets":0,"multicast_writes":0"#;
        let last = r#""replicating_reads":0,"forwarded_writes":0"#;
        format!(r#"{reads},{zeros},{moves},{updates},{events},{last}"#)
    };
    let optimal = object(
        "optimal",
        &counts(
            r#""local_reads":0,"local_writes":1,"remote_reads":1,"remote_writes":0"#,
            r#""remote_moves":0,"global_moves":0,"replications":0"#,
            r#""invalidations":0,"faults":0,"freezes":0"#,
        ),
        r#""local":1,"remote":15,"global":0,"remote_moves":0,"global_moves":0"#,
    ) + r#","total_cost":16,"mcpr":8.0}"#;
    let ace = object(
        "ace",
        &counts(
            r#""local_reads":1,"local_writes":1,"remote_reads":0,"remote_writes":0"#,
            r#""remote_moves":1,"global_moves":0,"replications":1"#,
            r#""invalidations":0,"faults":1,"freezes":0"#,
        ),
        r#""local":2,"remote":0,"global":0,"remote_moves":59,"global_moves":0"#,
    ) + r#","total_cost":61,"mcpr":30.5}"#;
    assert_eq!(json(&config, &trace), format!("[{optimal},{ace}]"));
}

/// A false-sharing-like trace with private and synchronisation references and straddling ones.
fn mixed(seed: u64, length: u64) -> Vec<Access> {
    let mut rng = Rng::new(seed);
    let mut list = Vec::new();
    for _ in 0..length {
        let thread = u16::try_from(rng.below(6)).unwrap();
        let kinds = [AccessKind::Read, AccessKind::Read, AccessKind::Write, AccessKind::Atomic];
        let kind = kinds[usize::try_from(rng.below(4)).unwrap()];
        let flags = [0, 0, 0, 0, 1, 2, 3][usize::try_from(rng.below(7)).unwrap()];
        let addr = 0x4000 + rng.below(40) * 500 + rng.below(70);
        for _ in 0..1 + rng.below(4) {
            list.push(Access { flags: Flags(flags), ..Access::new(thread, kind, addr, 8) });
        }
    }
    list
}

fn matrix() -> SimConfig {
    SimConfig::new(
        &["ace", "butterfly", "numa", "dsm", "cc+", "prices:r=15.5,R=59.25"],
        &[
            "optimal",
            "optimal-no-replication",
            "ace",
            "delay:n=5",
            "platinum:t1=20,t2=300",
            "migrate",
            "first-touch",
            "round-robin",
            "random:seed=3",
            "best-static",
        ],
        &[64, 256, 4096],
    )
}

#[test]
fn machines_together_give_the_outcomes_of_each_alone() {
    let trace = trace(&mixed(2, 2_000), 500, Metadata::default());
    let machines = ["cc", "dsm", "prices:r=15,R=59", "prices:r=29,R=118", "prices:r=30,R=118"];
    let together = SimConfig::new(
        &machines,
        &["optimal", "optimal-no-replication", "best-static", "ace"],
        &[64, 1024],
    );
    let mut alone = Vec::new();
    for machine in machines {
        let config = SimConfig { machines: vec![machine.to_owned()], ..together.clone() };
        alone.extend(simulate(&config, &trace).unwrap().outcomes);
    }
    let found = simulate(&together, &trace).unwrap().outcomes;
    assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&alone).unwrap());
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_under_any_budget() {
    let trace = trace(&mixed(1, 4_000), 500, Metadata::default());
    let reference = json(&SimConfig { threads: Some(1), ..matrix() }, &trace);
    for (threads, budget) in [(2, None), (8, None), (1, Some(40_000)), (3, Some(1))] {
        let config = SimConfig { threads: Some(threads), memory_budget_bytes: budget, ..matrix() };
        assert_eq!(json(&config, &trace), reference, "{threads} threads, {budget:?} bytes");
    }
}

#[test]
fn outcomes_are_in_configuration_order_and_the_optimum_is_least() {
    let trace = trace(&mixed(2, 2_000), 700, Metadata::default());
    let config = matrix();
    let outcomes = simulate(&config, &trace).unwrap().outcomes;
    let mut rest = outcomes.iter();
    for machine in &config.machines {
        for policy in &config.policies {
            for &block_size in &config.block_sizes {
                let o = rest.next().unwrap();
                assert_eq!((&o.machine, &o.policy, o.block_size), (machine, policy, block_size));
                let best = outcomes.iter().find(|b| {
                    b.policy == "optimal" && b.machine == o.machine && b.block_size == block_size
                });
                let best = best.unwrap().total_cost.steps.unwrap();
                assert!(o.total_cost.steps.is_none_or(|cost| best <= cost), "{o:?}");
                assert_eq!(o.counts.accesses(), o.accesses);
                assert_eq!(o.references, outcomes[0].references);
            }
        }
    }
    assert!(rest.next().is_none());
}

#[test]
fn infinite_costs_are_null_and_decimals_are_numbers() {
    let accesses =
        [Access::new(0, AccessKind::Write, 0, 4), Access::new(1, AccessKind::Read, 0, 4)];
    let trace = trace(&accesses, 10, Metadata::default());
    let config = SimConfig::new(&["cc", "prices:r=15.5,R=59"], &["first-touch"], &[64]);
    let text = json(&config, &trace);
    assert!(text.contains(r#""remote":null,"global":0,"remote_moves":0"#), "{text}");
    assert!(text.contains(r#""total_cost":null,"mcpr":null"#), "{text}");
    assert!(text.contains(r#""remote":15.5"#) && text.contains(r#""total_cost":16.5"#), "{text}");
}

#[test]
fn provenance_holds_all_inputs_of_the_results() {
    let metadata =
        Metadata { native_time_s: Some(0.5), wall_time_s: Some(99.0), ..Metadata::default() };
    let trace = trace(&mixed(3, 1_000), 400, metadata);
    let config = SimConfig::new(&["cc+"], &["platinum", "random"], &[64]);
    let provenance = simulate(&config, &trace).unwrap().provenance;
    // 10 ms and 1 s at twice as many references a second as there are references.
    let (t1, t2) = ((trace.references() + 25) / 50, trace.references() * 2);
    assert_eq!(
        provenance.policies[0],
        format!("platinum:t1={t1},t2={t2},backoff=off,frozen=local")
    );
    assert_eq!(provenance.policies[1], "random:seed=0");
    assert_eq!(provenance.trace_checksum, trace.checksum());
    assert_eq!(provenance.prices[0].prices.to_string(), "r=102,R=184");
    assert_eq!(provenance.notes.len(), 1);
}

#[test]
fn results_from_samples_have_a_note() {
    let metadata = Metadata { sampling: "by perf".into(), ..Metadata::default() };
    let trace = trace(&mixed(3, 1_000), 400, metadata);
    let config = SimConfig::new(&["numa"], &["ace"], &[64]);
    let notes = simulate(&config, &trace).unwrap().provenance.notes;
    assert!(notes.len() == 1 && notes[0].contains("samples (by perf)"), "{notes:?}");
}

#[test]
fn removing_a_serial_start_is_suggested_unless_the_start_was_selected() {
    let suggested = |serial: u64, provenance: &[&str], processes: usize| {
        let thread = |i: u64| u16::from(i >= serial) * u16::try_from(i % 3).unwrap();
        let rows: Vec<_> =
            (0..20_000).map(|i| Access::new(thread(i), AccessKind::Read, 64 * i, 4)).collect();
        let metadata = Metadata {
            provenance: provenance.iter().map(|&step| step.into()).collect(),
            processes: vec![Process { pid: 1, names: Vec::new() }; processes],
            ..Metadata::default()
        };
        let trace = trace(&rows, 1_000, metadata);
        let config = SimConfig::new(&["numa"], &["ace"], &[64]);
        simulate(&config, &trace).unwrap().provenance.suggestions
    };
    // 5000 modulo 3 is not 0: the reference after the serial ones is by another thread.
    let [said] = &suggested(5_000, &[], 0)[..] else { panic!("one suggestion") };
    assert_eq!(
        said,
        "one thread makes the first 5,000 references (25 %) before any other makes one; `homenode \
         transform select t.hnt -o U.hnt --from first-thread` leaves them out"
    );
    assert_eq!(suggested(1_999, &[], 0).len(), 0, "less than a tenth");
    assert_eq!(suggested(2_000, &["import"], 0).len(), 1);
    assert_eq!(suggested(20_000, &[], 0).len(), 0, "there is no second thread");
    assert_eq!(suggested(5_000, &["transform select from=time:20% (homenode"], 0).len(), 0);
    assert_eq!(suggested(5_000, &[], 1).len(), 0, "a whole system");
}

#[test]
fn invalid_configurations_are_errors_before_the_trace_is_read() {
    let trace = trace(&mixed(4, 10), 400, Metadata::default());
    let base = SimConfig::new(&["numa"], &["ace"], &[64]);
    let error = |config: SimConfig| {
        let error = simulate(&config, &trace).unwrap_err();
        assert!(error.is_config(), "{error}");
        error.to_string()
    };
    let machines =
        |m: &[&str]| SimConfig { machines: m.iter().map(|&s| s.into()).collect(), ..base.clone() };
    let policies =
        |p: &[&str]| SimConfig { policies: p.iter().map(|&s| s.into()).collect(), ..base.clone() };
    assert!(error(machines(&["vax"])).contains("expected one of ace, butterfly"));
    assert!(error(machines(&["prices:r=15,R=20"])).contains("--force"));
    assert!(error(machines(&[])).contains("no machine"));
    assert!(error(policies(&["lru"])).contains("optimal, optimal-no-replication, ace"));
    assert!(error(policies(&["all-global"])).contains("without global memory"));
    assert!(error(SimConfig { block_sizes: vec![100], ..base.clone() }).contains("power of two"));
    assert!(error(SimConfig { processors: Some(0), ..base.clone() }).contains("1 to 1024"));
    assert!(error(SimConfig { threads: Some(0), ..base.clone() }).contains("from 1 to 1024"));
    let forced = SimConfig { force: true, ..machines(&["prices:r=15,R=20"]) };
    assert_eq!(simulate(&forced, &trace).unwrap().provenance.notes.len(), 1);
}

#[test]
fn progress_ends_at_the_total_and_can_stop_the_run() {
    let trace = trace(&mixed(5, 3_000), 100, Metadata::default());
    let mut last = (0, None);
    let config = matrix();
    run(&config, &trace, &mut |done, total| {
        assert!(done >= last.0);
        last = (done, total);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(Some(last.0), last.1);
    let stopped = run(&config, &trace, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SimError::Interrupted)));
}

#[test]
fn lists_have_a_row_for_everything() {
    let rows = homenode_sim::machine_rows(&[], &[], false).unwrap();
    let machines = homenode_machine::TABLE.len();
    assert_eq!(rows.len(), machines);
    let text = serde_json::to_string(&rows[3]).unwrap();
    assert!(
        text.contains(
            r#""block_size":64,"base":true,"model":"placement","r":102,"R":184,"g":null,"G":null"#
        ),
        "{text}"
    );
    let names: Vec<&str> = homenode_sim::policy_rows().iter().map(|r| r.name).collect();
    assert_eq!(names[..3], ["optimal", "optimal-no-replication", "ace"]);
}

/// A policy that is in no table: blocks stay at processor 1.
#[derive(Debug)]
struct SecondProcessor;

impl PolicyFactory for SecondProcessor {
    fn name(&self) -> &'static str {
        "second-processor"
    }

    fn build(&self, _: &PlacementSetup) -> Result<Box<dyn Policy>, PolicyError> {
        Ok(Box::new(Self))
    }
}

impl Policy for SecondProcessor {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        for run in block.runs {
            let is_local = run.processor() == 1;
            *if is_local { &mut tally.local_reads } else { &mut tally.remote_reads } += run.reads();
            *if is_local { &mut tally.local_writes } else { &mut tally.remote_writes } +=
                run.writes();
        }
    }
}

#[test]
fn a_policy_in_no_table_stands_beside_those_of_the_tables() {
    let accesses = [(0, 0), (0, 0), (1, 0), (1, 64)]
        .map(|(thread, addr)| Access::new(thread, AccessKind::Write, addr, 4));
    let trace = trace(&accesses, 100, Metadata::default());
    let machines = ["prices:r=15,R=59", "prices:r=2,R=59"];
    let config = SimConfig::new(&machines, &["first-touch"], &[64]);
    let own = [PolicySpec::from(Arc::new(SecondProcessor) as Arc<dyn PolicyFactory>)];
    let found = run_policies(&config, &own, &trace, &mut |_, _| ControlFlow::Continue(()));
    let found = found.unwrap();
    let rows = serde_json::to_value(&found.outcomes).unwrap();
    let costs: Vec<_> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["policy"].as_str().unwrap(), row["total_cost"].as_f64().unwrap()))
        .collect();
    // Under first touch one reference is remote, under the other policy two are.
    let expected = [18.0, 32.0, 5.0, 6.0];
    assert_eq!(
        costs,
        ["first-touch", "second-processor"].repeat(2).into_iter().zip(expected).collect::<Vec<_>>()
    );
    assert_eq!(found.provenance.policies, ["first-touch", "second-processor"]);
}
