//! Tables with one change.

use std::fmt::Debug;

use homenode_directory::{ControllerCell, ControllerTable};
use homenode_protocol::Labelled;

/// The cells that differ from this one by the next state, or by an action that is left out; or by
/// which something that has to wait is done at once, without an action.
fn changed<A: Copy>(cell: ControllerCell<A>, state: u8, states: u8) -> Vec<ControllerCell<A>> {
    let (actions, next) = match cell {
        ControllerCell::Does(actions, next) => (actions, next),
        ControllerCell::Waits => return vec![ControllerCell::Does(&[], state)],
        ControllerCell::Impossible(_) => return Vec::new(),
    };
    let others = (0..states).filter(|&state| state != next);
    let mut cells: Vec<_> = others.map(|state| ControllerCell::Does(actions, state)).collect();
    for left_out in 0..actions.len() {
        let mut rest = actions.to_vec();
        rest.remove(left_out);
        cells.push(ControllerCell::Does(rest.leak(), next));
    }
    cells
}

/// Every table of a controller with one change, in words. What has to wait is done at once in some
/// of them if it may be `hurried`.
pub fn changes<E: Labelled, B: Labelled, A: Copy + Debug + PartialEq>(
    name: &str,
    table: &ControllerTable<E, B, A>,
    hurried: bool,
) -> Vec<(String, ControllerTable<E, B, A>)> {
    let mut all = Vec::new();
    let states = table.states();
    for (state, label) in (0u8..).zip(states) {
        for &event in E::ALL {
            for &by in B::ALL {
                let cell = table.cell_by(state, event, by);
                if cell == ControllerCell::Waits && !hurried {
                    continue;
                }
                for cell in changed(cell, state, u8::try_from(states.len()).unwrap()) {
                    let mut bug = table.clone();
                    bug.set_cell_by(state, event, by, cell);
                    let by = Some(by.name()).filter(|_| B::ALL.len() > 1);
                    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
                    let what = format!("{name} {}: {}{by}: {cell:?}", label.name, event.name());
                    all.push((what, bug));
                }
            }
        }
    }
    all
}

/// A protocol's tables with these changes of one controller.
pub fn mutants<T: Clone, C>(
    table: &T,
    changes: Vec<(String, C)>,
    set: impl Fn(&mut T, C),
) -> impl Iterator<Item = (String, T)> {
    changes.into_iter().map(move |(what, changed)| {
        let mut bug = table.clone();
        set(&mut bug, changed);
        (what, bug)
    })
}
