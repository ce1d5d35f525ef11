//! The tables of a protocol with a directory as they are printed. The names of the fields are a
//! public contract (`docs/explain.md`).

use homenode_protocol::{Labelled, TableLabel};
use serde::Serialize;

use crate::cell::{ControllerCell, ControllerTable, CopyRole};

/// What walks call the controller of a cache.
pub(crate) const CACHE: &str = "cache";
/// What walks call the controller of the home of a block or page.
pub(crate) const HOME: &str = "home";
/// What walks call the mapping of a page at a node.
pub(crate) const MAPPING: &str = "mapping";
/// What walks call what a node owes for what it wrote to a page.
pub(crate) const RELEASE: &str = "release";

/// The tables of all controllers, with names instead of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectorySheet {
    /// The controllers; the first one has the states of copies.
    pub controllers: Vec<ControllerSheet>,
    /// The messages that they send.
    pub messages: Vec<SheetMessage>,
}

/// The table of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerSheet {
    /// What walks call it.
    pub name: &'static str,
    /// Whose controller it is.
    pub title: &'static str,
    /// Its states, that without a copy first.
    pub states: Vec<ControllerState>,
    /// Its events, without those impossible in every state.
    pub events: Vec<TableLabel>,
    /// Possible senders, if they matter.
    pub senders: Vec<TableLabel>,
    /// The cells of each state and event; senders with the same cell are merged.
    pub cells: Vec<ControllerSheetCell>,
}

/// A state of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerState {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Its role; none for a home's controller.
    pub role: Option<CopyRole>,
    /// Whether no transaction is in progress.
    pub rests: bool,
}

/// A cell of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerSheetCell {
    /// The state.
    pub state: &'static str,
    /// The event.
    pub event: &'static str,
    /// The senders, if they matter.
    pub senders: Vec<&'static str>,
    /// Its actions.
    pub actions: Vec<SheetAction>,
    /// The next state, if it does something.
    pub next: Option<&'static str>,
    /// Whether the event waits for a change of state.
    pub waits: bool,
    /// Why this is impossible, if it is.
    pub never: Option<&'static str>,
}

/// An action of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetAction {
    /// In words.
    pub text: String,
    /// The message, if it sends one.
    pub message: Option<&'static str>,
    /// The receiver: `home`, `requester`, `owner`, `releaser`, or `listed`, which is all listed
    /// nodes except the requester; in a linked-list protocol also `sender`, `head`, `behind`, the
    /// node with the copy behind this one, and `client`.
    pub to: Option<&'static str>,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetMessage {
    /// What tables print.
    pub name: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// What it is counted as.
    pub kind: &'static str,
    /// Whether it carries the block.
    pub carries_block: bool,
}

impl SheetAction {
    /// Sends the message with this name.
    pub(crate) fn sends_name(message: &'static str, to: &'static str) -> Self {
        let whom = if to == "listed" { "all listed" } else { to };
        Self { text: format!("send {message} to {whom}"), message: Some(message), to: Some(to) }
    }

    pub(crate) fn does(text: &str) -> Self {
        Self { text: text.to_owned(), message: None, to: None }
    }
}

/// Cells of an event, each with its senders; no senders if all have the same cell.
pub(crate) type SenderCells<A, S> = Vec<(Vec<S>, ControllerCell<A, u8>)>;

pub(crate) fn does<A>(cell: &ControllerCell<A, u8>) -> &'static [A] {
    match cell {
        ControllerCell::Does(actions, _) => actions,
        ControllerCell::Waits | ControllerCell::Impossible(_) => &[],
    }
}

/// Merges senders with the same cell.
pub(crate) fn by_sender<A: Copy + PartialEq, S>(
    cells: impl Iterator<Item = (S, ControllerCell<A, u8>)>,
) -> SenderCells<A, S> {
    let mut groups: SenderCells<A, S> = Vec::new();
    for (sender, cell) in cells {
        match groups.iter_mut().find(|(_, other)| *other == cell) {
            Some((senders, _)) => senders.push(sender),
            None => groups.push((vec![sender], cell)),
        }
    }
    if let [(senders, _)] = &mut groups[..] {
        senders.clear();
    }
    groups
}

/// Names of a controller.
pub(crate) struct SheetTitle {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
}

pub(crate) fn controller<A: Copy + Into<SheetAction>, E: Labelled, S: Labelled>(
    title: SheetTitle,
    table: &ControllerTable<A>,
    events: &[E],
    senders: &[S],
    cells: impl Fn(u8, E) -> SenderCells<A, S>,
    role: impl Fn(u8) -> Option<CopyRole>,
) -> ControllerSheet {
    let SheetTitle { name, title } = title;
    let states = || (0u8..).zip(table.states());
    let never = |cell: &ControllerCell<A, u8>| matches!(cell, ControllerCell::Impossible(_));
    let happens = |&&event: &&E| {
        states().any(|(state, _)| !cells(state, event).iter().all(|(_, cell)| never(cell)))
    };
    let events: Vec<E> = events.iter().filter(happens).copied().collect();
    let mut sheet = ControllerSheet {
        name,
        title,
        states: Vec::new(),
        events: events.iter().map(|event| event.label()).collect(),
        senders: senders.iter().map(|sender| sender.label()).collect(),
        cells: Vec::new(),
    };
    for (state, &TableLabel { name, meaning }) in states() {
        let (role, rests) = (role(state), table.rests(state));
        sheet.states.push(ControllerState { name, meaning, role, rests });
        for &event in &events {
            let all = cells(state, event).into_iter();
            sheet.cells.extend(all.map(|(senders, cell)| {
                let senders = senders.into_iter().map(S::name).collect();
                shown(table, name, event.name(), senders, cell)
            }));
        }
    }
    sheet
}

fn shown<A: Copy + Into<SheetAction>>(
    table: &ControllerTable<A>,
    state: &'static str,
    event: &'static str,
    senders: Vec<&'static str>,
    cell: ControllerCell<A, u8>,
) -> ControllerSheetCell {
    let (actions, next, waits, never) = match cell {
        ControllerCell::Does(actions, next) => (actions, Some(table.name(next)), false, None),
        ControllerCell::Waits => (&[][..], None, true, None),
        ControllerCell::Impossible(why) => (&[][..], None, false, Some(why)),
    };
    let actions = actions.iter().map(|&action| action.into()).collect();
    ControllerSheetCell { state, event, senders, actions, next, waits, never }
}
