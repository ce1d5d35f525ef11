//! Every protocol of blocks with every single change: the checker finds what is wrong.

use crate::changes::{changes, mutants};
use homenode_directory::{DirectoryTable, TABLE, check_blocks};

/// Changes that break no promise: a copy that goes, and a load that waits, although they need not;
/// a home that believes that there may be copies where there are none.
const HARMLESS: &[&str] = &[
    "cache S: load: Does([Complete], 0)",
    "cache SM: load: Does([], 6)",
    "home dirty: write-back by owner: Does([TakeData, Disown], 1)",
    "home write forwarded, returned: ownership transfer by owner: Does([Disown], 1)",
];

#[test]
fn every_change_of_a_cell_is_found() {
    for table in TABLE.iter().filter_map(|protocol| (protocol.build)().blocks()) {
        let cache =
            mutants(&table, changes("cache", &table.cache, false), |bug, cache| bug.cache = cache);
        let home =
            mutants(&table, changes("home", &table.home, false), |bug, home| bug.home = home);
        let mutants: Vec<(String, DirectoryTable)> = cache.chain(home).collect();
        assert!(mutants.len() > 100);
        let survivors: Vec<&str> = mutants
            .iter()
            .filter(|(_, bug)| check_blocks(bug, 3).findings.is_empty())
            .map(|(what, _)| what.as_str())
            .collect();
        assert_eq!(survivors, HARMLESS, "of {}", mutants.len());
    }
}
