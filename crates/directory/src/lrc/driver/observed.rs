//! Log of the table cells used, kept for walks only. The simulation does not depend on it.

use super::PageDriver;
use crate::acts::{ActCause, ControllerAct, PageEntry, UsedCell, WalkMessage};
use crate::cell::{AnySender, ControllerCell};
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{MappingEvent, PageHomeEvent, PageMessage};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedPageMessage {
    /// Its kind; none for a page that moves, and the request for it.
    pub(crate) message: Option<PageMessage>,
    /// Sender and receiver.
    pub(crate) ends: (u16, u16),
    /// The line, if it is about one.
    pub(crate) block: Option<u64>,
}

impl ObservedPageMessage {
    fn named(&self) -> WalkMessage {
        let (from, to) = self.ends;
        // A page that moves is sent as a line is.
        let named = WalkMessage::new(self.message.unwrap_or(PageMessage::Line), from, to);
        if self.message.is_some() { named } else { WalkMessage { name: PAGE, kind: PAGE, ..named } }
    }
}

/// The name of a page that moves, and of the request for it. Neither is counted as a message.
pub(crate) const PAGE: &str = "page";

/// An act on a page, whose home the driver does not know.
#[derive(Clone, Debug)]
pub(crate) struct LoggedPageAct {
    pub(crate) page: u32,
    /// The line, if it is about one.
    pub(crate) line: Option<u64>,
    pub(crate) act: ControllerAct<PageEntry>,
}

/// Acts, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageLog {
    pub(crate) acts: Vec<LoggedPageAct>,
    /// A message that has arrived and is not handled yet.
    arrived: Option<ObservedPageMessage>,
}

impl PageDriver {
    pub(crate) fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// Actions since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<LoggedPageAct> {
        self.log.as_mut().map(|log| std::mem::take(&mut log.acts)).unwrap_or_default()
    }

    /// A message arrives; its action follows.
    pub(crate) fn observe_arrival(&mut self, arrived: ObservedPageMessage) {
        if let Some(log) = &mut self.log {
            log.arrived = Some(arrived);
        }
    }

    /// The message has to wait, and will arrive again.
    pub(crate) fn observe_wait(&mut self) {
        if let Some(log) = &mut self.log {
            log.arrived = None;
        }
    }

    /// Whether a message has arrived that no table has handled.
    pub(crate) fn observes_arrival(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.arrived.is_some())
    }

    /// Logs an action on a page. `cause` holds if no message does.
    pub(crate) fn observe(
        &mut self,
        node: u16,
        page: u32,
        cause: ActCause,
        used: impl FnOnce(&PagedTable) -> UsedCell,
    ) {
        if self.log.is_some() {
            let act = used(&self.table).act(cause, node, self.entry(page));
            self.note_act(page, act);
        }
    }

    #[cold]
    fn note_act(&mut self, page: u32, mut act: ControllerAct<PageEntry>) {
        if let Some(log) = &mut self.log {
            let arrived = log.arrived.take();
            if let Some(message) = &arrived {
                (act.cause, act.message) = (ActCause::Message, Some(message.named()));
            }
            let line = arrived.and_then(|message| message.block);
            log.acts.push(LoggedPageAct { page, line, act });
        }
    }

    /// Logs the table cell for the request of a line, which memories serve without the table.
    pub(crate) fn observe_fetch(&mut self, node: u16, page: u32) {
        if self.log.is_none() {
            return;
        }
        let (event, sender) = (PageHomeEvent::Fetch, self.sender(page, node));
        let state = self.homes.head(page).state;
        if let ControllerCell::Does(actions, next) = self.table.home.cell_by(state, event, sender) {
            self.observe(node, page, ActCause::Node, |table| {
                table.home.used((event, sender), actions.iter().copied(), [state, next])
            });
        }
    }

    /// Logs the mapping's cell for an access that the page table permits.
    pub(crate) fn observe_access(&mut self, node: u16, page: u32, store: bool) {
        let event = if store { MappingEvent::Store } else { MappingEvent::Load };
        let state = self.mapping(node, page);
        if let ControllerCell::Does(actions, next) = self.table.mapping.cell(state, event) {
            self.observe(node, page, ActCause::Processor, |table| {
                let seen = (event, AnySender::Any);
                table.mapping.used(seen, actions.iter().copied(), [state, next])
            });
        }
    }

    /// A page at its home, without the home's number.
    pub(crate) fn entry(&self, page: u32) -> PageEntry {
        let state = self.table.home.name(self.homes.head(page).state);
        PageEntry { home: None, state, listed: self.homes.listed(page).collect() }
    }

    /// The names of the states of a node's mapping and release of a page.
    pub(crate) fn states(&self, node: u16, page: u32) -> [&'static str; 2] {
        let (mapping, release) = (self.mapping(node, page), self.owed(node, page));
        [self.table.mapping.name(mapping), self.table.release.name(release)]
    }

    /// A home has performed all actions: sets the entry of the last act.
    pub(super) fn observe_entry(&mut self, page: u32) {
        if self.log.is_none() {
            return;
        }
        let entry = self.entry(page);
        if let Some(act) = self.log.as_mut().and_then(|log| log.acts.last_mut()) {
            act.act.entry = entry;
        }
    }
}
