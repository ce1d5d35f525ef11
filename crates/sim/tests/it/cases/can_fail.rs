//! The corpus and its runner detect errors: small corpora with one fault each.

use crate::cases::corpus::{Case, distinct, parse};
use crate::cases::engine::{Engine, TABLE};
use crate::cases::law::{Law, TABLE as LAWS};
use crate::cases::runner::{Summary, run};

const RIGHT: &str = r#"
[[case]]
name = "in-turn"
source = "by hand"
about = "A word that two processors write."
machine = { block_size = 32 }
trace = "0 W 1000; 1 W 1000"
[[case.expect]]
engine = "bus-trace"
with = { protocols = ["mesi"] }
gives = { hits = 0, misses = { cold = 2, rest = 0 } }
"#;

fn cases(text: &str) -> Vec<Case> {
    parse("inline.toml", text).expect("a corpus")
}

fn summary(text: &str) -> Summary {
    run(&cases(text), TABLE, LAWS)
}

fn fault(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    let faults = summary(&RIGHT.replace(from, to)).faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].clone()
}

fn refusal(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    parse("inline.toml", &RIGHT.replace(from, to)).map(|_| ()).expect_err("a faulty case")
}

#[test]
fn a_correct_case_has_no_faults() {
    let summary = summary(RIGHT);
    assert!(summary.faults.is_empty(), "{:?}", summary.faults);
    let text = summary.to_string();
    assert!(text.contains("bus-trace: ran 1, compared 1 expectations"), "{text}");
    assert!(text.contains("sharing: ran 1, compared 0 expectations"), "{text}");
}

#[test]
fn a_wrong_number_is_found_and_named() {
    let found = fault("cold = 2", "cold = 3");
    assert!(found.starts_with("inline.toml: case in-turn: bus-trace: "), "{found}");
    assert!(found.ends_with("misses.cold: expected 3, found 2"), "{found}");
    let found = fault("hits = 0", "references = 3");
    assert!(found.ends_with("references: expected 3, found 2"), "{found}");
}

#[test]
fn an_expected_field_must_exist() {
    let found = fault("hits = 0", "hit = 0");
    assert!(found.contains("hit: no such field; there are"), "{found}");
}

#[test]
fn the_options_of_an_expectation_must_exist() {
    let found = fault("protocols = [\"mesi\"]", "protocol = [\"mesi\"]");
    assert!(found.contains("unknown field `protocol`"), "{found}");
    let found = fault("protocols = [\"mesi\"]", "protocols = [\"mosi\"]");
    assert!(found.contains("unknown protocol \"mosi\""), "{found}");
}

#[test]
fn engines_must_exist() {
    let found = fault("engine = \"bus-trace\"", "engine = \"ring\"");
    assert!(found.contains("ring: no such engine; there are bus-trace, bus-clock"), "{found}");
    let found = fault("[[case.expect]]", "skip = { ring = \"not built\" }\n[[case.expect]]");
    assert!(found.contains("ring: no such engine"), "{found}");
}

#[test]
fn a_skipped_engine_has_no_expectation() {
    let found = fault("[[case.expect]]", "skip = { bus-trace = \"why\" }\n[[case.expect]]");
    assert!(found.contains("the case expects something of it, but it is skipped: why"), "{found}");
    let found = fault("block_size = 32", "block_size = 4096");
    assert!(found.contains("is skipped: a bus has blocks of 16 to 1024 bytes"), "{found}");
}

#[test]
fn a_skipped_engine_is_reported_with_its_reason() {
    let text =
        summary(&RIGHT.replace("[[case.expect]]", "skip = { tlb = \"why\" }\n[[case.expect]]"));
    let text = text.to_string();
    assert!(text.contains("tlb: ran 0"), "{text}");
    assert!(text.contains("skipped 1 (why): in-turn"), "{text}");
}

const NONE: &[Engine] = &[Engine {
    name: "bus-trace",
    cannot: |_| Some("it is broken".to_owned()),
    run: |_, _, _| Ok(vec![]),
}];

#[test]
fn every_case_runs_somewhere() {
    let faults = run(&cases(RIGHT), NONE, &[]).faults;
    let found = faults.iter().any(|fault| fault.ends_with("none of them runs the case"));
    assert!(found, "{faults:?}");
}

/// An engine whose outcome depends on how the trace is cut.
const TORN: &[Engine] = &[Engine {
    name: "bus-trace",
    cannot: |_| None,
    run: |_, trace, _| Ok(vec![trace.chunks().len().into()]),
}];

#[test]
fn outcomes_do_not_depend_on_chunks() {
    let long = RIGHT.replace("0 W 1000;", "repeat 9; 0 W 1000; end;");
    let faults = run(&cases(&long), TORN, &[]).faults;
    assert!(faults.iter().any(|fault| fault.contains("cut into chunks")), "{faults:?}");
}

const BROKEN: &[Law] = &[Law {
    name: "two is three",
    engines: &["tlb"],
    silent: |_| None,
    check: |_| crate::cases::law::same("numbers", 2, 3),
}];

#[test]
fn a_broken_law_is_found_and_named() {
    let faults = run(&cases(RIGHT), TABLE, BROKEN).faults;
    assert_eq!(faults, ["inline.toml: case in-turn: two is three: numbers: 2 and 3"]);
}

#[test]
fn names_are_unique() {
    let found = distinct(cases(&RIGHT.repeat(2))).map(|_| ()).expect_err("two of a name");
    assert_eq!(found, "inline.toml: case in-turn: the name occurs twice");
}

#[test]
fn invalid_cases_are_errors_with_file_and_case() {
    for (from, to, expected) in [
        ("source = \"by hand\"", "origin = \"by hand\"", "unknown field `origin`"),
        ("source = \"by hand\"", "", "missing field `source`"),
        ("\"by hand\"", "\"\"", "`source` is empty"),
        ("block_size = 32", "blocks = 32", "unknown field `blocks`"),
        ("0 W 1000;", "0 X 1000;", "expected R, W, A or I"),
        ("0 W 1000;", "repeat 2; 0 W 1000;", "`repeat` without `end`"),
        (
            "machine =",
            "metadata = { programme = \"x\" }\nmachine =",
            "a trace has no \"programme\"",
        ),
    ] {
        let found = refusal(from, to);
        assert!(found.starts_with("inline.toml: case in-turn: "), "{found}");
        assert!(found.contains(expected), "{found}");
    }
    let nothing = RIGHT.split("[[case.expect]]").next().unwrap_or_default();
    let found = parse("inline.toml", nothing).map(|_| ()).expect_err("no expectation");
    assert!(found.contains("at least one number"), "{found}");
    let found = parse("inline.toml", "cases = []").map(|_| ()).expect_err("another key");
    assert_eq!(found, "inline.toml: unknown key \"cases\": expected [[case]]");
}
