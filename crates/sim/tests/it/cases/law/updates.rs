//! Protocols that update never invalidate a copy.

use serde_json::json;

use super::{Law, never, run, same};
use crate::cases::census::blocks;
use crate::cases::corpus::Case;
use crate::cases::engine::{count, sum};

/// Under Dragon a copy is lost only to replacement, so a cache holds the same blocks as a TLB of
/// the same shape whose pages are the blocks.
pub const LIKE_TLBS: Law = Law {
    name: "caches under Dragon miss where TLBs of their shape do",
    engines: &["bus-trace", "tlb"],
    silent: never,
    check: like_tlbs,
};

fn like_tlbs(case: &Case) -> Result<(), String> {
    let machine = &case.machine;
    let all = blocks(case, machine.block_size).max(1);
    let own = machine.cache_size.map_or(all, |size| size / machine.block_size);
    let ways = machine.associativity.unwrap_or(own);
    for (entries, ways) in [(own, ways), (1, 1), (2, 2), (4, 1)] {
        let caches = json!({
            "protocols": ["dragon"], "cache_sizes": [entries * machine.block_size],
            "associativities": [ways], "fetches": "exclude", "sync": "exclude",
        });
        let tlb = format!("entries={entries},ways={ways}");
        let found = &run("tlb", case, &json!({ "tlbs": [tlb] }))?[0];
        let dragon = &run("bus-trace", case, &caches)?[0];
        same(&tlb, sum(dragon, "misses"), count(found, "misses"))?;
        same("lookups", count(dragon, "block_references"), count(found, "lookups"))?;
    }
    Ok(())
}

/// Without private areas PSCR updates as Dragon does.
pub const PSCR_IS_DRAGON: Law = Law {
    name: "PSCR without private areas is Dragon",
    engines: &["bus-trace"],
    silent: never,
    check: pscr_is_dragon,
};

fn pscr_is_dragon(case: &Case) -> Result<(), String> {
    let counts = |protocol: &str| {
        let with = json!({ "protocols": [protocol], "private": "shared" });
        let mut outcome = run("bus-trace", case, &with)?.remove(0);
        outcome["protocol"] = json!("");
        Ok::<_, String>(outcome)
    };
    same("outcomes", counts("pscr")?, counts("dragon")?)
}
