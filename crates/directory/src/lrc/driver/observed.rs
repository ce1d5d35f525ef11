//! Log of the table cells used, kept for walks only. The simulation does not depend on it.

use super::PageDriver;
use crate::cell::ControllerCell;
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PageSender,
    ReleaseAction, ReleaseEvent,
};

/// A controller, its event and its actions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObservedPageController {
    /// The mapping of a node, with its state before and after.
    Mapping(MappingEvent, &'static [MappingAction], (u8, u8)),
    /// The release of a node, likewise.
    Release(ReleaseEvent, &'static [ReleaseAction], (u8, u8)),
    /// The page's home, likewise.
    Home(PageHomeEvent, PageSender, &'static [PageHomeAction], (u8, u8)),
    /// A node's cache, which has no table: its event and action.
    Cache(&'static str, &'static str),
    /// A memory, likewise.
    Memory(&'static str, &'static str),
}

/// A message that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedPageMessage {
    /// Its kind; none for a page that moves, and the request for it.
    pub(crate) message: Option<PageMessage>,
    /// Sender and receiver.
    pub(crate) ends: (u16, u16),
    /// The line, if it is about one.
    pub(crate) block: Option<u64>,
}

/// An action of a node.
#[derive(Clone, Debug)]
pub(crate) struct ObservedPageAct {
    pub(crate) page: u32,
    /// The node; for a home, the node that it answers.
    pub(crate) node: u16,
    /// The message that arrived; nothing for an action of the processor and its direct effects.
    pub(crate) message: Option<ObservedPageMessage>,
    pub(crate) controller: ObservedPageController,
    /// The state of the page at its home afterwards, and the nodes that are listed.
    pub(crate) entry: (u8, Vec<u16>),
}

/// Actions, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageLog {
    pub(crate) acts: Vec<ObservedPageAct>,
    /// A message that has arrived and is not handled yet.
    arrived: Option<ObservedPageMessage>,
}

impl PageDriver {
    /// Starts the log.
    pub(crate) fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// Actions since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<ObservedPageAct> {
        self.log.as_mut().map(|log| std::mem::take(&mut log.acts)).unwrap_or_default()
    }

    /// A message arrives; its action follows.
    #[inline]
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

    /// Logs an action on a page.
    #[inline]
    pub(crate) fn observe(&mut self, node: u16, page: u32, controller: ObservedPageController) {
        if self.log.is_some() {
            self.note_act(node, page, controller);
        }
    }

    #[cold]
    fn note_act(&mut self, node: u16, page: u32, controller: ObservedPageController) {
        let entry = self.entry(page);
        if let Some(log) = &mut self.log {
            let message = log.arrived.take();
            log.acts.push(ObservedPageAct { page, node, message, controller, entry });
        }
    }

    /// Logs the table cell for the request of a line, which memories serve without the table.
    #[inline]
    pub(crate) fn observe_fetch(&mut self, node: u16, page: u32) {
        if self.log.is_none() {
            return;
        }
        let (event, sender) = (PageHomeEvent::Fetch, self.sender(page, node));
        let state = self.homes.head(page).state;
        if let ControllerCell::Does(actions, next) = self.table.home_cell(state, event, sender) {
            let controller = ObservedPageController::Home(event, sender, actions, (state, next));
            self.note_act(node, page, controller);
        }
    }

    /// Logs the mapping's cell for an access that the page table permits.
    pub(crate) fn observe_access(&mut self, node: u16, page: u32, store: bool) {
        let event = if store { MappingEvent::Store } else { MappingEvent::Load };
        let state = self.mapping(node, page);
        if let ControllerCell::Does(actions, next) = self.table.mapping_cell(state, event) {
            let controller = ObservedPageController::Mapping(event, actions, (state, next));
            self.note_act(node, page, controller);
        }
    }

    /// The state of a page at its home, and the listed nodes.
    pub(crate) fn entry(&self, page: u32) -> (u8, Vec<u16>) {
        (self.homes.head(page).state, self.homes.listed(page).collect())
    }

    /// The states of a node's mapping and release of a page.
    pub(crate) fn states(&self, node: u16, page: u32) -> (u8, u8) {
        (self.mapping(node, page), self.owed(node, page))
    }

    /// A home has performed all actions: sets the entry of the last act.
    #[inline]
    pub(super) fn observe_entry(&mut self, page: u32) {
        if self.log.is_none() {
            return;
        }
        let entry = self.entry(page);
        if let Some(act) = self.log.as_mut().and_then(|log| log.acts.last_mut()) {
            act.entry = entry;
        }
    }
}
