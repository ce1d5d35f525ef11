//! The driver of a page protocol: applies accesses, synchronisation and messages by the protocol's
//! table.
//!
//! The driver has no clock and no cache; the caller has. Every call adds its effects
//! ([`PageEffect`]): messages, which the caller passes to [`PageDriver::deliver`] when they arrive,
//! in any order, and actions of a cache. So a timed machine can give each effect a time.
//!
//! The caller numbers pages from 0, and stores their homes.

mod effects;
mod observed;
#[cfg(test)]
mod tests;
mod under_way;

use effects::NO_RECIPIENT;
pub(crate) use effects::{Answered, PageAnswer, PageEffect, PageEnd, SentPageMessage};
pub(crate) use observed::{LoggedPageAct, ObservedPageMessage, PAGE};

use rustc_hash::FxHashMap;

use crate::acts::ActCause;
use crate::cell::{AnySender, ControllerCell};
use crate::entries::DirectoryEntries;
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PagePermission,
    PageSender, ReleaseAction, ReleaseEvent,
};
use observed::PageLog;
use under_way::PagesUnderWay;

/// Bits of a mapping's state; those of the release's are above them.
const MAPPING_BITS: u32 = 4;

/// The controllers of all nodes and homes. Only a timed machine uses it, because acquires and
/// releases need a clock.
#[derive(Debug)]
pub(crate) struct PageDriver {
    table: PagedTable,
    nodes: u16,
    /// For each page and node a byte: the states of mapping and release.
    states: Vec<u8>,
    /// For each page its home's state, and a bit for each node that is listed.
    homes: DirectoryEntries,
    /// For each node its outstanding messages.
    under_way: Vec<PagesUnderWay>,
    /// For each node and page, write-backs that have not arrived at the home; empty unless
    /// `modified` may overtake them.
    on_the_way: FxHashMap<(u16, u32), u32>,
    /// For each node the pages that it has written since its last release.
    written: Vec<Vec<u32>>,
    /// For each node the pages that its next acquire unmaps.
    noticed: Vec<Vec<u32>>,
    /// For each node the pages for which its release has not taken effect.
    releasing: Vec<u32>,
    /// What the caller has to do.
    pub(crate) effects: Vec<PageEffect>,
    /// Log of actions, if kept.
    log: Option<Box<PageLog>>,
}

impl PageDriver {
    /// No page is mapped. There may be up to 1,024 nodes.
    pub(crate) fn new(table: PagedTable, nodes: u16) -> Self {
        let each = usize::from(nodes);
        Self {
            table,
            nodes,
            states: Vec::new(),
            homes: DirectoryEntries::new(nodes, None),
            under_way: vec![PagesUnderWay::default(); each],
            on_the_way: FxHashMap::default(),
            written: vec![Vec::new(); each],
            noticed: vec![Vec::new(); each],
            releasing: vec![0; each],
            effects: Vec::new(),
            log: None,
        }
    }

    /// Allocates the state of a page. Required before any other call for the page.
    pub(crate) fn reach(&mut self, page: u32) {
        self.homes.reach(page);
        let end = self.at(0, page) + usize::from(self.nodes);
        if end > self.states.len() {
            self.states.resize(end, 0);
        }
    }

    /// The accesses of a node to a page that do not fault.
    pub(crate) fn permission(&self, node: u16, page: u32) -> PagePermission {
        self.table.permission(self.mapping(node, page))
    }

    /// A processor reads or writes. [`PageEffect::Complete`] follows eventually, unless the access
    /// has to wait: then the caller tries it again after the node's next message.
    pub(crate) fn access(&mut self, node: u16, page: u32, store: bool) -> Answered {
        let event = if store { MappingEvent::Store } else { MappingEvent::Load };
        self.mapping_event(node, page, event, node)
    }

    /// A processor's write takes place in its cache.
    pub(crate) fn stored(&mut self, node: u16, page: u32) -> Answered {
        self.release_event(node, page, ReleaseEvent::Store)
    }

    /// A processor acquires: pages with a write notice are unmapped. No access of the node may be
    /// outstanding.
    pub(crate) fn acquire(&mut self, node: u16) -> Answered {
        for page in std::mem::take(&mut self.noticed[usize::from(node)]) {
            self.mapping_event(node, page, MappingEvent::Acquire, node)?;
        }
        Ok(PageAnswer::Done)
    }

