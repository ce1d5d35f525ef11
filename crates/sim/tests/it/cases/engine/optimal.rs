//! The off-line optimum in detail: moves, certificate, curve.

use homenode_sim::{OptimalConfig, optimal};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, count, laws, placement, quietly};
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "optimal", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let policies = ["optimal", "optimal-no-replication"];
    let simulation = placement::config(case, &placement::MACHINES, &policies);
    let base = json!({ "simulation": simulation, "certify": true });
    let config: OptimalConfig = configured(base, with)?;
    let found = quietly(|progress| optimal(&config, trace, None, progress))?;
    let one = |row: &homenode_sim::OptimalRow| {
        let outcome = serde_json::to_value(row).map_err(|e| e.to_string())?;
        let number = |name: &str| count(&outcome["counts"], name);
        let moves = number("remote_moves") + number("global_moves");
        let known = |name: &str| count(&outcome["certificate"], name);
        laws(
            &outcome,
            &[
                ("the replay of the placement costs what was said", known("failed") == 0),
                ("the moves of the blocks are those counted", row.moves_per_block.moves == moves),
            ],
        )?;
        Ok(outcome)
    };
    found.outcomes.iter().map(one).collect()
}
