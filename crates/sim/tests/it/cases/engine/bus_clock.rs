//! Caches on a bus, in cycles.

use homenode_trace::TraceReader;
use serde_json::Value;

use super::{Engine, bus, count, laws};
use crate::cases::corpus::Case;

pub const ENGINE: Engine =
    Engine { name: "bus-clock", cannot: |case| bus::cannot(case, "clock"), run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let (config, outcomes) = bus::simulate(case, trace, with, "clock")?;
    let one = |outcome| {
        let outcome = serde_json::to_value(outcome).map_err(|e| e.to_string())?;
        bus::conserves(case, &config, &outcome)?;
        adds_up(&outcome, with)?;
        Ok(outcome)
    };
    outcomes.iter().map(one).collect()
}

/// Every cycle of every processor is accounted for, and the bus is never busy for more than the
/// time.
fn adds_up(outcome: &Value, with: &Value) -> Result<(), String> {
    let number = |name| count(outcome, name);
    let all = number("cycles") * number("processors");
    let parts = number("busy_cycles") + number("delay_cycles") + number("idle_cycles");
    let operation = with["machine"]["processor"]["operation_cycles"].as_u64().unwrap_or(2);
    let utilisation = outcome["bus_utilisation"].as_f64().unwrap_or(0.0);
    laws(
        outcome,
        &[
            ("busy, delayed and idle cycles are all cycles", parts == all),
            (
                "an operation takes what it takes",
                number("busy_cycles") == operation * number("block_references"),
            ),
            ("the bus is held for at most all of the time", utilisation <= 1.0),
        ],
    )
}
