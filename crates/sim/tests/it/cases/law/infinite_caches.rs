//! Caches that hold all blocks are equivalent to placement without remote reference.

use serde_json::{Value, json};

use super::{Law, never, run, same};
use crate::cases::corpus::Case;
use crate::cases::engine::count;

/// Thesis section 7.1.6: without remote reference the optimum moves a block whenever a processor
/// references it without a copy, which is when an infinite cache under invalidation misses; the
/// first location of each block is free.
pub const MISSES_ARE_MOVES: Law = Law {
    name: "MESI with infinite caches misses where placement without remote reference moves",
    engines: &["bus-trace", "placement", "sharing"],
    silent: never,
    check: misses_are_moves,
};

/// Only shared data, which all engines count in the same way.
fn shared_data() -> Value {
    json!({
        "private": "exclude", "sync": "exclude", "fetches": "exclude",
        "associativities": [null],
    })
}

fn misses_are_moves(case: &Case) -> Result<(), String> {
    let block = case.machine.block_size;
    let mut with = shared_data();
    with["protocols"] = json!(["mesi"]);
    with["cache_sizes"] = json!([crate::cases::engine::room(case, block)]);
    let mesi = &run("bus-trace", case, &with)?[0]["misses"];
    let report = &run("sharing", case, &json!({}))?[0];
    let counted = |name: &str| count(&report["sizes"][0]["counts"], name);
    let invalidated = ["invalidation_true", "invalidation_false", "invalidation_passive"];
    let invalidated: u64 = invalidated.iter().map(|name| count(mesi, name)).sum();
    same("cold misses", count(mesi, "cold"), counted("cold"))?;
    same(
        "misses after invalidation",
        invalidated,
        counted("true_sharing") + counted("false_sharing"),
    )?;
    same("replacements", count(mesi, "replacement"), 0)?;
    // The analysis looks back to the last essential miss, the bus to the loss of the copy.
    if count(mesi, "invalidation_true") > counted("true_sharing") {
        return Err("the bus sees more true sharing than the analysis".to_owned());
    }
    let machine = json!(["prices:r=inf,R=59"]);
    for policy in ["migrate", "optimal"] {
        let with = json!({ "machines": machine, "policies": [policy], "private": "exclude" });
        let moves = count(&run("placement", case, &with)?[0], "counts.remote_moves");
        same(policy, moves, counted("transfers"))?;
    }
    Ok(())
}

pub const ONE_PROCESSOR: Law = Law {
    name: "one processor counts the same under every protocol",
    engines: &["bus-trace"],
    silent: never,
    check: one_processor,
};

fn one_processor(case: &Case) -> Result<(), String> {
    let outcomes = run("bus-trace", case, &json!({ "processors": 1 }))?;
    let counted = |outcome: &Value| {
        let transactions = |name: &str| count(&outcome["transactions"], name);
        let fetched = transactions("read_block_memory") + transactions("read_invalidate_memory");
        let written_back = transactions("update_block");
        (count(outcome, "hits"), outcome["misses"].clone(), fetched, written_back)
    };
    for outcome in &outcomes {
        same(
            "hits, misses, blocks fetched and written back",
            counted(outcome),
            counted(&outcomes[0]),
        )?;
        same("coherence transactions", count(outcome, "coherence.true"), 0)?;
        same("blocks from other caches", count(outcome, "transactions.read_block_cache"), 0)?;
    }
    Ok(())
}
