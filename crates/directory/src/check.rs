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
