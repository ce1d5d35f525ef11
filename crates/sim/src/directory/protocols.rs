//! The lists of protocols and homes, and the results of the model checker.

use homenode_directory::{
    CoherenceTable, DirectoryCheckReport, DirectoryProtocol, NODES_MAX, check, check_lists, home,
};
use homenode_protocol::{ProtocolParameter, ValueRange};
use serde::Serialize;

use crate::error::SimError;

/// The result of the model checker for a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProtocolReport {
    /// The protocol, as it was asked for.
    pub protocol: String,
    /// The situations explored, and the violations found.
    #[serde(flatten)]
    pub report: DirectoryCheckReport,
}

/// What follows the name of a protocol with lists of copies that is to be checked with proxies.
const WITH_PROXIES: &str = "+proxies";

/// Checks some protocols with up to so many nodes, two to four. Unless it is said it is three of a
/// protocol of blocks; two of one of pages, of which three take long; and four of one with lists of
/// copies, whose name may end in `+proxies`.
///
/// # Errors
/// When there is no such protocol, or there are too few or too many nodes.
pub fn check_directory_protocols<S: AsRef<str>>(
    names: &[S],
    nodes: Option<usize>,
) -> Result<Vec<DirectoryProtocolReport>, SimError> {
    if let Some(nodes) = nodes.filter(|nodes| !(2..=NODES_MAX).contains(nodes)) {
        let problem = format!("--nodes is {nodes}: expected 2 to {NODES_MAX}");
        return Err(SimError::Config { problem });
    }
    let tables = names.iter().map(|name| checked_table(name.as_ref()));
    let tables: Vec<(String, CoherenceTable, bool)> = tables.collect::<Result<_, _>>()?;
    let report = |(protocol, table, proxies): (String, CoherenceTable, bool)| {
        let report = match &table {
            CoherenceTable::Blocks(_) => check(&table, nodes.unwrap_or(3)),
            CoherenceTable::Pages(_) => check(&table, nodes.unwrap_or(2)),
            CoherenceTable::Lists(table) => check_lists(table, proxies, nodes.unwrap_or(4)),
        };
        DirectoryProtocolReport { protocol, report }
    };
    Ok(tables.into_iter().map(report).collect())
}

/// What is checked by this name, its table, and whether with proxies.
fn checked_table(name: &str) -> Result<(String, CoherenceTable, bool), SimError> {
    let (text, proxies) = match name.strip_suffix(WITH_PROXIES) {
        Some(text) => (text, true),
        None => (name, false),
    };
    let spec = DirectoryProtocol::parse(text)?;
    let table = spec.table();
    if proxies && !matches!(table, CoherenceTable::Lists(_)) {
        let problem = format!("{name}: {} has no proxies; say sdd{WITH_PROXIES}", spec.entry.name);
        return Err(SimError::Config { problem });
    }
    let suffix = if proxies { WITH_PROXIES } else { "" };
    Ok((format!("{}{suffix}", spec.entry.name), table, proxies))
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
            ValueRange::SwitchOrSize { name, unit, from, to } => {
                format!("yes, no or {name}:{unit}={from} to {to}")
            }
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
