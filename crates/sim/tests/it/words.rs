//! References counted in words: identical to simulating the trace that the transform writes, which
//! `crates/transform/tests/it/words.rs` compares with the definition.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Rng};
use homenode_sim::{
    AdviceConfig, Inclusion, McprCorrection, OptimalConfig, PlacementFormat, PlacementOutput,
    PmapConfig, SharingConfig, SimConfig, SimError, TlbConfig, advise, optimal, pmap, run, sharing,
    tlb_misses, worst_blocks,
};
use homenode_trace::{Columns, Event, EventKind, Metadata, TraceReader};
use homenode_transform::transform_file;
use serde::Serialize;
use serde_json::{Value, to_value};

use crate::made;

const POLICIES: [&str; 7] =
    ["optimal", "ace", "platinum", "first-touch", "best-static", "random", "delay:n=5"];

/// References of five threads to some pages: of all kinds, sizes and alignments, with flags,
/// events, and some at the highest addresses.
fn random_trace(seed: u64, chunk_rows: u32, highest: u64) -> TraceReader {
    let mut rng = Rng::new(seed);
    // Platinum's periods are in run time of the program.
    let metadata = Metadata { wall_time_s: Some(0.25), ..Metadata::default() };
    made::written(Columns::ALL, chunk_rows, metadata, |writer| {
        for i in 0..3000 {
            let access = made::random_reference(&mut rng);
            let size = [1, 4, 8, 8, 12, 64][usize::try_from(rng.below(6)).unwrap()];
            let addr = match rng.below(40) {
                0 => highest - rng.below(80),
                1..10 => 0x1_0000 + rng.below(9000),
                _ => 0x1_0000 + 8 * rng.below(1024),
            };
            let pc = 0x40_0000 + 4 * rng.below(30);
            writer.push(&Access { addr, size, pc, ..access }).unwrap();
            if i % 100 == 50 {
                let what = EventKind::Phase { id: i };
                writer.event(Event { thread: access.thread, what }).unwrap();
            }
        }
    })
}

fn in_words(trace: &TraceReader, bytes: u64) -> TraceReader {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("u.hnt");
    let words = BTreeMap::from([("word-bytes".to_owned(), bytes.to_string())]);
    transform_file(trace, "words", &words, &out, &mut |_, _| ControlFlow::Continue(())).unwrap();
    TraceReader::from_bytes(std::fs::read(out).unwrap(), "t.hnt").unwrap()
}

fn plain<T: Serialize>(result: &T) -> Value {
    let mut value = to_value(result).unwrap();
    without(&mut value);
    value
}

fn without(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("word_bytes");
            object.remove("trace_checksum");
            object.values_mut().for_each(without);
        }
        Value::Array(items) => items.iter_mut().for_each(without),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Checks that progress only grows, and ends if there is a result.
fn watched<T>(
    work: impl FnOnce(&mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>) -> Result<T, SimError>,
) -> Result<T, SimError> {
    let (mut last, mut total) = (0, None);
    let result = work(&mut |done, all| {
        assert!(done >= last && total.is_none_or(|n| Some(n) == all), "progress only grows");
        (last, total) = (done, all);
        ControlFlow::Continue(())
    });
    assert!(result.is_err() || Some(last) == total);
    result
}

fn simulated(config: &SimConfig, trace: &TraceReader) -> Value {
    plain(&watched(|progress| run(config, trace, progress)).unwrap())
}

/// Compares an engine's result for the words of a trace, on one thread and several, with that for
/// the trace of words, and checks that it differs from the result without words.
fn compare(engine: impl Fn(Option<u64>, usize, &TraceReader) -> Value) {
    compare_to(u64::MAX, engine);
}

fn compare_to(highest: u64, engine: impl Fn(Option<u64>, usize, &TraceReader) -> Value) {
    for (seed, bytes, chunk_rows) in [(1, 4, 500), (2, 1, 5000), (3, 16, 100), (4, 64, 700)] {
        let trace = random_trace(seed, chunk_rows, highest);
        let expected = engine(None, 1, &in_words(&trace, bytes));
        for threads in [1, 2] {
            assert_eq!(engine(Some(bytes), threads, &trace), expected, "{bytes} {threads}");
        }
        assert_ne!(engine(None, 1, &trace), expected, "{bytes}");
    }
}

