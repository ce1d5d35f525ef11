//! The common part of machines on a bus, in the order of the trace and in cycles.

use std::io::Write;

use homenode_sim::{BusConfig, BusOutcome, protocol_rows, simulate_bus};
use homenode_trace::TraceReader;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::{configured, count, laws, quietly, sum};
use crate::cases::census::{Counted, blocks};
use crate::cases::corpus::Case;
use crate::cases::script;

/// Processors that every bus supports.
const PROCESSORS_SURE: u16 = 64;
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 16..=1024;

/// Why a bus cannot run a case: its own error message if there are many processors.
pub fn cannot(case: &Case, order: &str) -> Option<String> {
    if !BLOCK_BYTES.contains(&case.machine.block_size) {
        return Some("a bus has blocks of 16 to 1024 bytes".to_owned());
    }
    if case.processors() <= PROCESSORS_SURE {
        return None;
    }
    let nothing = script::trace("# nothing", &json!({}), 1).ok()?;
    let config: BusConfig = configured(config(case, order), &json!({})).ok()?;
    quietly(|progress| simulate_bus(&config, &nothing, progress)).err()
}

pub fn room(case: &Case, block_size: u64) -> u64 {
    blocks(case, block_size).max(1) * block_size
}

pub fn config(case: &Case, order: &str) -> Value {
    let machine = &case.machine;
    let size = machine.cache_size.unwrap_or_else(|| room(case, machine.block_size));
    let protocols: Vec<&str> = protocol_rows().iter().map(|row| row.name).collect();
    json!({
        "machines": ["bus-smp"], "protocols": protocols, "order": order, "addresses": "trace",
        "cache_sizes": [size], "associativities": [machine.associativity],
        "block_sizes": [machine.block_size], "processors": case.processors(),
        "check": true, "threads": 1,
    })
}

/// Simulates a case. `with` may have a table `machine` with the differences from `bus-smp`.
pub fn simulate(
    case: &Case,
    trace: &TraceReader,
    with: &Value,
    order: &str,
) -> Result<(BusConfig, Vec<BusOutcome>), String> {
    let mut with = with.clone();
    let machine = with.as_object_mut().and_then(|fields| fields.remove("machine"));
    let file = machine.map(|machine| variant(&machine)).transpose()?;
    let mut base = config(case, order);
    if let Some(file) = &file {
        base["machines"] = json!([file.path()]);
    }
    let config: BusConfig = configured(base, &with)?;
    let found = quietly(|progress| simulate_bus(&config, trace, progress))?;
    Ok((config, found.outcomes))
}

/// A file with a machine like `bus-smp` except for some numbers.
fn variant(differences: &Value) -> Result<NamedTempFile, String> {
    let mut file =
        tempfile::Builder::new().suffix(".toml").tempfile().map_err(|e| e.to_string())?;
    let mut text = "name = \"case\"\nkind = \"bus\"\nbase = \"bus-smp\"\n".to_owned();
    for (table, fields) in differences.as_object().into_iter().flatten() {
        text.push_str(&format!("[{table}]\n"));
        for (name, value) in fields.as_object().into_iter().flatten() {
            text.push_str(&format!("{name} = {{ value = {value}, source = \"the case\" }}\n"));
        }
    }
    file.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    Ok(file)
}

pub fn conserves(case: &Case, config: &BusConfig, outcome: &Value) -> Result<(), String> {
    let counted = Counted::asked(config, true)?;
    let of_kernel_model = if config.kernel_model { count(outcome, "kernel.references") } else { 0 };
    let references = counted.references(case) + of_kernel_model;
    let touched = counted.touched(case, count(outcome, "block_size"), 1).len() as u64;
    let misses = sum(outcome, "misses");
    let block_references = count(outcome, "block_references");
    let transactions = |name: &str| count(&outcome["transactions"], name);
    let fetched = ["read_block_memory", "read_block_cache"].map(transactions);
    let taken = ["read_invalidate_memory", "read_invalidate_cache"].map(transactions);
    let coherent = transactions("invalidate") + transactions("write");
    // Processes that restart make some of theirs again, and long ones leave some out.
    let owed = counted.owed(case);
    let counts = |found, once| found == once || config.restart && found >= owed;
    laws(
        outcome,
        &[
            ("every reference counts once", counts(count(outcome, "references"), references)),
            (
                "a reference counts for every block it touches",
                config.kernel_model || counts(block_references, touched),
            ),
            (
                "hits and misses are all references",
                count(outcome, "hits") + misses == block_references,
            ),
            ("every miss fetches a block", fetched.iter().chain(&taken).sum::<u64>() == misses),
            ("every invalidation or update is of one kind", sum(outcome, "coherence") == coherent),
        ],
    )
}
