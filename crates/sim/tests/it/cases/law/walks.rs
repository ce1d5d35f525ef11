//! A walk shows the events of the engine.

use serde_json::{Value, json};

use super::{Law, run, same};
use crate::cases::corpus::Case;
use crate::cases::engine::count;

pub const STEPS_ARE_COUNTS: Law = Law {
    name: "a walk adds up to what the bus counts in the order of the trace",
    engines: &["bus-trace", "walk"],
    silent: straddles,
    check: steps_are_counts,
};

/// In a walk each part of a reference that straddles blocks is a reference.
fn straddles(case: &Case) -> Option<&'static str> {
    let block = case.machine.block_size;
    let straddles = |a: &homenode_base::Access| a.addr % block + u64::from(a.size) > block;
    case.accesses.iter().any(straddles).then_some("a walk takes references apart at blocks")
}

fn steps_are_counts(case: &Case) -> Result<(), String> {
    let walks = run("walk", case, &json!({}))?;
    let counts = run("bus-trace", case, &json!({}))?;
    for (walk, outcome) in walks.iter().zip(&counts) {
        let named = |(name, value): (&String, &Value)| same(name, value, &outcome[name]);
        walk["totals"].as_object().into_iter().flatten().try_for_each(named)?;
        same("cycles of the bus", count(walk, "bus_cycles"), count(outcome, "bus_cycles"))?;
    }
    same("protocols", walks.len(), counts.len())
}
