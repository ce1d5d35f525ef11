//! What the tables were asked, written down for whoever walks through accesses. Nobody else has a
//! log, and nothing depends on it.

use super::PageDriver;
use crate::page_vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PageSender,
    ReleaseAction, ReleaseEvent,
};
use crate::vocabulary::ControllerCell;

/// Who saw something, and what was done about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObservedPageController {
    /// The mapping of a node, with its state before and after.
    Mapping(MappingEvent, &'static [MappingAction], (u8, u8)),
    /// The release of a node, likewise.
    Release(ReleaseEvent, &'static [ReleaseAction], (u8, u8)),
    /// The page's home, likewise.
    Home(PageHomeEvent, PageSender, &'static [PageHomeAction], (u8, u8)),
    /// A node's cache, which has no table: what it saw and did.
    Cache(&'static str, &'static str),
    /// A memory, which has none either.
    Memory(&'static str, &'static str),
}

/// A message that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedPageMessage {
    /// What it says; a page that moves, and the request for it, are nothing of the protocol.
    pub(crate) message: Option<PageMessage>,
    /// The node that sent it, and the one that it came to.
    pub(crate) way: (u16, u16),
    /// The line, if it is about one.
    pub(crate) block: Option<u64>,
}

/// Something that a node saw and did.
#[derive(Clone, Debug)]
pub(crate) struct ObservedPageAct {
    pub(crate) page: u32,
    /// The node; of a home that asked, the node that it answers.
    pub(crate) node: u16,
    /// What arrived; nothing if it is the processor's doing, or follows from it at once.
    pub(crate) message: Option<ObservedPageMessage>,
    pub(crate) controller: ObservedPageController,
    /// The state of the page at its home afterwards, and the nodes that are listed.
    pub(crate) entry: (u8, Vec<u16>),
}

/// What was done, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageLog {
    pub(crate) acts: Vec<ObservedPageAct>,
    /// The message that has arrived and about which nothing was done yet.
    arrived: Option<ObservedPageMessage>,
}

impl PageDriver {
    /// What is done from now on is written down.
    pub(crate) fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// What was done since the last call.
    pub(crate) fn take_acts(&mut self) -> Vec<ObservedPageAct> {
        self.log.as_mut().map(|log| std::mem::take(&mut log.acts)).unwrap_or_default()
    }

    /// A message arrives, about which something will be done.
    #[inline]
    pub(crate) fn observe_arrival(&mut self, arrived: ObservedPageMessage) {
        if let Some(log) = &mut self.log {
            log.arrived = Some(arrived);
        }
    }

    /// The message has to wait: it will arrive again.
    pub(crate) fn observe_wait(&mut self) {
        if let Some(log) = &mut self.log {
            log.arrived = None;
        }
    }

    /// Whether a message has arrived that no table was asked about.
    pub(crate) fn observes_arrival(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.arrived.is_some())
    }

    /// Something is done about a page.
    #[inline]
    pub(crate) fn observe(&mut self, place: (u16, u32), controller: ObservedPageController) {
        if self.log.is_some() {
            self.note_act(place, controller);
        }
    }

    #[cold]
    fn note_act(&mut self, (node, page): (u16, u32), controller: ObservedPageController) {
        let entry = self.entry(page);
        if let Some(log) = &mut self.log {
            let message = log.arrived.take();
            log.acts.push(ObservedPageAct { page, node, message, controller, entry });
        }
    }

    /// A memory is asked for a line: what the home's table says of that, which every machine does
    /// without asking it.
    #[inline]
    pub(crate) fn observe_fetch(&mut self, (node, page): (u16, u32)) {
        if self.log.is_none() {
            return;
        }
        let (event, sender) = (PageHomeEvent::Fetch, self.sender(page, node));
        let state = self.homes.head(page).state;
        if let ControllerCell::Does(actions, next) = self.table.home_cell(state, event, sender) {
            let controller = ObservedPageController::Home(event, sender, actions, (state, next));
            self.note_act((node, page), controller);
        }
    }

    /// A processor is about to do what the page table permits: what the table of the mapping says
    /// of that.
    pub(crate) fn observe_access(&mut self, (node, page): (u16, u32), store: bool) {
        let event = if store { MappingEvent::Store } else { MappingEvent::Load };
        let state = self.mapping(node, page);
        if let ControllerCell::Does(actions, next) = self.table.mapping_cell(state, event) {
            let controller = ObservedPageController::Mapping(event, actions, (state, next));
            self.note_act((node, page), controller);
        }
    }

    /// The state of a page at its home, and the nodes that are listed.
    pub(crate) fn entry(&self, page: u32) -> (u8, Vec<u16>) {
        (self.homes.head(page).state, self.homes.listed(page).collect())
    }

    /// The states of a node's mapping and release of a page.
    pub(crate) fn states(&self, node: u16, page: u32) -> (u8, u8) {
        (self.mapping(node, page), self.owed(node, page))
    }

    /// The last act was of a home, which has done all of it: that is the entry afterwards.
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
