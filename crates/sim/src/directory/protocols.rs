//! The lists of protocols and homes, and the results of the model checker.

use homenode_directory::{
    CoherenceTable, DirectoryCheckReport, DirectoryProtocol, NODES_MAX, check, home,
};
use homenode_protocol::{ProtocolParameter, ValueRange};
use serde::Serialize;

use crate::error::SimError;

/// The result of the model checker for a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProtocolReport {
    /// The protocol.
    pub protocol: &'static str,
    /// The situations explored, and the violations found.
    #[serde(flatten)]
    pub report: DirectoryCheckReport,
}

/// Checks some protocols with up to so many nodes, two to four: three of a protocol of blocks and
/// two of one of pages, of which three take long, unless it is said.
///
/// # Errors
/// When there is no such protocol, or there are too few or too many nodes.
pub fn check_directory_protocols<S: AsRef<str>>(
    names: &[S],
    nodes: Option<usize>,
) -> Result<Vec<DirectoryProtocolReport>, SimError> {
    let specs = names.iter().map(|name| DirectoryProtocol::parse(name.as_ref()));
    let specs: Vec<DirectoryProtocol> = specs.collect::<Result<_, _>>()?;
    if let Some(nodes) = nodes.filter(|nodes| !(2..=NODES_MAX).contains(nodes)) {
        let problem = format!("--nodes is {nodes}: expected 2 to {NODES_MAX}");
        return Err(SimError::Config { problem });
    }
    let report = |spec: &DirectoryProtocol| DirectoryProtocolReport {
        protocol: spec.entry.name,
        report: {
            let table = spec.table();
            let usual = if matches!(table, CoherenceTable::Blocks(_)) { 3 } else { 2 };
            check(&table, nodes.unwrap_or(usual))
        },
    };
    Ok(specs.iter().map(report).collect())
}

/// One line of the list of protocols with a directory.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProtocolRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// States of a cache's controller, or of what a node has for a page.
    pub states: Vec<&'static str>,
    /// States of a home's controller.
    pub home_states: Vec<&'static str>,
    /// Its parameters, which follow the colon.
    pub parameters: Vec<DirectoryParameterRow>,
}

/// One line of the list of homes.
#[derive(Clone, Debug, Serialize)]
pub struct HomeRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters, which follow the colon.
    pub parameters: Vec<DirectoryParameterRow>,
    /// Whether the trace is read once more before, to find who uses which page.
    pub needs_first_run: bool,
}

/// A parameter of a protocol or of homes.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryParameterRow {
    /// Name before the equals sign.
    pub name: &'static str,
    /// What may stand after it.
    pub values: String,
    /// What it does.
    pub doc: &'static str,
}

impl DirectoryParameterRow {
    fn of(parameter: &ProtocolParameter) -> Self {
        let values = match parameter.values {
            ValueRange::Switch => "yes or no".to_owned(),
            ValueRange::Number { from, to } => format!("{from} to {to}"),
        };
        Self { name: parameter.name, values, doc: parameter.doc }
    }
}

/// All protocols with a directory.
#[must_use]
pub fn directory_protocol_rows() -> Vec<DirectoryProtocolRow> {
    let row = |entry: &homenode_directory::Entry| {
        let names = |labels: &[homenode_protocol::TableLabel]| {
            labels.iter().map(|label| label.name).collect::<Vec<_>>()
        };
        let (states, home_states) = match (entry.build)() {
            CoherenceTable::Blocks(table) => {
                (names(table.cache.states()), names(table.home.states()))
            }
            CoherenceTable::Pages(table) => {
                let of_a_node = [names(table.mapping.states()), names(table.release.states())];
                (of_a_node.concat(), names(table.home.states()))
            }
            CoherenceTable::Lists(table) => {
                (names(table.copy.states()), names(table.home.states()))
            }
        };
        DirectoryProtocolRow {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            states,
            home_states,
            parameters: entry.params.iter().map(DirectoryParameterRow::of).collect(),
        }
    };
    homenode_directory::TABLE.iter().map(row).collect()
}

/// All policies of homes.
#[must_use]
pub fn home_rows() -> Vec<HomeRow> {
    let row = |entry: &home::Entry| HomeRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        parameters: entry.params.iter().map(DirectoryParameterRow::of).collect(),
        needs_first_run: entry.needs_first_run,
    };
    home::TABLE.iter().map(row).collect()
}

/// A policy of replication or a way of proxies, as lists print it.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters, which follow the colon.
    pub parameters: Vec<DirectoryParameterRow>,
}

/// All policies of replication.
#[must_use]
pub fn replication_rows() -> Vec<ChoiceRow> {
    let row = |entry: &homenode_directory::ReplicationEntry| ChoiceRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        parameters: entry.params.iter().map(DirectoryParameterRow::of).collect(),
    };
    homenode_directory::REPLICATIONS.iter().map(row).collect()
}

/// All ways of proxies.
#[must_use]
pub fn proxy_rows() -> Vec<ChoiceRow> {
    let row = |entry: &homenode_directory::ProxyEntry| ChoiceRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        parameters: entry.params.iter().map(DirectoryParameterRow::of).collect(),
    };
    homenode_directory::PROXIES.iter().map(row).collect()
}
