//! Every protocol of blocks with every single change: the checker finds what is wrong.

use homenode_directory::{
    CacheEvent, ControllerCell, DirectoryTable, HomeEvent, Sender, TABLE, check_blocks,
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

/// Every table with one change, in words.
fn mutants(table: &DirectoryTable) -> Vec<(String, DirectoryTable)> {
    let mut mutants = Vec::new();
    let states = table.cache.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in CacheEvent::ALL {
            for cell in changed(table.cache.cell(state, event), states.len()) {
                let mut bug = table.clone();
                bug.cache.set_cell(state, event, cell);
                mutants.push((format!("cache {} {}: {cell:?}", label.name, event.name()), bug));
            }
        }
    }
    let states = table.home.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in HomeEvent::ALL {
            for &sender in Sender::ALL {
                for cell in changed(table.home.cell_by(state, event, sender), states.len()) {
                    let mut bug = table.clone();
                    bug.home.set_cell_by(state, event, sender, cell);
                    let what = format!("{} by {}", event.name(), sender.name());
                    mutants.push((format!("home {} {what}: {cell:?}", label.name), bug));
                }
            }
        }
    }
    mutants
}

/// Changes that break no promise: a copy that goes, and a load that waits, although they need not;
/// a home that believes that there may be copies where there are none.
const HARMLESS: &[&str] = &[
    "cache S load: Does([Complete], 0)",
    "cache SM load: Does([], 6)",
    "home dirty write-back by owner: Does([TakeData, Disown], 1)",
    "home write forwarded, returned ownership transfer by owner: Does([Disown], 1)",
];

#[test]
fn every_change_of_a_cell_is_found() {
    for table in TABLE.iter().filter_map(|protocol| (protocol.build)().blocks()) {
        let mutants = mutants(&table);
        assert!(mutants.len() > 100);
        let survivors: Vec<&str> = mutants
            .iter()
            .filter(|(_, bug)| check_blocks(bug, 3).findings.is_empty())
            .map(|(what, _)| what.as_str())
            .collect();
        assert_eq!(survivors, HARMLESS, "of {}", mutants.len());
    }
}
