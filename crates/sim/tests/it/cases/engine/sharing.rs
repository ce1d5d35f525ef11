//! False sharing: the causes of block moves.

use homenode_sim::{SharingConfig, sharing};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, count, laws, placement, quietly, sum};
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "sharing", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let mut simulation = placement::config(case, &["cc"], &["optimal"]);
    simulation["private"] = json!("exclude");
    let size = case.machine.block_size;
    let base = json!({ "simulation": simulation, "detail": size, "count": 100 });
    let config: SharingConfig = configured(base, with)?;
    let found = quietly(|progress| sharing(&config, trace, progress))?;
    let outcome = serde_json::to_value(&found).map_err(|e| e.to_string())?;
    for size in &found.sizes {
        let c = &size.counts;
        laws(
            &outcome,
            &[
                (
                    "one miss of each block is free, the others are transfers",
                    c.cold + c.true_sharing + c.false_sharing == c.transfers + c.blocks,
                ),
                (
                    "no more moves are necessary than are made",
                    c.necessary_low <= c.necessary_high && c.necessary_high <= c.transfers,
                ),
                ("words apart save no more than there is", c.separable_saved <= c.transfers),
                (
                    "blocks that are shared are blocks",
                    c.write_shared_blocks <= c.shared_blocks && c.shared_blocks <= c.blocks,
                ),
            ],
        )?;
    }
    charges_add_up(&outcome)?;
    Ok(vec![outcome])
}

fn charges_add_up(outcome: &Value) -> Result<(), String> {
    let (Some(blocks), Some([size])) =
        (outcome["detail"]["blocks"].as_array(), outcome["sizes"].as_array().map(Vec::as_slice))
    else {
        return Ok(());
    };
    if blocks.len() as u64 != count(&size["counts"], "blocks") {
        return Ok(());
    }
    let charged =
        |name: &str| blocks.iter().map(|block| count(&block["misses"], name)).sum::<u64>();
    let counted = |name: &str| count(&size["counts"], name);
    laws(
        outcome,
        &[
            ("true sharing is charged", charged("true_sharing") == counted("true_sharing")),
            ("false sharing is charged", charged("false_sharing") == counted("false_sharing")),
            ("false sharing is inflicted", charged("inflicted") == counted("false_sharing")),
            ("words have a class", sum(outcome, "words") > 0 || counted("blocks") == 0),
        ],
    )
}