    /// Every node's next acquire unmaps all its pages, as if each had a write notice.
    pub(crate) fn notice_all(&mut self) {
        for page in (0..).take(self.states.len() / usize::from(self.nodes).max(1)) {
            for node in 0..self.nodes {
                let before = self.effects.len();
                let answer = self.mapping_event(node, page, MappingEvent::WriteNotice, node);
                // The table has an answer in every state.
                debug_assert_eq!(answer, Ok(PageAnswer::Done));
                // The acknowledgement has no receiver.
                self.effects.truncate(before);
            }
        }
    }

    /// A processor releases. It may continue when [`PageEffect::Released`] follows. No access of
    /// the node may be outstanding.
    pub(crate) fn release(&mut self, node: u16) -> Answered {
        let pages = std::mem::take(&mut self.written[usize::from(node)]);
        self.releasing[usize::from(node)] = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        if pages.is_empty() {
            self.effects.push(PageEffect::Released(node));
        }
        for page in pages {
            self.release_event(node, page, ReleaseEvent::Release)?;
        }
        Ok(PageAnswer::Done)
    }

    /// A node's cache has sent `lines` lines with dirty words of a page to its home. The caller
    /// reports this when it replaces such a line, and always after [`PageEffect::Flush`] and
    /// [`PageEffect::WriteBack`], even for 0 lines. A line must not be fetched before its
    /// write-back is acknowledged.
    pub(crate) fn sent_lines(&mut self, node: u16, page: u32, lines: u32) -> Answered {
        if lines > 0 && self.table.modified_overtakes() {
            *self.on_the_way.entry((node, page)).or_default() += lines;
        }
        if self.under_way[usize::from(node)].wrote_back(page, lines) > 0 {
            return Ok(PageAnswer::Done);
        }
        self.mapping_event(node, page, MappingEvent::WrittenBack, node)?;
        self.release_event(node, page, ReleaseEvent::WrittenBack)
    }

    /// A message arrives. The caller delivers a message that has to wait again after the next
    /// message to the page's home.
    pub(crate) fn deliver(&mut self, sent: &SentPageMessage) -> Answered {
        let SentPageMessage { message, page, from, to, requester, due } = *sent;
        match (to, message.event_at_home()) {
            (PageEnd::Home, Some(event)) => {
                let PageEnd::Node(from) = from else { return Err(NO_RECIPIENT) };
                let event = self.counted(event, from, page);
                self.home_event(page, event, from)
            }
            (PageEnd::Node(node), None) => {
                if message == PageMessage::WrittenBack {
                    self.under_way[usize::from(node)].written_back(page);
                    return self.sent_lines(node, page, 0);
                }
                let change = message.acknowledgements(due);
                let due = self.under_way[usize::from(node)].change_due(page, change);
                let known = self.table.knows_due(self.owed(node, page));
                if let Some(event) = message.event_at_release(due, known) {
                    return self.release_event(node, page, event);
                }
                match message.event_at_mapping() {
                    Some(event) => self.mapping_event(node, page, event, requester),
                    None => Ok(PageAnswer::Done),
                }
            }
            (PageEnd::Home, None) | (PageEnd::Node(_), Some(_)) => Err(NO_RECIPIENT),
        }
    }

    fn at(&self, node: u16, page: u32) -> usize {
        usize::try_from(page).unwrap_or(usize::MAX) * usize::from(self.nodes) + usize::from(node)
    }

    fn mapping(&self, node: u16, page: u32) -> u8 {
        self.states[self.at(node, page)] & ((1 << MAPPING_BITS) - 1)
    }

    /// State of a release.
    fn owed(&self, node: u16, page: u32) -> u8 {
        self.states[self.at(node, page)] >> MAPPING_BITS
    }

