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

mod broken_promise;
mod model;
mod situation;

use homenode_protocol::{Labelled, Search};

use crate::cell::ControllerCell;
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::{CacheEvent, HomeEvent, Sender};
use crate::finding::{DirectoryCheckReport, DirectoryFinding, NODES_MAX, first_fault, unreached};
use broken_promise::BrokenDirectoryPromise;
use model::{DirectoryCoverage, DirectoryModel};

/// Fewest nodes with which every cell can be reached: a home, an owner and a requester. With fewer,
/// an unreached cell is no finding.
const NODES_OF_ALL_CELLS: usize = 3;

/// Explores a block protocol with up to `nodes_max` nodes. It stops at the first broken invariant.
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
        // A list for all nodes, and one for a single node.
        for pointers in [1, u32::MAX] {
            let model = DirectoryModel { table, coverage: &mut coverage, nodes, pointers };
            let mut search = Search::new(model);
            let fault = first_fault(&mut search, nodes, BrokenDirectoryPromise::kind);
            (report.nodes, report.situations, report.steps) =
                (nodes, search.state_count(), search.step_count());
            if fault.is_some() {
                report.findings.extend(fault);
                return report;
            }
        }
    }
    if report.nodes >= NODES_OF_ALL_CELLS {
        report.findings = gaps(table, &coverage);
    }
    report
}

/// Numbers of possible and impossible cells.
fn cells(table: &DirectoryTable) -> (usize, usize) {
    let mut happen = 0;
    for_each_cell(table, |_, _, possible| happen += usize::from(possible));
    (happen, table.cache.cell_count() + table.home.cell_count() - happen)
}

/// Calls a function with the name of each cell, its position (at home or not), and whether it is
/// possible.
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

/// Possible cells that were not reached.
fn gaps(table: &DirectoryTable, coverage: &DirectoryCoverage) -> Vec<DirectoryFinding> {
    let mut findings = Vec::new();
    for_each_cell(table, |name, (at_home, index), possible| {
        let cells = if at_home { &coverage.home_cells } else { &coverage.cache_cells };
        if possible && !cells[index] {
            findings.push(unreached(name, NODES_MAX));
        }
    });
    findings
}
