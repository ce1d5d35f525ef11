//! One corpus of cases, `testdata/cases/*.toml`, run by every engine that can.
//!
//! A case is a machine, references, and numbers worked out by hand that one engine or another must
//! find. Engines that it expects nothing of run it too: each of their outcomes must keep the
//! engine's own laws ([`engine`]), and engines must agree where theory says so ([`law`]). An engine
//! that cannot run a case says why. `testdata/cases/README.md` has the schema.
//!
//! `cargo test -p homenode-sim --test cases -- --nocapture` prints who ran and skipped what.

mod can_fail;
mod census;
mod corpus;
mod engine;
mod law;
mod matching;
mod runner;
mod script;

/// Fewest cases of the corpus.
const CASES_MIN: usize = 188;

#[test]
fn every_case_on_every_engine_that_can() {
    let cases = corpus::read(&corpus::folder()).expect("a corpus");
    let summary = runner::run(&cases, engine::TABLE, law::TABLE);
    println!("{summary}");
    assert!(summary.faults.is_empty(), "{}", summary.faults.join("\n"));
    assert!(summary.cases >= CASES_MIN, "{} cases: expected {CASES_MIN}", summary.cases);
}
