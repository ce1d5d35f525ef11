//! One file per engine: how it runs a case, which cases it cannot run and why, and the laws of its
//! outcomes.

mod advise;
mod bus;
mod bus_clock;
mod bus_trace;
mod optimal;
mod page_coherence;
mod picture;
mod placement;
mod pmap;
mod sharing;
mod tlb;
mod walk;
mod worst;

pub use bus::room;
pub use placement::{MACHINES, policies};

use std::ops::ControlFlow;

use homenode_sim::Progress;
use homenode_trace::TraceReader;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cases::corpus::Case;

pub struct Engine {
    /// Its name in the corpus.
    pub name: &'static str,
    /// Why it cannot run a case; `None` if it can.
    pub cannot: fn(&Case) -> Option<String>,
    /// Runs a trace of the case; `with` has the differences between its configuration and the
    /// case's machine. Returns the outcomes. An outcome that violates a law of the engine is an
    /// error.
    pub run: fn(&Case, &TraceReader, &Value) -> Result<Vec<Value>, String>,
}

pub const TABLE: &[Engine] = &[
    bus_trace::ENGINE,
    bus_clock::ENGINE,
    walk::ENGINE,
    placement::ENGINE,
    page_coherence::ENGINE,
    optimal::ENGINE,
    sharing::ENGINE,
    pmap::ENGINE,
    tlb::ENGINE,
    worst::ENGINE,
    picture::ENGINE,
    advise::ENGINE,
];

pub fn go_on() -> impl FnMut(u64, Option<u64>) -> ControlFlow<()> {
    |_, _| ControlFlow::Continue(())
}

pub fn quietly<T, E: ToString>(
    run: impl FnOnce(Progress<'_>) -> Result<T, E>,
) -> Result<T, String> {
    run(&mut go_on()).map_err(|error| error.to_string())
}

/// A configuration: the engine's own, with the expectation's fields replaced. Unknown fields are
/// errors.
pub fn configured<T: DeserializeOwned>(mut base: Value, with: &Value) -> Result<T, String> {
    merge(&mut base, with);
    serde_json::from_value(base).map_err(|error| format!("with: {error}"))
}

fn merge(base: &mut Value, with: &Value) {
    for (field, value) in with.as_object().into_iter().flatten() {
        match base.get_mut(field) {
            Some(inner) if inner.is_object() => merge(inner, value),
            _ => base[field] = value.clone(),
        }
    }
}

pub fn laws(outcome: &Value, laws: &[(&str, bool)]) -> Result<(), String> {
    match laws.iter().find(|(_, holds)| !holds) {
        None => Ok(()),
        Some((law, _)) => Err(format!("not so: {law}: {outcome}")),
    }
}

/// A count of an outcome by its path; 0 where it has none.
pub fn count(outcome: &Value, path: &str) -> u64 {
    path.split('.').fold(outcome, |value, name| &value[name]).as_u64().unwrap_or(0)
}

pub fn sum(outcome: &Value, table: &str) -> u64 {
    outcome[table].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum()
}