fn config(machine: &str, word_bytes: Option<u64>, threads: usize) -> SimConfig {
    let config = SimConfig::new(&[machine], &POLICIES, &[16, 64, 4096]);
    SimConfig { word_bytes, threads: Some(threads), ..config }
}

#[test]
fn the_normative_example_has_seven_accesses() {
    let (read, write) = (AccessKind::Read, AccessKind::Write);
    let accesses =
        [(0, write, 0x1000, 8), (1, read, 0x1000, 8), (1, read, 0x1004, 4), (0, read, 0x1006, 4)]
            .map(|(thread, kind, addr, size)| Access::new(thread, kind, addr, size));
    let trace = made::trace(&accesses, 1 << 16, Metadata::default());
    for (word_bytes, count) in [(None, 4), (Some(4), 7), (Some(8), 5), (Some(64), 4)] {
        let config =
            SimConfig { word_bytes, ..SimConfig::new(&["numa"], &["optimal", "ace"], &[64]) };
        let found = watched(|progress| run(&config, &trace, progress)).unwrap();
        for outcome in &found.outcomes {
            assert_eq!((outcome.references, outcome.accesses), (count, count));
        }
        assert_eq!(found.provenance.word_bytes, word_bytes);
        assert_eq!(found.provenance.trace_checksum, trace.checksum());
    }
}

#[test]
fn simulations_in_words_equal_those_of_the_trace_of_words() {
    compare(|word_bytes, threads, trace| simulated(&config("ace", word_bytes, threads), trace));
    compare(|word_bytes, threads, trace| {
        let policies = vec!["optimal".to_owned(), "delay".to_owned()];
        let filter = Some("1K:2:32".to_owned());
        let block_sizes = vec![64, 4096];
        let config = config("spr-2s", word_bytes, threads);
        simulated(&SimConfig { policies, filter, block_sizes, ..config }, trace)
    });
    // New pages need room above or below the trace's own.
    compare_to(0xff_ffff, |word_bytes, threads, trace| {
        let policies = vec!["upt".to_owned(), "inv".to_owned(), "inv.del".to_owned()];
        let config = config("markatos", word_bytes, threads);
        let realign = Some(1000);
        let config = SimConfig { policies, realign, private: None, ..config };
        simulated(&config, trace)
    });
    // With little memory there are several passes.
    compare(|word_bytes, threads, trace| {
        let memory_budget_bytes = Some(20_000);
        simulated(&SimConfig { memory_budget_bytes, ..config("numa", word_bytes, threads) }, trace)
    });
}

#[test]
fn optimum_and_placement_in_words_equal_those_of_the_trace_of_words() {
    compare(|word_bytes, threads, trace| {
        let policies = vec!["optimal".to_owned()];
        let simulation = SimConfig { policies, ..config("numa", word_bytes, threads) };
        let config =
            OptimalConfig { simulation, curve: Some("R=40..400".to_owned()), certify: true };
        let mut text = Vec::new();
        let output = PlacementOutput { sink: &mut text, format: PlacementFormat::Csv };
        let found = watched(|progress| optimal(&config, trace, Some(output), progress)).unwrap();
        Value::Array(vec![plain(&found), String::from_utf8(text).unwrap().into()])
    });
}

#[test]
fn sharing_and_worst_blocks_in_words_equal_those_of_the_trace_of_words() {
    for (machine, detail) in [("cc", Some(64)), ("numa", Some(4096)), ("spr-2s", None)] {
        compare(|word_bytes, threads, trace| {
            let simulation = config(machine, word_bytes, threads);
            let config = SharingConfig { detail, count: 5, ..SharingConfig::new(simulation) };
            plain(&watched(|progress| sharing(&config, trace, progress)).unwrap())
        });
    }
    compare(|word_bytes, threads, trace| {
        let (policies, block_sizes) = (vec!["ace".to_owned()], vec![64]);
        let config = SimConfig { policies, block_sizes, ..config("numa", word_bytes, threads) };
        plain(&worst_blocks(&config, trace, 5, &mut |_, _| ControlFlow::Continue(())).unwrap())
    });
}

