//! The model checker of page protocols: all interleavings of accesses, acquires, releases,
//! replacements and messages in two or three nodes with a page of one line of two words.
//!
//! Two words are enough to lose a write: two nodes may write different words of the line
//! concurrently. A line may be replaced at any time, which covers the effect of a second line; only
//! dirty lines are, because a clean line that stays is at least as old as one that is fetched
//! again. Messages arrive in any order, also those between the same two nodes. Replies of the home
//! to a cache arrive at once: a delay of the access, or of the message before it, has the same
//! effect.
//!
//! Guarantees to the program are expressed by knowledge: a node knows the last write of a word if
//! that write is ordered before the node's next operation, by program order or by a release and an
//! acquire. All releases and acquires use one lock, so that an acquire learns everything released:
//! a program with more locks learns less and is promised less, while its releases and acquires do
//! the same. Only a node that knows a word's last write may write the word, because otherwise the
//! program has a race; it may always read, but only known words are checked.

mod broken_promise;
mod controllers;
mod model;
mod situation;

use homenode_protocol::{Labelled, Search};

use crate::cell::ControllerCell;
use crate::finding::{DirectoryCheckReport, DirectoryFinding, first_fault, orders, unreached};
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{MappingEvent, PageHomeEvent, PageSender, ReleaseEvent};
use broken_promise::BrokenPagePromise;
use model::{PageCoverage, PageModel};
use situation::PAGED_NODES_MAX;

/// Fewest nodes with which every cell can be reached.
const NODES_OF_ALL_CELLS: usize = 3;

/// Explores a protocol with up to `nodes_max` nodes. It stops at the first broken invariant.
#[must_use]
pub fn check_pages(table: &PagedTable, nodes_max: usize) -> DirectoryCheckReport {
    let (mut happen, mut cells) = (0, 0);
    for_each_cell(table, |_, _, possible| {
        happen += usize::from(possible);
        cells += 1;
    });
    let states = [table.mapping.states(), table.release.states(), table.home.states()];
    let mut report = DirectoryCheckReport {
        nodes: nodes_max.min(PAGED_NODES_MAX),
        situations: 0,
        steps: 0,
        states: states.iter().map(|states| states.len()).sum(),
        cells: happen,
        impossible: cells - happen,
        findings: Vec::new(),
    };
    let mut coverage = PageCoverage::new(table);
    for nodes in 2..=report.nodes {
        let (coverage, orders) = (&mut coverage, orders(nodes));
        let mut search = Search::new(PageModel { table, coverage, nodes, orders });
        let fault = first_fault(&mut search, nodes, BrokenPagePromise::kind);
        (report.nodes, report.situations, report.steps) =
            (nodes, search.state_count(), search.step_count());
        if fault.is_some() {
            report.findings.extend(fault);
            return report;
        }
    }
    if report.nodes >= NODES_OF_ALL_CELLS {
        report.findings = gaps(table, &coverage);
    }
    report
}

/// One of the three controllers.
#[derive(Clone, Copy)]
enum PageController {
    Mapping,
    Release,
    Home,
}

/// Calls a function with the name of each cell, its position, and whether it is possible.
fn for_each_cell(table: &PagedTable, mut call: impl FnMut(&str, (PageController, usize), bool)) {
    for (state, label) in (0u8..).zip(table.mapping.states()) {
        for &event in MappingEvent::ALL {
            let possible =
                !matches!(table.mapping_cell(state, event), ControllerCell::Impossible(_));
            let name = format!("{} in state {} of a mapping", event.name(), label.name);
            let at = table.mapping_cell_index(state, event);
            call(&name, (PageController::Mapping, at), possible);
        }
    }
    for (state, label) in (0u8..).zip(table.release.states()) {
        for &event in ReleaseEvent::ALL {
            let possible =
                !matches!(table.release_cell(state, event), ControllerCell::Impossible(_));
            let name = format!("{} in state {} of a release", event.name(), label.name);
            let at = table.release_cell_index(state, event);
            call(&name, (PageController::Release, at), possible);
        }
    }
    for (state, label) in (0u8..).zip(table.home.states()) {
        for &event in PageHomeEvent::ALL {
            for &sender in PageSender::ALL {
                let cell = table.home_cell(state, event, sender);
                let possible = !matches!(cell, ControllerCell::Impossible(_));
                let (event_name, by) = (event.name(), sender.name());
                let name = format!("{event_name} by {by} in state {} of a home", label.name);
                let at = table.home_cell_index(state, event, sender);
                call(&name, (PageController::Home, at), possible);
            }
        }
    }
}

/// Possible cells that were not reached.
fn gaps(table: &PagedTable, coverage: &PageCoverage) -> Vec<DirectoryFinding> {
    let mut findings = Vec::new();
    for_each_cell(table, |name, (controller, at), possible| {
        let reached = match controller {
            PageController::Mapping => coverage.mapping[at],
            PageController::Release => coverage.release[at],
            PageController::Home => coverage.home[at],
        };
        if possible && !reached {
            findings.push(unreached(name, PAGED_NODES_MAX));
        }
    });
    findings
}
