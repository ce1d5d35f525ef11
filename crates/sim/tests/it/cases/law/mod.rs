//! Laws that several engines must agree on, checked for every case that they all can run.

mod infinite_caches;
mod optimum;
mod page_coherence;
mod page_manager;
mod synchronised;
mod updates;
mod walks;

use serde_json::Value;

use crate::cases::corpus::Case;
use crate::cases::engine::{Engine, TABLE as ENGINES};

pub struct Law {
    pub name: &'static str,
    pub engines: &'static [&'static str],
    /// Why it does not apply to a case that all of them can run; `None` if it applies.
    pub silent: fn(&Case) -> Option<&'static str>,
    pub check: fn(&Case) -> Result<(), String>,
}

pub const TABLE: &[Law] = &[
    infinite_caches::MISSES_ARE_MOVES,
    infinite_caches::ONE_PROCESSOR,
    updates::LIKE_TLBS,
    updates::PSCR_IS_DRAGON,
    walks::STEPS_ARE_COUNTS,
    synchronised::IN_THE_ORDER_OF_THE_TRACE,
    synchronised::CLOSED_FORM,
    optimum::NO_POLICY_IS_CHEAPER,
    optimum::EXHAUSTIVE_SEARCH,
    page_manager::IS_ACE,
    page_coherence::READERS_REPLICATE_ONCE,
    page_coherence::DEGENERATE_COUNTERS,
];

pub fn run(engine: &str, case: &Case, with: &Value) -> Result<Vec<Value>, String> {
    let engine: &Engine =
        ENGINES.iter().find(|e| e.name == engine).ok_or("there is no such engine")?;
    (engine.run)(case, &case.trace, with)
}

pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, one: T, other: T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:?} and {other:?}")) }
}

fn never(_: &Case) -> Option<&'static str> {
    None
}

fn has_events(case: &Case) -> Option<&'static str> {
    case.has_events.then_some("events of the trace decide who goes on when")
}
