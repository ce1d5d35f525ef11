//! Log of the acts of controllers, kept for walks only. The simulation does not depend on it.

use homenode_cache::{BlockAccess, BlockRef, CacheArrays, WordMask};
use homenode_protocol::Labelled;

use super::network::SentMessage;
use super::transaction::{DirectoryTransaction, is_implicit};
use super::{DirectoryDriver, node};
use crate::acts::{ActCause, ControllerAct, DirectoryEntry, UsedCell, WalkMessage};
use crate::cell::ControllerCell;
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::{CacheAction, CacheEvent, HomeAction, HomeEvent, Sender};
use crate::entries::{NO_NODE, NO_PAGE};
use crate::sheet::{CACHE, HOME};

/// A controller, its event and its actions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObservedController {
    Cache(CacheEvent, &'static [CacheAction]),
    Home(HomeEvent, Sender, &'static [HomeAction]),
}

impl DirectoryTable {
    /// The use of a cell, with names.
    fn act(
        &self,
        seen: ObservedController,
        message: Option<WalkMessage>,
        states: [u8; 2],
        node: u16,
        entry: DirectoryEntry,
    ) -> ControllerAct {
        let [before, next] = states;
        let act = match seen {
            ObservedController::Cache(event, actions) => {
                let at_home = entry.home == Some(node);
                let sent = actions.iter().filter(|&&action| !is_implicit(action, at_home));
                let actions = &sent.copied().collect::<Vec<_>>()[..];
                let (controller, event, sender) = (CACHE, event.name(), None);
                let used = UsedCell { controller, event, sender, actions, before, next };
                ControllerAct::in_table(&self.cache, &used, node, entry)
            }
            ObservedController::Home(event, sender, actions) => {
                let (controller, event, sender) = (HOME, event.name(), Some(sender.name()));
                let used = UsedCell { controller, event, sender, actions, before, next };
                ControllerAct::in_table(&self.home, &used, node, entry)
            }
        };
        let cause = match (&message, seen) {
            (Some(_), _) => ActCause::Message,
            (None, ObservedController::Cache(event, _)) if event.is_of_processor() => {
                ActCause::Processor
            }
            (None, _) => ActCause::Home,
        };
        ControllerAct { cause, message, ..act }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Logs the actions of a controller.
    #[inline]
    pub(super) fn observe(
        &mut self,
        t: &DirectoryTransaction<W, WORDS>,
        node: u16,
        message: Option<&SentMessage>,
        controller: ObservedController,
        before: u8,
        next: u8,
    ) {
        if self.log.is_some() {
            let message = message.map(|sent| WalkMessage {
                name: sent.message.name(),
                kind: sent.message.kind().name(),
                from: sent.from,
                to: sent.to,
                way: t.way(sent),
                number: None,
            });
            let block = BlockRef { block: t.block, number: t.number };
            self.note(block, node, message, controller, [before, next]);
        }
    }

    /// Length of the log, to complete the entries of later cells.
    #[inline]
    pub(super) fn observed(&self) -> usize {
        self.log.as_ref().map_or(0, Vec::len)
    }

    /// A home's controller has performed all actions: sets the entry of its cell, and of those that
    /// followed at once.
    #[inline]
    pub(super) fn observe_entry(&mut self, number: u32, first: usize) {
        if self.log.is_some() {
            let entry = self.observed_entry(number);
            let acts = self.log.iter_mut().flat_map(|log| &mut log[first..]);
            acts.for_each(|(_, act)| act.entry = entry.clone());
        }
    }

    /// Logs a reference that needs no transaction.
    #[inline]
    pub(super) fn observe_hit(&mut self, access: &BlockAccess<W>, at: usize, number: u32) {
        if self.log.is_none() {
            return;
        }
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let state = self.caches.frame(at).state;
        if let ControllerCell::Does(actions, next) = self.table.cache_cell(state, event) {
            let controller = ObservedController::Cache(event, actions);
            let block = BlockRef { block: access.block, number };
            self.note(block, node(access.cache), None, controller, [state, next]);
        }
    }

    #[cold]
    fn note(
        &mut self,
        block: BlockRef,
        node: u16,
        message: Option<WalkMessage>,
        controller: ObservedController,
        states: [u8; 2],
    ) {
        let BlockRef { block, number } = block;
        let entry = self.observed_entry(number);
        let act = self.table.act(controller, message, states, node, entry);
        self.log.get_or_insert_default().push((block, act));
    }

    /// The directory's entry of a block.
    pub(crate) fn observed_entry(&mut self, number: u32) -> DirectoryEntry {
        self.entries.reach(number);
        let head = self.entries.head(number);
        DirectoryEntry {
            home: (head.page != NO_PAGE).then(|| self.homes.home(head.page)),
            state: self.table.home.name(head.state),
            owner: (head.owner != NO_NODE).then_some(head.owner),
            listed: self.entries.listed(number).collect(),
            in_proxy_caches: Vec::new(),
            overflow: head.overflow,
        }
    }
}
