//! Equivalence of the ACE's page manager and the policy `ace`.

use serde_json::json;

use super::{Law, never, run, same};
use crate::cases::corpus::Case;
use crate::cases::engine::count;

/// `docs/pmap.md`, last section: every reference is served alike, and pages are invalidated and
/// pinned alike.
pub const IS_ACE: Law = Law {
    name: "the page manager with limit-writes that keeps the owner's copy is the policy ace",
    engines: &["pmap", "placement"],
    silent: never,
    check: is_ace,
};

fn is_ace(case: &Case) -> Result<(), String> {
    for (limit, private) in [(0, "local"), (1, "exclude"), (4, "shared")] {
        let pages = json!({
            "policy": "limit-writes", "limit": limit, "owner_copy": "keep", "private": private,
        });
        let policy = format!("ace:limit={limit}");
        let placed = json!({ "machines": ["ace"], "policies": [policy], "private": private });
        let manager = &run("pmap", case, &pages)?[0]["counts"];
        let ace = &run("placement", case, &placed)?[0]["counts"];
        for name in ["local_reads", "local_writes", "global_reads", "global_writes"] {
            same(name, count(manager, name), count(ace, name))?;
        }
        same("invalidations", count(manager, "invalidations"), count(ace, "invalidations"))?;
        same("pinned pages", count(manager, "pins"), count(ace, "freezes"))?;
    }
    Ok(())
}
