//! Placement policies on machines with prices of references and moves.

use homenode_machine::PriceModel;
use homenode_sim::{PlacementOutcome, SimConfig, policy_rows, run as simulate};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, configured, count, laws, quietly};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;

pub const ENGINE: Engine = Engine { name: "placement", cannot: |_| None, run };

/// A machine without and one with global memory, with small prices.
pub const MACHINES: [&str; 2] = ["prices:r=15,R=59", "prices:r=15,R=59,g=4,G=40"];

pub fn policies(model: PriceModel, global: bool) -> Vec<&'static str> {
    let rows = policy_rows().into_iter();
    let fits = |row: &homenode_sim::PolicyRow| {
        row.runs_on.contains(&model) && (global || !row.needs_global)
    };
    rows.filter(fits).map(|row| row.name).collect()
}

pub fn config(case: &Case, machines: &[&str], policies: &[&str]) -> Value {
    json!({
        "machines": machines, "policies": policies, "block_sizes": [case.machine.block_size],
        "processors": case.processors(), "threads": 1,
    })
}

pub fn outcomes(
    case: &Case,
    trace: &TraceReader,
    base: Value,
    with: &Value,
) -> Result<Vec<Value>, String> {
    let config: SimConfig = configured(base, with)?;
    let found = quietly(|progress| simulate(&config, trace, progress))?;
    let each = found.outcomes.len() / config.machines.len().max(1);
    let one = |(place, outcome): (usize, &PlacementOutcome)| {
        // Each machine has its own treatment of private references unless the configuration has
        // one.
        let private = serde_json::to_value(found.provenance.private[place / each]);
        let mut asked = serde_json::to_value(&config).map_err(|e| e.to_string())?;
        asked["private"] = private.map_err(|e| e.to_string())?;
        let value = serde_json::to_value(outcome).map_err(|e| e.to_string())?;
        conserves(case, Counted::asked(&asked, false)?, &value)?;
        Ok(value)
    };
    found.outcomes.iter().enumerate().map(one).collect()
}

/// Every reference is served once, from one place.
fn conserves(case: &Case, counted: Counted, outcome: &Value) -> Result<(), String> {
    let number = |name: &str| count(&outcome["counts"], name);
    let served = ["local_reads", "local_writes", "remote_reads", "remote_writes"];
    let rest = ["global_reads", "global_writes", "replicating_reads"];
    let served: u64 = served.iter().chain(&rest).map(|name| number(name)).sum();
    let touched = counted.touched(case, count(outcome, "block_size"), 1);
    let writes = touched.iter().filter(|&&(_, _, write)| write).count() as u64;
    let written: u64 = ["local_writes", "remote_writes", "global_writes"].map(number).iter().sum();
    laws(
        outcome,
        &[
            (
                "every reference counts once",
                count(outcome, "references") == counted.references(case),
            ),
            (
                "a reference is an access to every block it touches",
                count(outcome, "accesses") == touched.len() as u64,
            ),
            ("every access is served from one place", served == touched.len() as u64),
            ("every write is served as a write", written == writes),
            (
                "only writes are forwarded or multicast",
                number("forwarded_writes").max(number("multicast_writes")) <= writes,
            ),
        ],
    )
}

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let policies = policies(PriceModel::Placement, false);
    outcomes(case, trace, config(case, &MACHINES, &policies), with)
}
