//! The list of protocols, and the results of the model checker.

use homenode_directory::{
    CoherenceTable, DirectoryCheckReport, DirectoryProtocol, NODES_MAX, check, check_linked,
};
use homenode_protocol::ProtocolParameter;
use serde::Serialize;

use crate::error::{SimResult, config_error};

/// The result of the model checker for a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProtocolReport {
    /// The protocol as given.
    pub protocol: String,
    /// The situations explored, and the violations found.
    #[serde(flatten)]
    pub report: DirectoryCheckReport,
}

/// Suffix of a list protocol's name that adds proxies to the check.
const WITH_PROXIES: &str = "+proxies";

/// Checks protocols with up to `nodes` nodes, 2 to 4. The default is 3 for protocols of blocks, 2
/// for those of pages, of which 3 take long, and 4 for those with lists of copies, whose name may
/// end in `+proxies`.
///
/// # Errors
/// When a protocol is unknown, or the number of nodes is out of range.
pub fn check_directory_protocols<S: AsRef<str>>(
    names: &[S],
    nodes: Option<usize>,
) -> SimResult<Vec<DirectoryProtocolReport>> {
    if let Some(nodes) = nodes.filter(|nodes| !(2..=NODES_MAX).contains(nodes)) {
        return Err(config_error(format!("--nodes is {nodes}: expected 2 to {NODES_MAX}")));
    }
    let tables = names.iter().map(|name| checked_table(name.as_ref()));
    let tables: Vec<(String, CoherenceTable, bool)> = tables.collect::<Result<_, _>>()?;
    let report = |(protocol, table, proxies): (String, CoherenceTable, bool)| {
        let report = match &table {
            CoherenceTable::Blocks(_) => check(&table, nodes.unwrap_or(3)),
            CoherenceTable::Pages(_) => check(&table, nodes.unwrap_or(2)),
            CoherenceTable::Linked(table) => check_linked(table, proxies, nodes.unwrap_or(4)),
        };
        DirectoryProtocolReport { protocol, report }
    };
    Ok(tables.into_iter().map(report).collect())
}

/// The checked name, the protocol's table, and whether proxies are included.
fn checked_table(name: &str) -> SimResult<(String, CoherenceTable, bool)> {
    let (text, proxies) = match name.strip_suffix(WITH_PROXIES) {
        Some(text) => (text, true),
        None => (name, false),
    };
    let spec = DirectoryProtocol::parse(text)?;
    let table = spec.table();
    if proxies && !matches!(table, CoherenceTable::Linked(_)) {
        return Err(config_error(format!(
            "{name}: {} has no proxies; say sdd{WITH_PROXIES}",
            spec.entry.name
        )));
    }
    let suffix = if proxies { WITH_PROXIES } else { "" };
    Ok((format!("{}{suffix}", spec.entry.name), table, proxies))
}

/// One row of the list of protocols with a directory.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProtocolRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// States of a cache controller, or of a page at a node.
    pub states: Vec<&'static str>,
    /// States of a home controller.
    pub home_states: Vec<&'static str>,
    /// Its parameters.
    pub parameters: &'static [ProtocolParameter],
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
            CoherenceTable::Linked(table) => {
                (names(table.copy.states()), names(table.home.states()))
            }
        };
        DirectoryProtocolRow {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            states,
            home_states,
            parameters: entry.params,
        }
    };
    homenode_directory::TABLE.iter().map(row).collect()
}
