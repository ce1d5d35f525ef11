//! The tables of a protocol with a directory as they are printed. The names of the fields are a
//! public contract (`docs/explain.md`).

mod lists;
mod pages;

use homenode_protocol::{Labelled, TableLabel};
use serde::Serialize;

use crate::table::{ControllerTable, DirectoryTable};
use crate::vocabulary::{
    CacheAction, CacheEvent, ControllerCell, CopyRole, HomeAction, HomeEvent, Message, MessageKind,
    Recipient, Sender,
};
pub(crate) use lists::COPY;

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
    fn sends(message: Message, to: &'static str) -> Self {
        Self::sends_name(message.name(), to)
    }

    /// Sends the message with this name.
    fn sends_name(message: &'static str, to: &'static str) -> Self {
        let whom = if to == "listed" { "all listed" } else { to };
        Self { text: format!("send {message} to {whom}"), message: Some(message), to: Some(to) }
    }

    pub(crate) fn does(text: &str) -> Self {
        Self { text: text.to_owned(), message: None, to: None }
    }
}

impl From<CacheAction> for SheetAction {
    fn from(action: CacheAction) -> Self {
        match action {
            CacheAction::Send(message, Recipient::Home) => Self::sends(message, "home"),
            CacheAction::Send(message, Recipient::Requester) => Self::sends(message, "requester"),
            CacheAction::Complete => Self::does("complete"),
        }
    }
}

impl From<HomeAction> for SheetAction {
    fn from(action: HomeAction) -> Self {
        match action {
            HomeAction::Reply(message) => Self::sends(message, "requester"),
            HomeAction::Forward(message) => Self::sends(message, "owner"),
            HomeAction::Invalidate => Self::sends(Message::Invalidate, "listed"),
            HomeAction::TakeData => Self::does("memory takes the data"),
            HomeAction::ListRequester => Self::does("list the requester"),
            HomeAction::ListOwner => Self::does("list the owner"),
            HomeAction::Own => Self::does("the requester owns it"),
            HomeAction::Disown => Self::does("nobody owns it"),
        }
    }
}

/// Cells of an event, each with its senders; no senders if all have the same cell.
type SenderCells<A, S> = Vec<(Vec<S>, ControllerCell<A, u8>)>;

impl DirectoryTable {
    /// The tables with names instead of numbers.
    ///
    /// ```
    /// use homenode_directory::DirectoryProtocol;
    /// let sheet = DirectoryProtocol::parse("dash")?.table().blocks().map(|table| table.sheet());
    /// let sheet = sheet.ok_or("dash is a protocol of blocks")?;
    /// let read = &sheet.controllers[0].cells[0];
    /// assert_eq!((read.state, read.event, read.next), ("I", "load", Some("IS")));
    /// assert_eq!(read.actions[0].text, "send read to home");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sheet(&self) -> DirectorySheet {
        let cache = |state, event| -> SenderCells<CacheAction, Sender> {
            vec![(Vec::new(), self.cache_cell(state, event))]
        };
        let home = |state, event| {
            let cells = Sender::ALL.iter().map(|&by| (by, self.home_cell(state, event, by)));
            by_sender(cells)
        };
        let role = |state| Some(self.role(state));
        let of_cache = SheetTitle { name: CACHE, title: "The controller of a cache" };
        let of_home = SheetTitle { name: HOME, title: "The controller of a block's home" };
        let cache = controller(of_cache, &self.cache, CacheEvent::ALL, &[], cache, role);
        let (events, senders) = (HomeEvent::ALL, Sender::ALL);
        let home = controller(of_home, &self.home, events, senders, home, |_| None);
        DirectorySheet { controllers: vec![cache, home], messages: self.messages() }
    }

    /// The messages that one of the controllers sends.
    fn messages(&self) -> Vec<SheetMessage> {
        let of_cache = self.cache.cells().iter().flat_map(does).map(|&action| action.into());
        let of_home = self.home.cells().iter().flat_map(does).map(|&action| action.into());
        let sent: Vec<SheetAction> = of_cache.chain(of_home).collect();
        let used = |message: &&Message| {
            sent.iter().any(|action: &SheetAction| action.message == Some(message.name()))
        };
        let sheet = |&message: &Message| SheetMessage {
            name: message.name(),
            meaning: message.meaning(),
            kind: MessageKind::name(message.kind()),
            carries_block: message.carries_block(),
        };
        Message::ALL.iter().filter(used).map(sheet).collect()
    }
}

fn does<A>(cell: &ControllerCell<A, u8>) -> &'static [A] {
    match cell {
        ControllerCell::Does(actions, _) => actions,
        ControllerCell::Waits | ControllerCell::Impossible(_) => &[],
    }
}

/// Merges senders with the same cell.
fn by_sender<A: Copy + PartialEq, S>(
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
struct SheetTitle {
    name: &'static str,
    title: &'static str,
}

fn controller<A: Copy + Into<SheetAction>, E: Labelled, S: Labelled>(
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

#[cfg(test)]
mod tests {
    use crate::protocol::{CoherenceTable, TABLE};

    #[test]
    fn every_cell_is_shown_once_for_each_sender() {
        for entry in TABLE {
            let sheet = match (entry.build)() {
                CoherenceTable::Blocks(table) => table.sheet(),
                CoherenceTable::Pages(table) => table.sheet(),
                CoherenceTable::Lists(table) => table.sheet(),
            };
            for controller in &sheet.controllers {
                for state in &controller.states {
                    for event in &controller.events {
                        let here = |cell: &&super::ControllerSheetCell| {
                            (cell.state, cell.event) == (state.name, event.name)
                        };
                        let cells: Vec<_> = controller.cells.iter().filter(here).collect();
                        let senders: usize = cells.iter().map(|cell| cell.senders.len()).sum();
                        let all = if cells.len() == 1 { 0 } else { controller.senders.len() };
                        assert_eq!(senders, all, "{} {}", state.name, event.name);
                        for cell in cells {
                            let does = cell.next.is_some();
                            let ways = [does, cell.waits, cell.never.is_some()];
                            assert_eq!(ways.iter().filter(|&&way| way).count(), 1, "{cell:?}");
                        }
                    }
                }
            }
        }
    }
}
