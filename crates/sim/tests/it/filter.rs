//! Caches in front of memory: identical to simulating the trace that the transform writes, which
//! `crates/transform/tests/it/filter.rs` compares with the definition.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use homenode_base::{Access, Rng};
use homenode_sim::{
    AdviceConfig, CacheFilterRecord, OptimalConfig, PlacementSimulation, SharingConfig, SimConfig,
    SimError, advise, optimal, run, sharing, worst_blocks,
};
use homenode_trace::{Columns, Metadata, TraceReader};
use homenode_transform::transform_file;
use serde::Serialize;
use serde_json::{Value, to_value};

use crate::made;

const POLICIES: [&str; 5] = ["optimal", "ace", "platinum", "first-touch", "best-static"];

fn random_trace(seed: u64) -> TraceReader {
    let mut rng = Rng::new(seed);
    let columns = Columns { gap: true, ..made::FLAGS };
    // Platinum's periods are in run time of the program.
    let metadata = Metadata { wall_time_s: Some(0.25), ..Metadata::default() };
    made::written(columns, 500, metadata, |writer| {
        for _ in 0..4000 {
            let access = made::random_reference(&mut rng);
            let addr = 0x1_0000 + 8 * rng.below(4096);
            writer.push(&Access { addr, size: 8, ..access }).unwrap();
        }
    })
}

fn misses(trace: &TraceReader, cache: &str, processors: u16) -> TraceReader {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("u.hnt");
    let processors = processors.to_string();
    let words = [("cache", cache), ("processors", &processors)];
    let words: BTreeMap<String, String> =
        words.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    transform_file(trace, "filter", &words, &out, &mut |_, _| ControlFlow::Continue(())).unwrap();
    TraceReader::from_bytes(std::fs::read(out).unwrap(), "t.hnt").unwrap()
}

fn config(machine: &str, filter: Option<&str>) -> SimConfig {
    let filter = filter.map(str::to_owned);
    SimConfig { filter, ..SimConfig::new(&[machine], &POLICIES, &[64, 4096]) }
}

fn simulate(config: &SimConfig, trace: &TraceReader) -> Result<PlacementSimulation, SimError> {
    let (mut last, mut total) = (0, None);
    let simulated = run(config, trace, &mut |done, all| {
        assert!(done >= last && total.is_none_or(|n| Some(n) == all), "progress only grows");
        (last, total) = (done, all);
        ControlFlow::Continue(())
    });
    assert!(simulated.is_err() || Some(last) == total);
    simulated
}

fn outcomes(config: &SimConfig, trace: &TraceReader) -> Value {
    without_filter(simulate(config, trace).unwrap().outcomes)
}

fn without_filter<T: Serialize>(rows: Vec<T>) -> Value {
    let mut rows = to_value(rows).unwrap();
    for row in rows.as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("cache_filter");
    }
    rows
}

fn problem<T: Serialize>(result: Result<T, SimError>) -> String {
    let Err(error) = result else { panic!("this cannot be simulated") };
    assert!(error.is_config());
    error.to_string()
}

#[test]
fn filtering_equals_simulating_the_filtered_trace() {
    for (seed, machine, processors, cache) in
        [(1, "numa", 5, "4K:4:64"), (2, "spr-2s", 2, "1K:2:32"), (3, "markatos", 5, "8K:1:64")]
    {
        let trace = random_trace(seed);
        let mut one = config(machine, Some(cache));
        let mut other = config(machine, Some("none"));
        if machine == "markatos" {
            one.policies = vec!["upt".to_owned(), "inv".to_owned()];
            other.policies.clone_from(&one.policies);
        }
        let written = misses(&trace, cache, processors);
        assert!(written.references() < trace.references());
        let expected = outcomes(&other, &written);
        assert_eq!(outcomes(&one, &trace), expected, "{machine}");
        assert_ne!(outcomes(&other, &trace), expected, "{machine}");
        let many = SimConfig { threads: Some(7), memory_budget_bytes: Some(20_000), ..one };
        assert_eq!(outcomes(&many, &trace), expected, "{machine}");
    }
}

