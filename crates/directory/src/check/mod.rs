//! The model checker: every order of operations and messages in two to four nodes with one block.
//! Protocols of pages have a model of their own (`pages/`).
//!
//! The search is breadth first and begins with two nodes, so the first broken promise it meets is
//! one of the shortest, with the fewest nodes. It reads the same [`DirectoryTable`] that the
//! simulators follow. Messages arrive in any order, also those between the same two nodes. A copy
//! may be replaced at any time, which is all that a second block could bring about: two blocks meet
//! only in the frames that they take from each other.
//!
//! Node 0 is the home. Data are abstracted to whether they are what was written last.

mod broken_promise;
mod model;
mod pages;
mod situation;

use homenode_protocol::{Labelled, ProtocolFinding, Search};
use serde::Serialize;

pub use broken_promise::DirectoryFindingKind;
pub use pages::check_pages;
pub use situation::NODES_MAX;

use crate::protocol::CoherenceTable;
use crate::table::DirectoryTable;
use crate::vocabulary::{CacheEvent, ControllerCell, HomeEvent, Sender};
use model::{DirectoryCoverage, DirectoryModel};

/// Something wrong with a protocol of a directory.
pub type DirectoryFinding = ProtocolFinding<DirectoryFindingKind>;

/// Nodes from which on every cell can be reached: a home, an owner and a requester. With fewer of
/// them a cell that nothing leads to is no finding.
const NODES_OF_ALL_CELLS: usize = 3;

/// What was explored and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryCheckReport {
    /// Most nodes explored.
    pub nodes: usize,
    /// Distinct situations with so many nodes.
    pub situations: usize,
    /// Steps tried in them.
    pub steps: usize,
    /// States of all controllers: a cache's or a node's, and a home's.
    pub states: usize,
    /// Cells of all tables that happen; each was reached unless a finding says otherwise.
    pub cells: usize,
    /// Cells that are declared impossible.
    pub impossible: usize,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<DirectoryFinding>,
}

/// Explores a protocol with up to so many nodes.
#[must_use]
pub fn check(table: &CoherenceTable, nodes_max: usize) -> DirectoryCheckReport {
    match table {
        CoherenceTable::Blocks(table) => check_blocks(table, nodes_max),
        CoherenceTable::Pages(table) => check_pages(table, nodes_max),
        CoherenceTable::Lists(_) => todo!(),
    }
}

/// Explores a protocol of blocks with up to so many nodes. After a broken promise it stops: what
/// follows from it is of no interest.
#[must_use]
pub fn check_blocks(table: &DirectoryTable, nodes_max: usize) -> DirectoryCheckReport {
    let (happen, impossible) = cells(table);
    let mut report = DirectoryCheckReport {
        nodes: nodes_max.min(NODES_MAX),
        situations: 0,
        steps: 0,
        states: table.cache.states().len() + table.home.states().len(),
        cells: happen,
        impossible,
        findings: Vec::new(),
    };
    let mut coverage = DirectoryCoverage::new(table);
    for nodes in 2..=report.nodes {
        // One list for all, and one that is too short for more than one node.
        for pointers in [1, u32::MAX] {
            let model = DirectoryModel { table, coverage: &mut coverage, nodes, pointers };
            let mut search = Search::new(model);
            let explored = search.explore();
            (report.nodes, report.situations, report.steps) =
                (nodes, search.state_count(), search.step_count());
            if let Err(broken) = explored {
                report.findings.push(DirectoryFinding {
                    kind: broken.fault.kind(),
                    message: broken.fault.to_string(),
                    steps: search.tell(&broken.steps),
                    caches: nodes,
                });
                return report;
            }
            if let Some(steps) = search.stuck() {
                report.findings.push(DirectoryFinding {
                    kind: DirectoryFindingKind::Deadlock,
                    message: "from here somebody waits for ever".to_owned(),
                    steps: search.tell(&steps),
                    caches: nodes,
                });
                return report;
            }
        }
    }
    if report.nodes >= NODES_OF_ALL_CELLS {
        report.findings = gaps(table, &coverage);
    }
    report
}

/// Cells that happen and those that never do.
fn cells(table: &DirectoryTable) -> (usize, usize) {
    let mut happen = 0;
    for_each_cell(table, |_, _, possible| happen += usize::from(possible));
    (happen, table.cache.cell_count() + table.home.cell_count() - happen)
}

/// Calls a function with the name of each cell, its position (at home or not), and whether it may
/// happen.
fn for_each_cell(table: &DirectoryTable, mut call: impl FnMut(&str, (bool, usize), bool)) {
    for (state, label) in (0u8..).zip(table.cache.states()) {
        for &event in CacheEvent::ALL {
            let cell = table.cache_cell(state, event);
            let name = format!("{} in state {} of a cache", event.name(), label.name);
            let possible = !matches!(cell, ControllerCell::Impossible(_));
            call(&name, (false, table.cache_cell_index(state, event)), possible);
        }
    }
    for (state, label) in (0u8..).zip(table.home.states()) {
        for &event in HomeEvent::ALL {
            for &sender in Sender::ALL {
                let cell = table.home_cell(state, event, sender);
                let (event_name, by) = (event.name(), sender.name());
                let name = format!("{event_name} by {by} in state {} of a home", label.name);
                let possible = !matches!(cell, ControllerCell::Impossible(_));
                call(&name, (true, table.home_cell_index(state, event, sender)), possible);
            }
        }
    }
}

/// Cells that nothing leads to.
fn gaps(table: &DirectoryTable, coverage: &DirectoryCoverage) -> Vec<DirectoryFinding> {
    let mut findings = Vec::new();
    for_each_cell(table, |name, (at_home, index), possible| {
        let cells = if at_home { &coverage.home_cells } else { &coverage.cache_cells };
        if possible && !cells[index] {
            findings.push(DirectoryFinding {
                kind: DirectoryFindingKind::Unreached,
                message: format!("{name} never happens: declare it so"),
                steps: Vec::new(),
                caches: NODES_MAX,
            });
        }
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_keeps_its_promises() {
        for protocol in crate::TABLE {
            for nodes in [2, 3] {
                let report = check(&(protocol.build)(), nodes);
                let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
                assert!(found.is_empty(), "{}: {report:?}\n{}", protocol.name, found.join("\n"));
                assert_eq!(report.nodes, nodes);
            }
        }
    }
}
