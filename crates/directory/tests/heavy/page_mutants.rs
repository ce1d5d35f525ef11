//! Every protocol of pages with every single change: the checker finds what is wrong.

use crate::changes::{changes, mutants};
use homenode_directory::{CoherenceTable, PagedTable, TABLE, check_pages};

#[test]
fn every_change_of_a_cell_of_pages_is_found() {
    for protocol in TABLE {
        let CoherenceTable::Pages(table) = (protocol.build)() else { continue };
        let mapping = changes("mapping", &table.mapping, true);
        let mapping = mutants(&table, mapping, |bug, mapping| bug.mapping = mapping);
        let release = changes("release", &table.release, true);
        let release = mutants(&table, release, |bug, release| bug.release = release);
        let home = mutants(&table, changes("home", &table.home, true), |bug, home| bug.home = home);
        let mutants: Vec<(String, PagedTable)> = mapping.chain(release).chain(home).collect();
        assert!(mutants.len() > 400);
        // All but a few are found in the fewest nodes.
        let survivors: Vec<&str> = mutants
            .iter()
            .filter(|(_, bug)| check_pages(bug, 2).findings.is_empty())
            .filter(|(_, bug)| check_pages(bug, 3).findings.is_empty())
            .map(|(what, _)| what.as_str())
            .collect();
        assert!(survivors.is_empty(), "of {}: {survivors:#?}", mutants.len());
    }
}
