//! What can be listed, from the tables of the crates.

use homenode_trace::{export, import};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::config_error;
use crate::interchange::to_json;

/// The rows of a table as a JSON list; `kind` is one of `formats`, `machines`, `policies`.
#[pyfunction]
pub fn table(kind: &str) -> PyResult<String> {
    let rows = match kind {
        "formats" => formats(),
        _ => return Err(config_error(format!("no table {kind:?}; there are: formats"))),
    };
    to_json(&rows)
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
