//! The model checker of block protocols: all interleavings of operations and messages in two to
//! four nodes with one block.
//!
//! The search is breadth first and begins with two nodes, so the first broken invariant is one of
//! the shortest, with the fewest nodes. It reads the same [`DirectoryTable`] that the
//! simulators follow. Messages arrive in any order, also those between the same two nodes. A copy
//! may be replaced at any time, which covers the effect of a second block: blocks interact only
//! through replacement.
//!
//! Node 0 is the home. Data are abstracted to whether they are the last write.

mod model;
mod situation;

use crate::dash::table::DirectoryTable;
use crate::finding::{DirectoryCheckReport, NODES_MAX, ReachedTable};
use model::{DirectoryCoverage, DirectoryModel};

/// Fewest nodes with which every cell can be reached: a home, an owner and a requester. With fewer,
/// an unreached cell is no finding.
const NODES_OF_ALL_CELLS: usize = 3;

/// Explores a block protocol with up to `nodes_max` nodes. It stops at the first broken invariant.
#[must_use]
pub fn check_blocks(table: &DirectoryTable, nodes_max: usize) -> DirectoryCheckReport {
    let report = DirectoryCheckReport::new(nodes_max.min(NODES_MAX));
    let mut report = report.with(&table.cache).with(&table.home);
    let (cache, home) = (ReachedTable::new(&table.cache), ReachedTable::new(&table.home));
    let mut coverage = DirectoryCoverage { cache, home };
    for nodes in 2..=report.nodes {
        // A list for all nodes, and one for a single node.
        for pointers in [1, u32::MAX] {
            report.begin(nodes);
            let model = DirectoryModel { table, coverage: &mut coverage, nodes, pointers };
            if !report.explore(model, nodes) {
                return report;
            }
        }
    }
    if report.nodes >= NODES_OF_ALL_CELLS {
        report.findings = coverage.cache.gaps(NODES_MAX, |_| true);
        report.findings.extend(coverage.home.gaps(NODES_MAX, |_| true));
    }
    report
}
