//! The tables of a protocol with a directory as they are printed. The names of the fields are a
//! public contract (`docs/explain.md`).

use homenode_protocol::{Labelled, TableLabel};
use serde::Serialize;

use crate::cell::{ControllerCell, ControllerTable, CopyRole, is_any};
use crate::counts::CountedMessage;

/// What walks call the controller of a cache.
pub(crate) const CACHE: &str = "cache";
/// What walks call the controller of a node's copies.
pub(crate) const COPY: &str = "copy";
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
    pub(crate) fn sends(message: impl Labelled, to: &'static str) -> Self {
        Self::sends_with(message, to, "")
    }

    /// Sends a message; `more` follows the receiver in the text.
    pub(crate) fn sends_with(message: impl Labelled, to: &'static str, more: &str) -> Self {
        let name = message.name();
        let whom = match to {
            "listed" => "all listed",
            "behind" => "the copy behind",
            to => to,
        };
        Self { text: format!("send {name} to {whom}{more}"), message: Some(name), to: Some(to) }
    }

    pub(crate) fn does(text: &str) -> Self {
        Self { text: text.to_owned(), message: None, to: None }
    }
}

impl DirectorySheet {
    /// The tables of controllers, and of the messages those that a controller sends, or that are in
    /// `besides`.
    pub(crate) fn new<M: CountedMessage>(
        controllers: Vec<ControllerSheet>,
        besides: &[M],
        carries_block: fn(M) -> bool,
    ) -> Self {
        let actions = || controllers.iter().flat_map(|it| &it.cells).flat_map(|it| &it.actions);
        let sent = |name| actions().any(|action| action.message == Some(name));
        let used = |message: &&M| besides.contains(message) || sent(message.name());
        let sheet = |&message: &M| {
            let TableLabel { name, meaning } = message.label();
            let (kind, carries_block) = (message.kind(), carries_block(message));
            SheetMessage { name, meaning, kind, carries_block }
        };
        let messages = M::ALL.iter().filter(used).map(sheet).collect();
        Self { controllers, messages }
    }
}

impl<E: Labelled, B: Labelled, A: Copy + PartialEq + Into<SheetAction>> ControllerTable<E, B, A> {
    /// The table with names instead of numbers.
    pub(crate) fn sheet(
        &self,
        title: &'static str,
        role: impl Fn(u8) -> Option<CopyRole>,
    ) -> ControllerSheet {
        let possible = |&event: &E| {
            let mut cells = self.described();
            cells.any(|(_, of, possible)| of == event && possible)
        };
        let events: Vec<E> = E::ALL.iter().copied().filter(possible).collect();
        let state = |number| {
            let (TableLabel { name, meaning }, role) =
                (self.states()[usize::from(number)], role(number));
            ControllerState { name, meaning, role, rests: self.rests(number) }
        };
        let each = self.state_numbers().flat_map(|state| events.iter().map(move |&it| (state, it)));
        let senders = if is_any::<B>() { &[] } else { B::ALL };
        ControllerSheet {
            name: self.name,
            title,
            states: self.state_numbers().map(state).collect(),
            cells: each.flat_map(|(state, event)| self.cells_of(state, event)).collect(),
            events: events.iter().map(|event| event.label()).collect(),
            senders: senders.iter().map(|sender| sender.label()).collect(),
        }
    }

    /// The cells of an event: senders with the same cell are merged, and not named if all have it.
    fn cells_of(&self, state: u8, event: E) -> Vec<ControllerSheetCell> {
        let mut groups: Vec<(Vec<&'static str>, ControllerCell<A>)> = Vec::new();
        for &by in B::ALL {
            let cell = self.cell_by(state, event, by);
            match groups.iter_mut().find(|(_, other)| *other == cell) {
                Some((senders, _)) => senders.push(by.name()),
                None => groups.push((vec![by.name()], cell)),
            }
        }
        if let [(senders, _)] = &mut groups[..] {
            senders.clear();
        }
        groups.into_iter().map(|(senders, cell)| self.shown(state, event, senders, cell)).collect()
    }

    fn shown(
        &self,
        state: u8,
        event: E,
        senders: Vec<&'static str>,
        cell: ControllerCell<A>,
    ) -> ControllerSheetCell {
        let (actions, next, waits, never) = match cell {
            ControllerCell::Does(actions, next) => (actions, Some(self.name(next)), false, None),
            ControllerCell::Waits => (&[][..], None, true, None),
            ControllerCell::Impossible(why) => (&[][..], None, false, Some(why)),
        };
        let (state, event) = (self.name(state), event.name());
        let actions = actions.iter().map(|&action| action.into()).collect();
        ControllerSheetCell { state, event, senders, actions, next, waits, never }
    }
}
