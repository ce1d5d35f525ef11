//! One corpus of cases, `testdata/cases/*.toml`, run by every engine that can.
//!
//! A case is a machine, references, and numbers worked out by hand that one or more engines must
//! find. All other engines run it too: each of their outcomes must satisfy the engine's own laws
//! ([`engine`]), and engines must agree where theory requires it ([`law`]). An engine that cannot
//! run a case gives the reason. `testdata/cases/README.md` has the schema.
//!
//! `cargo test --release --test it cases:: -- --nocapture` prints which engines ran and
//! skipped which cases.

mod can_fail;
mod census;
mod corpus;
mod engine;
mod law;
mod matching;
mod runner;
mod script;

const CASES_MIN: usize = 188;

#[test]
fn every_case_on_every_engine_that_can() {
    let cases = corpus::read(&corpus::folder()).expect("a corpus");
    let summary = runner::run(&cases, engine::TABLE, law::TABLE);
    println!("{summary}");
    assert!(summary.faults.is_empty(), "{}", summary.faults.join("\n"));
    assert!(summary.cases >= CASES_MIN, "{} cases: expected {CASES_MIN}", summary.cases);
}
