//! Caches on a bus, in the order of the trace.

use homenode_trace::TraceReader;
use serde_json::Value;

use super::{Engine, bus};
use crate::cases::corpus::Case;

pub const ENGINE: Engine =
    Engine { name: "bus-trace", cannot: |case| bus::cannot(case, "trace"), run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let (config, outcomes) = bus::simulate(case, trace, with, "trace")?;
    let one = |outcome| {
        let outcome = serde_json::to_value(outcome).map_err(|e| e.to_string())?;
        bus::conserves(case, &config, &outcome)?;
        Ok(outcome)
    };
    outcomes.iter().map(one).collect()
}
