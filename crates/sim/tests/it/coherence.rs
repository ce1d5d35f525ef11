//! Page-coherence machines through [`homenode_sim::run`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{PlacementSimulation, PrivateReferences, SimConfig, run};
use homenode_trace::{Metadata, TraceReader};

use crate::made;

fn trace(accesses: &[Access]) -> TraceReader {
    made::trace(accesses, 300, Metadata::default())
}

fn simulate(config: &SimConfig, trace: &TraceReader) -> PlacementSimulation {
    run(config, trace, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn error(config: &SimConfig, trace: &TraceReader) -> String {
    let result = run(config, trace, &mut |_, _| ControlFlow::Continue(()));
    result.unwrap_err().to_string()
}

fn access(thread: u16, kind: AccessKind, flags: u8) -> Access {
    Access { flags: Flags(flags), ..Access::new(thread, kind, 0x1000, 4) }
}

/// 0 writes, 1 and 2 copy the page, 0 updates both, 3 writes at the home.
fn five_references() -> TraceReader {
    use AccessKind::{Read, Write};
    trace(&[(0, Write), (1, Read), (2, Read), (0, Write), (3, Write)].map(|(t, k)| access(t, k, 0)))
}

#[test]
fn the_documented_fields_of_a_page_coherence_machine() {
    let config = SimConfig::new(&["markatos"], &["upt"], &[1024]);
    let text = serde_json::to_string(&simulate(&config, &five_references()).outcomes).unwrap();
    // Two replications of 90 + 4 x 256 = 1114 cycles; four updates and a remote write of 10.
    let expected = [
        r#"[{"trace":"t.hnt","machine":"markatos","policy":"upt","block_size":1024,"#,
        r#""processors":4,"references":5,"accesses":5,"counts":{"local_reads":0,"local_writes":2,"#,
        r#""remote_reads":0,"remote_writes":1,"global_reads":0,"global_writes":0,"#,
        r#""remote_moves":2,"global_moves":0,"replications":2,"update_packets":4,"#,
        r#""multicast_writes":2,"invalidations":0,"faults":2,"freezes":0,"#,
        r#""replicating_reads":2,"forwarded_writes":1},"cost":{"local":2,"remote":0,"#,
        r#""replication":445.6,"multicast":10,"os":200},"total_cost":657.6,"mcpr":131.52,"#,
        r#""latency":{"local":2.0,"remote":0.0,"replication":445.6,"multicast":10.0,"os":200.0,"#,
        r#""total":657.6},"packets":{"replication":512,"remote":1,"multicast":4},"#,
        r#""traffic":{"replication":102.4,"remote":0.2,"multicast":0.8},"mls":2.0}]"#,
    ];
    assert_eq!(text, expected.concat());
    let inv = SimConfig::new(&["markatos"], &["inv"], &[1024]);
    let text = serde_json::to_string(&simulate(&inv, &five_references()).outcomes).unwrap();
    assert!(text.contains(r#""remote":2,"#) && text.ends_with(r#""mls":null}]"#), "{text}");
}

/// The paper counts shared references only, Bolosky counts private ones as local.
#[test]
fn private_references_are_excluded_by_default_on_page_coherence_machines() {
    use AccessKind::{Read, Write};
    let trace = trace(&[access(0, Write, 0), access(1, Read, 1), access(1, Read, 0)]);
    let references = |private| {
        let config = SimConfig {
            private,
            ..SimConfig::new(&["markatos", "prices:r=15,R=59"], &["inv", "first-touch"], &[64])
        };
        let simulation = simulate(&config, &trace);
        let row =
            |o: &homenode_sim::PlacementOutcome| (o.references, o.accesses, o.counts.local_reads);
        let rows: Vec<_> = simulation.outcomes.iter().map(row).collect();
        (rows, simulation.provenance.private)
    };
    let (rows, private) = references(None);
    assert_eq!(rows, [(2, 2, 0), (2, 2, 0), (3, 3, 1), (3, 3, 1)]);
    assert_eq!(private, [PrivateReferences::Exclude, PrivateReferences::Local]);
    let (rows, private) = references(Some(PrivateReferences::Local));
    assert_eq!(rows, [(3, 3, 1); 4]);
    assert_eq!(private, [PrivateReferences::Local; 2]);
    assert_eq!(references(Some(PrivateReferences::Exclude)).0, [(2, 2, 0); 4]);
    // Treated like all others, the private read of 1 replicates or is remote.
    assert_eq!(references(Some(PrivateReferences::Shared)).0[0], (3, 3, 1));
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_with_any_other_policy() {
    let mut rng = Rng::new(6);
    let mut list = Vec::new();
    for _ in 0..4_000 {
        let thread = u16::try_from(rng.below(80)).unwrap();
        let kind = if rng.below(4) == 0 { AccessKind::Write } else { AccessKind::Read };
        let addr = 0x4000 + rng.below(30) * 200;
        list.extend((0..1 + rng.below(5)).map(|_| Access::new(thread, kind, addr, 8)));
    }
    let trace = trace(&list);
    let policies = ["upt", "inv", "inv.freez:f=50,d=900", "upt.del", "inv.del", "all-remote"];
    let all = SimConfig::new(&["markatos"], &policies, &[64, 1024, 16384, 65536]);
    let outcomes =
        |config: &SimConfig| serde_json::to_string(&simulate(config, &trace).outcomes).unwrap();
    let reference = outcomes(&SimConfig { threads: Some(1), ..all.clone() });
    for (threads, memory_budget_bytes) in [(2, None), (8, Some(40_000)), (3, Some(1))] {
        let config = SimConfig { threads: Some(threads), memory_budget_bytes, ..all.clone() };
        assert_eq!(outcomes(&config), reference);
    }
    // A policy that needs all Times and other splits does not affect the others.
    let more = [&policies[..], &["inv.freez.del:d=70", "first-touch"]].concat();
    let more = simulate(&SimConfig { policies: vec_of(&more), ..all.clone() }, &trace);
    let kept: Vec<_> = more.outcomes.iter().filter(|o| policies.contains(&&*o.policy)).collect();
    assert_eq!(serde_json::to_string(&kept).unwrap(), reference);
}

fn vec_of(names: &[&str]) -> Vec<String> {
    names.iter().map(|&s| s.to_owned()).collect()
}

#[test]
fn invalid_combinations_are_errors_with_a_remedy() {
    let trace = five_references();
    let try_one = |machine, policy| error(&SimConfig::new(&[machine], &[policy], &[64]), &trace);
    assert!(try_one("markatos", "optimal").contains("r and R cannot be derived"));
    assert!(try_one("markatos", "ace").contains("choose upt, inv"));
    assert!(try_one("numa", "upt").contains("choose markatos"));
    assert!(try_one("markatos", "lru").contains("inv.freez.del, all-local, all-remote"));
    let two = SimConfig::new(&["markatos", "numa"], &["inv", "upt"], &[64]);
    assert!(error(&two, &trace).contains("policy upt cannot run on a machine with prices r and R"));
    let many =
        SimConfig { processors: Some(1025), ..SimConfig::new(&["markatos"], &["upt"], &[64]) };
    assert!(error(&many, &trace).contains("1 to 1024"));
}
