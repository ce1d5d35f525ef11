//! The engine of flat machines, at which every reference takes the same number of cycles.

use homenode_flat::FlatCounts;
use homenode_machine::{Machine, MachineKind, PlainMachine};
use homenode_trace::{Batch, TraceReader};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Column, Engine, EngineResult, configuration};
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource, for_each_window, thread_pool};
use crate::results::{json, notes_on, suggestions_on};
use crate::schema::schema;

/// The number of a flat machine.
const PRICE: &str = "reference_cycles";

/// Options of a simulation of flat machines.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlatConfig {
    /// Machines: names (`homenode list machines`) or TOML files.
    #[serde(default = "machines")]
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines"))]
    pub machines: Vec<String>,
    /// Cores to use; the result does not depend on it.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
}

fn machines() -> Vec<String> {
    vec!["flat".to_owned()]
}

/// The result of one machine.
#[derive(Clone, Debug, Serialize)]
pub struct FlatOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// References.
    pub references: u64,
    /// Cycles of all of them.
    pub cycles: u64,
}

/// Notes on the trace.
#[derive(Clone, Debug, Serialize)]
struct FlatProvenance {
    notes: Vec<String>,
    suggestions: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct FlatStudy {
    outcomes: Vec<FlatOutcome>,
    provenance: FlatProvenance,
}

/// Machines at which every reference takes the same time.
pub(crate) const ENGINE: Engine = Engine {
    name: "flat",
    kinds: &[MachineKind::Flat],
    machines: "flat machines",
    default_machine: "flat",
    columns: &[
        Column { heading: "machine", field: "machine" },
        Column { heading: "references", field: "references" },
        Column { heading: "cycles", field: "cycles" },
    ],
    schema: schema::<FlatConfig>,
    simulate,
    prepare_run: None,
};

fn simulate(
    config: &str,
    _: bool,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<EngineResult, SimError> {
    let config: FlatConfig = configuration(config)?;
    let machines = config.machines.iter().map(|machine| flat(machine));
    let machines: Vec<(PlainMachine, u64)> = machines.collect::<Result<_, _>>()?;
    let mut counts = vec![FlatCounts::default(); machines.len()];
    let pool = thread_pool(config.threads)?;
    let read = |index, batch: &mut Batch| TraceSource::read(trace, index, batch);
    for_each_window(&pool, trace, &read, progress, TraceSource::references(trace), |batches| {
        for batch in batches {
            for (counts, (_, price)) in counts.iter_mut().zip(&machines) {
                counts.push(batch, *price);
            }
        }
        Ok(())
    })?;
    let outcome = |((machine, _), counts): (&(PlainMachine, u64), FlatCounts)| FlatOutcome {
        trace: TraceSource::name(trace),
        machine: machine.description.name.clone(),
        references: counts.references,
        cycles: counts.cycles,
    };
    let outcomes = machines.iter().zip(counts).map(outcome).collect();
    let (notes, suggestions) = (notes_on(trace), suggestions_on(trace));
    let study = FlatStudy { outcomes, provenance: FlatProvenance { notes, suggestions } };
    Ok(EngineResult { json: json(&study), uses: Vec::new() })
}

/// A flat machine and its price.
fn flat(spec: &str) -> Result<(PlainMachine, u64), SimError> {
    let Machine::Plain(machine) = Machine::parse(spec)? else {
        return Err(config_error(format!("machine {spec} is not flat")));
    };
    let price = machine.numbers.get(PRICE).copied();
    let price = price.ok_or_else(|| config_error(format!("machine {spec} lacks {PRICE}")))?;
    Ok((machine, price))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::ops::ControlFlow;

    use homenode_base::{Access, AccessKind};
    use homenode_trace::{Metadata, TraceWriter, WriterOptions};
    use serde_json::Value;

    use super::*;
    use crate::engines::engine_of;

    #[test]
    fn the_engine_of_the_machine_prices_each_reference() {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(&mut bytes, "t.hnt", WriterOptions::default()).unwrap();
        for address in 0..7 {
            writer.push(&Access::new(0, AccessKind::Read, 8 * address, 8)).unwrap();
        }
        writer.finish(Metadata::default()).unwrap();
        let trace = TraceReader::from_bytes(bytes.into_inner(), "t.hnt").unwrap();
        let engine = engine_of(&["flat"]).unwrap();
        let mut progress = |_, _| ControlFlow::Continue(());
        let found = (engine.simulate)("{}", false, &trace, &mut progress).unwrap();
        let found: Value = serde_json::from_str(&found.json).unwrap();
        assert_eq!(found["outcomes"][0]["machine"], "flat");
        assert_eq!(found["outcomes"][0]["cycles"], 21);
    }
}
