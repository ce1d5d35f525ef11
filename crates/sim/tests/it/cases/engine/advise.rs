//! Advice on data layout, with the gain simulated.

use homenode_sim::{AdviceConfig, advise};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, laws, placement, quietly};
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "advise", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let simulation = placement::config(case, &["cc"], &["migrate"]);
    let config: AdviceConfig = configured(json!({ "simulation": simulation }), with)?;
    let found = quietly(|progress| advise(&config, trace, None, progress))?;
    let one = |point: &homenode_sim::AdvicePoint| {
        let point = serde_json::to_value(point).map_err(|e| e.to_string())?;
        let number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
        let rows = point["advice"].as_array().cloned().unwrap_or_default();
        let gain = |row: &Value| number(&row["saved"]) > 0.0;
        let [before, after] = ["before", "after"].map(|side| number(&point[side]["total_cost"]));
        laws(
            &point,
            &[
                ("every piece of advice saves something", rows.iter().all(gain)),
                ("all advice together costs no more than none", after <= before),
                ("without advice nothing changes", !rows.is_empty() || after == before),
            ],
        )?;
        Ok(point)
    };
    found.points.iter().map(one).collect()
}
