//! Functions without a trace: lists from the tables of the crates, machines, protocols and options.

use homenode_analysis::synthetic::TABLE;
use homenode_interchange::{export, import};
use homenode_sim::{Column, ENGINES, Engine};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::call::to_json;
use crate::error::{config_error, sim_error};

/// The rows of a table as a JSON list; `kind` is one of `directory-protocols`, `engines`,
/// `examples`, `formats`, `homes`, `machines`, `page-policies`, `policies`, `protocols`, `proxies`,
/// `replications`, `servers`, `synthetic`, `tlbs`, `transforms`.
#[pyfunction]
pub fn table(kind: &str) -> PyResult<String> {
    match kind {
        "directory-protocols" => to_json(&homenode_sim::directory_protocol_rows()),
        "engines" => to_json(&engines()),
        "examples" => to_json(&homenode_sim::explain_examples()),
        "formats" => to_json(&formats()),
        "homes" => to_json(homenode_sim::HOMES),
        "proxies" => to_json(homenode_sim::PROXIES),
        "replications" => to_json(homenode_sim::REPLICATIONS),
        "machines" => prices(&[], &[], false),
        "page-policies" => to_json(homenode_sim::PAGE_POLICIES),
        "policies" => to_json(&homenode_sim::policy_rows()),
        "protocols" => to_json(&homenode_sim::protocol_rows()),
        "servers" => to_json(&servers()?),
        "synthetic" => to_json(&synthetic()),
        "tlbs" => to_json(&homenode_sim::tlb_rows()),
        "transforms" => to_json(&transforms()),
        _ => {
            let known = "directory-protocols, engines, examples, formats, homes, machines, \
                         page-policies, policies, protocols, proxies, replications, servers, \
                         synthetic, tlbs, transforms";
            Err(config_error(format!("no table {kind:?}; there are: {known}")))
        }
    }
}

/// The JSON schema of a study's options; `study` is one of `studies_with_options`.
#[pyfunction]
pub fn schema(study: &str) -> PyResult<String> {
    let known = studies_with_options().join(", ");
    let unknown = || config_error(format!("no options of {study:?}; there are those of: {known}"));
    to_json(&homenode_sim::study_schema(study).ok_or_else(unknown)?)
}

/// The studies that have options, in the order of the documentation.
#[pyfunction]
pub fn studies_with_options() -> Vec<&'static str> {
    homenode_sim::study_names()
}

/// Prices of a machine at some block sizes as a JSON list.
#[pyfunction]
#[pyo3(signature = (spec, block_sizes, force=false))]
pub fn machine_prices(spec: &str, block_sizes: Vec<u64>, force: bool) -> PyResult<String> {
    prices(&[spec], &block_sizes, force)
}

fn prices(specs: &[&str], block_sizes: &[u64], force: bool) -> PyResult<String> {
    let rows = homenode_sim::machine_rows(specs, block_sizes, force);
    to_json(&rows.map_err(|error| sim_error(&error))?)
}

/// The kind of each machine.
#[pyfunction]
pub fn machine_kinds(machines: Vec<String>) -> PyResult<Vec<&'static str>> {
    let kinds = homenode_sim::machine_kinds(&machines).map_err(|error| sim_error(&error))?;
    Ok(kinds.into_iter().map(homenode_sim::MachineKind::name).collect())
}

/// The name of the engine of these machines; an error if they have several.
#[pyfunction]
pub fn engine_of(machines: Vec<String>) -> PyResult<&'static str> {
    let engine = homenode_sim::engine_of(&machines).map_err(|error| sim_error(&error))?;
    Ok(engine.name)
}

/// The number of processors beyond which one more adds less than 0.5 to the power, from pairs of
/// number and power; `None` if each adds more.
#[pyfunction]
pub fn critical_point(powers: Vec<(u16, f64)>) -> Option<u16> {
    homenode_sim::critical_point(powers)
}

/// The model checker's reports on these protocols, all if there are none, as a JSON list.
#[pyfunction]
pub fn check_protocols(py: Python<'_>, names: Vec<String>) -> PyResult<String> {
    let reports = py.detach(|| homenode_sim::check_protocols(&names));
    to_json(&reports.map_err(|error| sim_error(&error))?)
}

/// The model checker's reports on these protocols with up to `nodes` nodes, as a JSON list.
#[pyfunction]
pub fn check_directory_protocols(
    py: Python<'_>,
    names: Vec<String>,
    nodes: Option<usize>,
) -> PyResult<String> {
    let reports = py.detach(|| homenode_sim::check_directory_protocols(&names, nodes));
    to_json(&reports.map_err(|error| sim_error(&error))?)
}

/// The page manager's table; `owner_copy` is `flush` or `keep`.
#[pyfunction]
pub fn page_actions(owner_copy: &str) -> PyResult<String> {
    let choice = serde_json::from_value(owner_copy.into());
    let choice = choice.map_err(|_| {
        config_error(format!("owner_copy is {owner_copy:?}; expected one of flush, keep"))
    })?;
    to_json(&homenode_sim::pmap_actions(choice))
}

/// Engines with the kinds of their machines.
fn engines() -> Vec<Value> {
    let row = |engine: &Engine| {
        let kinds: Vec<&str> = engine.kinds.iter().map(|kind| kind.name()).collect();
        let column = |column: &Column| json!({ "heading": column.heading, "field": column.field });
        let columns: Vec<Value> = engine.columns.iter().map(column).collect();
        json!({
            "name": engine.name, "kinds": kinds, "machines": engine.machines,
            "default_machine": engine.default_machine, "columns": columns,
        })
    };
    ENGINES.iter().map(row).collect()
}

/// Transforms with their parameters.
fn transforms() -> Vec<Value> {
    let parameter = |param: &homenode_transform::TransformParam| {
        json!({
            "name": param.name, "default": param.default, "form": param.form, "doc": param.doc,
        })
    };
    let row = |entry: &homenode_transform::Entry| {
        let parameters: Vec<Value> = entry.params.iter().map(parameter).collect();
        json!({
            "name": entry.name, "summary": entry.summary, "source": entry.source,
            "pieces": entry.pieces, "several": entry.several, "parameters": parameters,
        })
    };
    homenode_transform::TABLE.iter().map(row).collect()
}

/// Statistics of servers that come with the program.
fn servers() -> PyResult<Vec<Value>> {
    let row = |preset: &homenode_servers::StatisticsPreset| {
        let found = homenode_servers::find(preset.name, &[]).map_err(config_error)?;
        Ok(json!({ "name": preset.name, "summary": found.summary, "source": found.source }))
    };
    homenode_servers::TABLE.iter().map(row).collect()
}

/// Synthetic traces with known false sharing.
fn synthetic() -> Vec<Value> {
    TABLE
        .iter()
        .map(
            |entry| json!({ "name": entry.name, "summary": entry.summary, "source": entry.source }),
        )
        .collect()
}

/// Import and export formats of the Rust side, merged by name.
fn formats() -> Vec<Value> {
    let mut rows: Vec<Value> = import::TABLE
        .iter()
        .map(|entry| {
            json!({
                "name": entry.name, "summary": entry.summary, "source": entry.source,
                "extensions": entry.extensions, "import": true,
                "export": export::find(entry.name).is_ok(),
            })
        })
        .collect();
    for entry in export::TABLE.iter().filter(|e| import::find(e.name).is_err()) {
        rows.push(json!({
            "name": entry.name, "summary": entry.summary, "source": entry.source,
            "extensions": entry.extensions, "import": false, "export": true,
        }));
    }
    rows
}
