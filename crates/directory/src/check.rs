//! The model checker, for any protocol.

use crate::dash::check_blocks;
use crate::finding::DirectoryCheckReport;
use crate::linked::check_linked;
use crate::lrc::check_pages;
use crate::protocol::CoherenceTable;

/// Explores a protocol with up to `nodes_max` nodes.
#[must_use]
pub fn check(table: &CoherenceTable, nodes_max: usize) -> DirectoryCheckReport {
    match table {
        CoherenceTable::Blocks(table) => check_blocks(table, nodes_max),
        CoherenceTable::Pages(table) => check_pages(table, nodes_max),
        CoherenceTable::Linked(table) => check_linked(table, false, nodes_max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_keeps_its_invariants_in_two_nodes() {
        // `tests/heavy` has three.
        let nodes = 2;
        for protocol in crate::TABLE {
            let report = check(&(protocol.build)(), nodes);
            let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            assert!(found.is_empty(), "{}: {report:?}\n{}", protocol.name, found.join("\n"));
            assert_eq!(report.nodes, nodes);
        }
    }
}
