//! The model checker of page protocols: all interleavings of accesses, acquires, releases,
//! replacements and messages in two or three nodes with a page of one line of two words.
//!
//! Two words are enough to lose a write: two nodes may write different words of the line
//! concurrently. A line may be replaced at any time, which covers the effect of a second line; only
//! dirty lines are, because a clean line that stays is at least as old as one that is fetched
//! again. Messages arrive in any order, also those between the same two nodes. Lines arrive at
//! once, and so do acknowledgements of write-backs where releases wait for them: a delay of the
//! access, or of the message before it, has the same effect.
//!
//! Guarantees to the program are expressed by knowledge: a node knows the last write of a word if
//! that write is ordered before the node's next operation, by program order or by a release and an
//! acquire. All releases and acquires use one lock, so that an acquire learns everything released:
//! a program with more locks learns less and is promised less, while its releases and acquires do
//! the same. Only a node that knows a word's last write may write the word, because otherwise the
//! program has a race; it may always read, but only known words are checked.

mod controllers;
mod model;
mod situation;

use crate::finding::{DirectoryCheckReport, ReachedTable, orders};
use crate::lrc::table::PagedTable;
use model::{PageCoverage, PageModel};
use situation::PAGED_NODES_MAX;

/// Fewest nodes with which every cell can be reached.
const NODES_OF_ALL_CELLS: usize = 3;

/// Explores a protocol with up to `nodes_max` nodes. It stops at the first broken invariant.
#[must_use]
pub fn check_pages(table: &PagedTable, nodes_max: usize) -> DirectoryCheckReport {
    let report = DirectoryCheckReport::new(nodes_max.min(PAGED_NODES_MAX));
    let mut report = report.with(&table.mapping).with(&table.release).with(&table.home);
    let mut coverage = PageCoverage {
        mapping: ReachedTable::new(&table.mapping),
        release: ReachedTable::new(&table.release),
        home: ReachedTable::new(&table.home),
    };
    for nodes in 2..=report.nodes {
        report.begin(nodes);
        let (coverage, orders) = (&mut coverage, orders(nodes));
        if !report.explore(PageModel { table, coverage, nodes, orders }, nodes) {
            return report;
        }
    }
    if report.nodes >= NODES_OF_ALL_CELLS {
        report.findings = coverage.mapping.gaps(PAGED_NODES_MAX, |_| true);
        report.findings.extend(coverage.release.gaps(PAGED_NODES_MAX, |_| true));
        report.findings.extend(coverage.home.gaps(PAGED_NODES_MAX, |_| true));
    }
    report
}
