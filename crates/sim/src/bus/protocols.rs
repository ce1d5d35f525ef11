//! The list of protocols, and the results of the model checker.

use homenode_snoop::{CheckReport, ProtocolSpec, TABLE, check};
use serde::Serialize;

use crate::error::SimResult;

/// The result of the model checker for a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolReport {
    /// The protocol.
    pub protocol: &'static str,
    /// The states explored, and the violations found.
    #[serde(flatten)]
    pub report: CheckReport,
}

/// Checks the named protocols, or all if `names` is empty.
///
/// # Errors
/// When a protocol is unknown.
pub fn check_protocols<S: AsRef<str>>(names: &[S]) -> SimResult<Vec<ProtocolReport>> {
    let all: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
    let named: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let names = if named.is_empty() { all } else { named };
    let specs = names.iter().map(|name| ProtocolSpec::parse(name));
    let specs: Vec<ProtocolSpec> = specs.collect::<Result<_, _>>()?;
    let report = |spec: &ProtocolSpec| ProtocolReport {
        protocol: spec.entry.name,
        report: check(&spec.table()),
    };
    Ok(specs.iter().map(report).collect())
}

/// One row of the list of protocols.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// States of a cached copy.
    pub states: Vec<&'static str>,
    /// Its parameters.
    pub parameters: Vec<ProtocolParameterRow>,
}

/// A parameter of a protocol, which is a switch.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolParameterRow {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Default value.
    pub default: &'static str,
    /// Its effect.
    pub doc: &'static str,
}

/// All protocols.
#[must_use]
pub fn protocol_rows() -> Vec<ProtocolRow> {
    let parameter = |p: &homenode_snoop::ProtocolParameter| ProtocolParameterRow {
        name: p.name,
        default: "no",
        doc: p.doc,
    };
    let row = |entry: &homenode_snoop::Entry| ProtocolRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        states: (entry.build)().states().iter().map(|label| label.name).collect(),
        parameters: entry.params.iter().map(parameter).collect(),
    };
    TABLE.iter().map(row).collect()
}