#[test]
fn advice_in_words_and_its_trace_equal_those_of_the_trace_of_words() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("advised.hnt");
    compare_to(0xff_ffff, |word_bytes, threads, trace| {
        let (policies, block_sizes) = (vec!["migrate".to_owned()], vec![64]);
        let simulation = SimConfig { policies, block_sizes, ..config("cc", word_bytes, threads) };
        let config = AdviceConfig::new(simulation);
        let found = watched(|progress| advise(&config, trace, Some(&out), progress)).unwrap();
        let made = TraceReader::open(&out).unwrap();
        let step = made.metadata().provenance.last().unwrap();
        assert_eq!(step.contains(" --word-bytes "), word_bytes.is_some(), "{step}");
        let found = plain(&found);
        Value::Array(vec![
            found["points"].clone(),
            found["references"].clone(),
            made.checksum().into(),
        ])
    });
}

#[test]
fn page_manager_and_tlbs_in_words_equal_those_of_the_trace_of_words() {
    compare(|word_bytes, threads, trace| {
        plain(
            &pmap(&manager(word_bytes, threads), trace, &mut |_, _| ControlFlow::Continue(()))
                .unwrap(),
        )
    });
    compare(|word_bytes, threads, trace| {
        let found = watched(|progress| tlb_misses(&tlbs(word_bytes, threads), trace, progress));
        plain(&found.unwrap())
    });
}

fn manager(word_bytes: Option<u64>, threads: usize) -> PmapConfig {
    let threads = Some(threads);
    PmapConfig { page_size: 512, count: 5, word_bytes, threads, ..PmapConfig::default() }
}

fn tlbs(word_bytes: Option<u64>, threads: usize) -> TlbConfig {
    let (machine, policy) = ("numa".to_owned(), "optimal".to_owned());
    TlbConfig {
        tlbs: vec!["r4000".to_owned()],
        page_sizes: vec![512, 4096],
        processors: None,
        private: Inclusion::Include,
        sync: Inclusion::Exclude,
        word_bytes,
        threads: Some(threads),
        correct: Some(McprCorrection { machine, policy, force: false }),
    }
}

#[test]
fn results_have_their_word_size() {
    let trace = random_trace(1, 500, u64::MAX);
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let simulation =
        SimConfig { policies: vec!["optimal".to_owned()], ..config("numa", Some(4), 1) };
    let asked = OptimalConfig { simulation, curve: None, certify: false };
    let found = optimal(&asked, &trace, None, go_on).unwrap();
    assert_eq!(found.provenance.word_bytes, Some(4));
    let found = tlb_misses(&tlbs(Some(8), 1), &trace, go_on).unwrap();
    assert_eq!(found.provenance.word_bytes, Some(8));
    assert_eq!(found.provenance.simulation.unwrap().word_bytes, Some(8));
    assert_eq!(pmap(&manager(Some(2), 1), &trace, go_on).unwrap().word_bytes, Some(2));
    let unasked = to_value(run(&config("numa", None, 1), &trace, go_on).unwrap()).unwrap();
    assert!(unasked["provenance"].get("word_bytes").is_none(), "as it was without the option");
}

#[test]
fn invalid_word_sizes_are_errors_before_the_trace_is_read() {
    let trace = random_trace(1, 500, u64::MAX);
    let never = &mut |_, _| -> ControlFlow<()> { panic!("nothing is read") };
    for bytes in [0, 3, 128, u64::MAX] {
        let error = run(&config("numa", Some(bytes), 1), &trace, never).unwrap_err();
        assert!(error.is_config());
        let expected = format!(
            "--word-bytes: words of {bytes} bytes: give a power of two from 1 to 64, such as 4"
        );
        assert_eq!(error.to_string(), expected);
    }
    let error = run(&config("vax", Some(4), 1), &trace, never).unwrap_err();
    assert!(error.to_string().contains("vax"), "{error}");
    let advice = AdviceConfig::new(config("spr-2s-lines", Some(4), 1));
    let error = advise(&advice, &trace, None, never).unwrap_err();
    assert!(error.is_config());
    assert!(error.to_string().starts_with("--word-bytes: a machine with a clock"), "{error}");
}

#[test]
fn the_count_can_be_interrupted() {
    let trace = random_trace(1, 100, u64::MAX);
    let error = run(&config("numa", Some(4), 1), &trace, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(error.unwrap_err(), SimError::Interrupted));
}