    /// An event at a mapping. `releaser` is the node to which a write notice is acknowledged.
    fn mapping_event(
        &mut self,
        node: u16,
        page: u32,
        event: MappingEvent,
        releaser: u16,
    ) -> Answered {
        let before = self.mapping(node, page);
        let (actions, state) = match self.table.mapping.cell(before, event) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(PageAnswer::Waits),
            ControllerCell::Impossible(why) => return Err(why),
        };
        let at = self.at(node, page);
        self.states[at] = state | self.owed(node, page) << MAPPING_BITS;
        self.observe(node, page, cause(event.is_of_processor()), |table| {
            let seen = (event, AnySender::Any);
            table.mapping.used(seen, actions.iter().copied(), [before, state])
        });
        if self.table.is_noticed(state) && !self.table.is_noticed(before) {
            self.noticed[usize::from(node)].push(page);
        }
        self.effects.extend(actions.iter().map(|&action| match action {
            MappingAction::SendHome(message) => send_home(node, page, message),
            MappingAction::Acknowledge => PageEffect::Send(SentPageMessage {
                from: PageEnd::Node(node),
                ..SentPageMessage::to_node(releaser, page, PageMessage::Acknowledge)
            }),
            MappingAction::Complete => PageEffect::Complete(node, page),
            MappingAction::Flush => PageEffect::Flush(node, page),
        }));
        Ok(PageAnswer::Done)
    }

    fn release_event(&mut self, node: u16, page: u32, event: ReleaseEvent) -> Answered {
        let before = self.owed(node, page);
        let (actions, state) = match self.table.release.cell(before, event) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(PageAnswer::Waits),
            ControllerCell::Impossible(why) => return Err(why),
        };
        let at = self.at(node, page);
        self.states[at] = self.mapping(node, page) | state << MAPPING_BITS;
        self.observe(node, page, cause(event.is_of_processor()), |table| {
            let seen = (event, AnySender::Any);
            table.release.used(seen, actions.iter().copied(), [before, state])
        });
        if state != before && self.table.release.rests(before) {
            self.written[usize::from(node)].push(page);
        }
        self.effects.extend(actions.iter().map(|&action| match action {
            ReleaseAction::SendHome(message) => send_home(node, page, message),
            ReleaseAction::WriteBack => PageEffect::WriteBack(node, page),
        }));
        if state != before && self.table.release.rests(state) {
            let releasing = &mut self.releasing[usize::from(node)];
            *releasing = releasing.saturating_sub(1);
            if *releasing == 0 {
                self.effects.push(PageEffect::Released(node));
            }
        }
        Ok(PageAnswer::Done)
    }

    /// An event at a home, given how many of the sender's write-backs are still to come. A message
    /// that waited is counted again, which changes nothing: a write-back never waits.
    fn counted(&mut self, event: PageHomeEvent, from: u16, page: u32) -> PageHomeEvent {
        if !self.table.modified_overtakes() {
            return event;
        }
        let key = (from, page);
        if event == PageHomeEvent::WriteBack
            && let Some(lines) = self.on_the_way.get_mut(&key)
        {
            *lines -= 1;
            if *lines == 0 {
                self.on_the_way.remove(&key);
            }
        }
        if self.on_the_way.contains_key(&key) { event.before_write_backs() } else { event }
    }

    fn home_event(&mut self, page: u32, event: PageHomeEvent, from: u16) -> Answered {
        let sender = self.sender(page, from);
        let before = self.homes.head(page).state;
        let (actions, state) = match self.table.home.cell_by(before, event, sender) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(PageAnswer::Waits),
            ControllerCell::Impossible(why) => return Err(why),
        };
        self.homes.set_state(page, state);
        self.observe(from, page, ActCause::Node, |table| {
            table.home.used((event, sender), actions.iter().copied(), [before, state])
        });
        let mut due = 0;
        let send = |message, to, due| {
            let sent = SentPageMessage::to_node(to, page, message);
            PageEffect::Send(SentPageMessage { requester: from, due, ..sent })
        };
        for &action in actions {
            match action {
                PageHomeAction::List => self.homes.list(page, from),
                PageHomeAction::Unlist => self.homes.unlist(page, from),
                PageHomeAction::TakeWords => self.effects.push(PageEffect::TakeWords),
                PageHomeAction::Reply(message) => self.effects.push(send(message, from, due)),
                PageHomeAction::Notify => {
                    for to in self.homes.invalidation_targets(page).filter(|&node| node != from) {
                        self.effects.push(send(PageMessage::WriteNotice, to, 0));
                        due += 1;
                    }
                }
            }
        }
        self.observe_entry(page);
        Ok(PageAnswer::Done)
    }

    /// The role of a node at the home of a page.
    fn sender(&self, page: u32, from: u16) -> PageSender {
        if !self.homes.lists(page, from) {
            PageSender::Other
        } else if self.homes.lists_only(page, from) {
            PageSender::Only
        } else {
            PageSender::Sharer
        }
    }
}

fn send_home(node: u16, page: u32, message: PageMessage) -> PageEffect {
    PageEffect::Send(SentPageMessage::to_home(node, page, message))
}

/// Why a controller acts without a message.
fn cause(of_processor: bool) -> ActCause {
    if of_processor { ActCause::Processor } else { ActCause::Node }
}
