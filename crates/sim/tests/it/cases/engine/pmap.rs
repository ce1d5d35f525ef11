//! The ACE's page manager.

use homenode_sim::{PAGE_POLICIES, PmapConfig, pmap};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, count, laws, quietly, sum};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "pmap", cannot: |_| None, run };

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let base = json!({
        "page_size": case.machine.block_size, "policy": "limit", "limit": 4, "count": 100,
        "processors": case.processors(), "threads": 1,
    });
    if with.get("policy").is_some() {
        return Ok(vec![manage(case, trace, &base, with)?]);
    }
    let each = PAGE_POLICIES.iter().map(|row| {
        let mut base = base.clone();
        base["policy"] = json!(row.name);
        manage(case, trace, &base, with)
    });
    each.collect()
}

fn manage(case: &Case, trace: &TraceReader, base: &Value, with: &Value) -> Result<Value, String> {
    let config: PmapConfig = configured(base.clone(), with)?;
    let found = quietly(|progress| pmap(&config, trace, progress))?;
    let outcome = serde_json::to_value(&found).map_err(|e| e.to_string())?;
    let counted = Counted::asked(&config, false)?;
    let touched = counted.touched(case, config.page_size, 1).len() as u64;
    let number = |name: &str| count(&outcome["counts"], name);
    let cells: u64 = found.faults.iter().map(|row| row.count).sum();
    laws(
        &outcome,
        &[
            ("every reference counts once", found.references == counted.references(case)),
            ("a reference is an access to every page it touches", found.accesses == touched),
            ("every fault uses one cell", number("faults") == cells),
            ("every page ends in one state", sum(&outcome, "final_states") == found.pages),
            (
                "pinned pages stay in global memory",
                count(&outcome["final_states"], "global-writable") == number("pins"),
            ),
            ("no fault without a reference", number("faults") <= touched),
        ],
    )?;
    Ok(outcome)
}
