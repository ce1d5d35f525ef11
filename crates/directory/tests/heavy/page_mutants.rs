//! Every protocol of pages with every single change: the checker finds what is wrong.

use homenode_directory::{
    CoherenceTable, ControllerCell, MappingEvent, PageHomeEvent, PageSender, PagedTable,
    ReleaseEvent, TABLE, check_pages,
};
use homenode_protocol::Labelled;

/// The cells that differ from this one by the next state, or by an action that is left out.
fn changed<A: Copy>(cell: ControllerCell<A, u8>, states: usize) -> Vec<ControllerCell<A, u8>> {
    let ControllerCell::Does(actions, next) = cell else { return Vec::new() };
    let others = (0..u8::try_from(states).unwrap()).filter(|&state| state != next);
    let mut cells: Vec<_> = others.map(|state| ControllerCell::Does(actions, state)).collect();
    for left_out in 0..actions.len() {
        let mut rest = actions.to_vec();
        rest.remove(left_out);
        cells.push(ControllerCell::Does(rest.leak(), next));
    }
    cells
}

/// The same for a cell in which something waits: it is done at once, without an action.
fn hurried<A>(cell: ControllerCell<A, u8>, state: u8) -> Vec<ControllerCell<A, u8>> {
    match cell {
        ControllerCell::Waits => vec![ControllerCell::Does(&[], state)],
        ControllerCell::Does(..) | ControllerCell::Impossible(_) => Vec::new(),
    }
}

/// Every table with one change, in words.
fn mutants(table: &PagedTable) -> Vec<(String, PagedTable)> {
    let mut mutants = Vec::new();
    let states = table.mapping.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in MappingEvent::ALL {
            let cell = table.mapping.cell(state, event);
            for cell in [changed(cell, states.len()), hurried(cell, state)].concat() {
                let mut bug = table.clone();
                bug.mapping.set_cell(state, event, cell);
                mutants.push((format!("mapping {}: {}: {cell:?}", label.name, event.name()), bug));
            }
        }
    }
    let states = table.release.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in ReleaseEvent::ALL {
            for cell in changed(table.release.cell(state, event), states.len()) {
                let mut bug = table.clone();
                bug.release.set_cell(state, event, cell);
                mutants.push((format!("release {}: {}: {cell:?}", label.name, event.name()), bug));
            }
        }
    }
    let states = table.home.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in PageHomeEvent::ALL {
            for &sender in PageSender::ALL {
                let cell = table.home.cell_by(state, event, sender);
                for cell in [changed(cell, states.len()), hurried(cell, state)].concat() {
                    let mut bug = table.clone();
                    bug.home.set_cell_by(state, event, sender, cell);
                    let what = format!("{} by {}", event.name(), sender.name());
                    mutants.push((format!("home {}: {what}: {cell:?}", label.name), bug));
                }
            }
        }
    }
    mutants
}

#[test]
fn every_change_of_a_cell_of_pages_is_found() {
    for protocol in TABLE {
        let CoherenceTable::Pages(table) = (protocol.build)() else { continue };
        let mutants = mutants(&table);
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
