//! The walk of `explain`: the same caches, one reference after the other.

use homenode_sim::{ExplainConfig, ProtocolExplanation, explain, protocol_rows};
use homenode_trace::TraceReader;
use serde_json::{Value, json};

use super::{Engine, bus, configured, count, laws, quietly, sum};
use crate::cases::corpus::Case;

const REFERENCES_MAX: usize = 500;

pub const ENGINE: Engine = Engine { name: "walk", cannot, run };

fn cannot(case: &Case) -> Option<String> {
    if case.accesses.is_empty() {
        return Some("there is nothing to walk through".to_owned());
    }
    let long = case.accesses.len() > REFERENCES_MAX / 2;
    let long = long.then(|| "a walk has at most 500 references to blocks".to_owned());
    long.or_else(|| bus::cannot(case, "trace"))
}

fn run(case: &Case, trace: &TraceReader, with: &Value) -> Result<Vec<Value>, String> {
    let machine = &case.machine;
    let size = machine.cache_size.unwrap_or_else(|| bus::room(case, machine.block_size));
    let protocols: Vec<&str> = protocol_rows().iter().map(|row| row.name).collect();
    let last =
        |access: &homenode_base::Access| access.addr.saturating_add(u64::from(access.size) - 1);
    let blocks: Vec<u64> = case.accesses.iter().flat_map(|a| [a.addr, last(a)]).collect();
    let base = json!({
        "protocols": protocols, "machine": "bus-smp", "processors": case.processors(),
        "cache_size": size, "block_size": machine.block_size,
        "associativity": machine.associativity.unwrap_or(size / machine.block_size),
        "references": REFERENCES_MAX, "blocks": blocks,
    });
    let config: ExplainConfig = configured(base, with)?;
    let found = quietly(|progress| explain(&config, Some(trace), progress))?;
    let one = |explained: &homenode_sim::ExplainedProtocol| {
        let walk = serde_json::to_value(&explained.walk).map_err(|e| e.to_string())?;
        let steps = walk["steps"].as_array().map_or(0, |steps| steps.len() as u64);
        let totals = &walk["totals"];
        let accounted = count(totals, "hits") + sum(totals, "misses");
        let cycles = |step: &Value| count(step, "cycles");
        let each: u64 = walk["steps"].as_array().into_iter().flatten().map(cycles).sum();
        let laws_of_walks = [
            ("there is a step for every reference to a block", steps == accounted),
            ("the steps' cycles are the walk's", each == count(&walk, "bus_cycles")),
        ];
        laws(totals, &laws_of_walks)?;
        Ok(walk)
    };
    let ProtocolExplanation::Bus(found) = found else {
        return Err("these are protocols of a bus".to_owned());
    };
    found.protocols.iter().map(one).collect()
}
