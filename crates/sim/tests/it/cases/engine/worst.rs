//! The worst blocks of one point of the matrix, with the processors that share them.

use homenode_sim::{SimConfig, worst_blocks};
use homenode_trace::TraceReader;
use serde_json::Value;

use super::{Engine, configured, count, laws, placement, quietly};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "worst", cannot: |_| None, run };

const NAMED_MAX: usize = 100;

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let base = placement::config(case, &[placement::MACHINES[0]], &["first-touch"]);
    let config: SimConfig = configured(base, with)?;
    let found = quietly(|progress| worst_blocks(&config, trace, NAMED_MAX, progress))?;
    let outcome = serde_json::to_value(&found).map_err(|e| e.to_string())?;
    // Private data have no block.
    let shared = serde_json::to_value(&config).map_err(|e| e.to_string())?["private"] == "shared";
    let asked = Counted { private: shared, ..Counted::asked(&config, false)? };
    let mut touched = asked.touched(case, found.report.block_size, 1);
    let accesses = touched.len() as u64;
    touched.sort_unstable_by_key(|&(_, block, _)| block);
    touched.dedup_by_key(|&mut (_, block, _)| block);
    let steps = |value: &Value| value["extra_cost"].as_u64();
    let list = |name: &str| outcome[name].as_array().cloned().unwrap_or_default();
    let whole = |name: &str, all: u64| {
        let each: Option<u64> = list(name).iter().map(steps).sum();
        steps(&outcome).is_none() || all > NAMED_MAX as u64 || each == steps(&outcome)
    };
    laws(
        &outcome,
        &[
            ("every access to a block counts", found.report.accesses == accesses),
            ("every block is looked at", found.report.blocks == touched.len() as u64),
            ("extra costs of blocks add up", whole("worst", found.report.blocks)),
            ("extra costs of objects add up", whole("objects", list("objects").len() as u64)),
            (
                "the worst come first",
                list("worst").is_sorted_by_key(|block| steps(block).map(std::cmp::Reverse)),
            ),
            (
                "a block is not worse than all",
                count(&outcome, "blocks") >= list("worst").len() as u64,
            ),
        ],
    )?;
    Ok(vec![outcome])
}