#[test]
fn machines_with_a_last_level_cache_filter_and_others_do_not() {
    let trace = random_trace(4);
    let own = outcomes(&config("spr-2s", None), &trace);
    assert_eq!(own, outcomes(&config("spr-2s", Some("64M:16:64")), &trace));
    let written = misses(&trace, "64M:16:64", 2);
    assert_eq!(own, outcomes(&config("spr-2s", None), &written), "misses are not filtered again");
    let every = |machine| outcomes(&config(machine, Some("none")), &trace);
    assert_eq!(outcomes(&config("numa", None), &trace), every("numa"));
    assert_ne!(own, every("spr-2s"));
    let said = simulate(&config("spr-2s", None), &trace).unwrap().provenance;
    let record = CacheFilterRecord {
        cache: "64M:16:64".to_owned(),
        references: trace.references(),
        let_through: written.references(),
        replacements: 0,
    };
    assert!(said.suggestions.iter().any(|note| note.starts_with("all data fit")));
    let small = simulate(&config("spr-2s", Some("1K:2:64")), &trace).unwrap().provenance;
    assert!(small.suggestions.is_empty() && small.cache_filter.unwrap().replacements > 0);
    assert_eq!((said.cache_filter, said.trace_checksum), (Some(record), trace.checksum()));
    assert_eq!(simulate(&config("numa", None), &trace).unwrap().provenance.cache_filter, None);
}

#[test]
fn all_placement_studies_filter_alike() {
    let trace = random_trace(5);
    let written = misses(&trace, "4K:4:64", 2);
    let of = |filter: &str, policy: &str| SimConfig {
        policies: vec![policy.to_owned()],
        block_sizes: vec![4096],
        ..config("spr-2s", Some(filter))
    };
    let go_on = |_, _| ControlFlow::Continue(());
    let best = |filter, trace| {
        let simulation = of(filter, "optimal");
        let config = OptimalConfig { simulation, curve: Some("R=5..90".into()), certify: true };
        without_filter(optimal(&config, trace, None, &mut { go_on }).unwrap().outcomes)
    };
    assert_eq!(best("4K:4:64", &trace), best("none", &written));
    let worst =
        |filter, trace| worst_blocks(&of(filter, "first-touch"), trace, 5, &mut { go_on }).unwrap();
    assert_eq!(worst("4K:4:64", &trace), worst("none", &written));
    let before = |filter, trace| {
        let config = AdviceConfig::new(of(filter, "first-touch"));
        let found = advise(&config, trace, None, &mut { go_on }).unwrap();
        to_value(found.points[0].before.total_cost).unwrap()
    };
    assert_eq!(before("4K:4:64", &trace), before("none", &written));
    let shared = |filter: Option<&str>, trace| {
        let simulation = SimConfig { filter: filter.map(str::to_owned), ..of("", "optimal") };
        let config = SharingConfig { count: 3, ..SharingConfig::new(simulation) };
        to_value(sharing(&config, trace, &mut { go_on }).unwrap().costs).unwrap()
    };
    assert_eq!(shared(Some("4K:4:64"), &trace), shared(Some("none"), &written));
    assert_eq!(shared(None, &trace), shared(Some("none"), &trace), "words need every reference");
}

#[test]
fn invalid_filters_are_errors() {
    let trace = random_trace(6);
    let fails = |config: SimConfig| problem(simulate(&config, &trace));
    let said = fails(config("numa", Some("3M:16:64")));
    assert!(said.starts_with("--filter: 3M:16:64:") && said.contains("2M and 4M"), "{said}");
    assert!(fails(config("numa", Some("big"))).contains("as in 2M:16:64"));
    let small = SimConfig { block_sizes: vec![4096, 32], ..config("spr-2s", None) };
    let said = fails(small.clone());
    assert!(said.contains("blocks of 32 bytes") && said.contains("--filter none"), "{said}");
    simulate(&SimConfig { filter: Some("none".to_owned()), ..small }, &trace).unwrap();
    let two = SimConfig {
        machines: vec!["spr-2s".to_owned(), "genoa-2s-nps1".to_owned()],
        ..config("", None)
    };
    let said = fails(two.clone());
    assert!(said.contains("spr-2s has 64M:16:64, genoa-2s-nps1 has 256M:16:64"), "{said}");
    assert!(said.contains("--filter"), "{said}");
    simulate(&SimConfig { filter: Some("1M:16:64".to_owned()), ..two }, &trace).unwrap();
}
