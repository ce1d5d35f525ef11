//! Consequences of the definitions of the page-coherence policies.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Law, never, run, same};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;
use crate::cases::engine::count;

/// Under UPT a copy is never removed, so every processor except the home replicates a block once,
/// if it ever reads it.
pub const READERS_REPLICATE_ONCE: Law = Law {
    name: "under UPT every reader but the home replicates once",
    engines: &["page-coherence"],
    silent: never,
    check: readers_replicate_once,
};

fn readers_replicate_once(case: &Case) -> Result<(), String> {
    let mut readers = 0;
    for history in Counted::SHARED_DATA.histories(case, case.machine.block_size, case.processors())
    {
        let home = history[0].0;
        let others = history.iter().filter(|&&(processor, write)| !write && processor != home);
        readers += others.map(|&(processor, _)| processor).collect::<BTreeSet<u16>>().len() as u64;
    }
    let found = &run("page-coherence", case, &json!({ "policies": ["upt"] }))?[0];
    same("replications", count(found, "counts.replications"), readers)
}

/// A counter that begins at 1 does not count, and freezing with a period of 0 references does not
/// freeze; only entries to the operating system for the counter differ.
pub const DEGENERATE_COUNTERS: Law = Law {
    name: "a counter of 1 delays nothing, and f = 0 freezes nothing",
    engines: &["page-coherence"],
    silent: never,
    check: degenerate_counters,
};

fn degenerate_counters(case: &Case) -> Result<(), String> {
    let counts = |policy: &str| {
        let mut counts =
            run("page-coherence", case, &json!({ "policies": [policy] }))?.remove(0)["counts"]
                .take();
        counts["faults"] = json!(0);
        Ok::<_, String>(counts)
    };
    for (plain, degenerate) in [
        ("upt", "upt.del:counter=1"),
        ("inv", "inv.del:counter=1"),
        ("inv", "inv.freez:f=0"),
        ("inv", "inv.freez.del:f=0,counter=1"),
    ] {
        same(degenerate, counts(plain)?, counts(degenerate)?)?;
    }
    Ok(())
}
