//! Log of the actions of controllers, kept for walks only. The simulation does not depend on it.

use homenode_cache::{BlockAccess, BlockRef, CacheArrays, WordMask};

use super::network::SentMessage;
use super::transaction::DirectoryTransaction;
use super::{DirectoryDriver, node};
use crate::cell::{ControllerCell, MessageWay};
use crate::dash::vocabulary::{CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Sender};
use crate::entries::{NO_NODE, NO_PAGE};

/// A controller, its event and its actions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObservedController {
    Cache(CacheEvent, &'static [CacheAction]),
    Home(HomeEvent, Sender, &'static [HomeAction]),
}

/// A message that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedMessage {
    pub(crate) message: Message,
    pub(crate) from: u16,
    pub(crate) to: u16,
    pub(crate) way: MessageWay,
}

/// The directory's entry of a block.
#[derive(Clone, Debug)]
pub(crate) struct ObservedEntry {
    /// The home; none before the first reference to the page.
    pub(crate) home: Option<u16>,
    pub(crate) state: u8,
    pub(crate) owner: Option<u16>,
    pub(crate) listed: Vec<u16>,
    /// Whether more nodes have copies than can be listed.
    pub(crate) overflow: bool,
}

/// A use of a table cell.
#[derive(Clone, Debug)]
pub(crate) struct ObservedCell {
    pub(crate) block: u64,
    /// The message that arrived; nothing for the processor's operation, or for an invalidation of
    /// the home's own cache.
    pub(crate) message: Option<ObservedMessage>,
    pub(crate) node: u16,
    pub(crate) controller: ObservedController,
    /// The state before and after.
    pub(crate) states: (u8, u8),
    /// The directory's entry afterwards.
    pub(crate) entry: ObservedEntry,
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
            let message = message.map(|sent| ObservedMessage {
                message: sent.message,
                from: sent.from,
                to: sent.to,
                way: t.way(sent),
            });
            let block = BlockRef { block: t.block, number: t.number };
            self.note(block, node, message, controller, before, next);
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
            let cells = self.log.iter_mut().flat_map(|log| &mut log[first..]);
            cells.for_each(|cell| cell.entry = entry.clone());
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
            self.note(block, node(access.cache), None, controller, state, next);
        }
    }

    #[cold]
    fn note(
        &mut self,
        block: BlockRef,
        node: u16,
        message: Option<ObservedMessage>,
        controller: ObservedController,
        before: u8,
        next: u8,
    ) {
        let BlockRef { block, number } = block;
        let (states, entry) = ((before, next), self.observed_entry(number));
        let cell = ObservedCell { block, message, node, controller, states, entry };
        self.log.get_or_insert_default().push(cell);
    }

    /// The directory's entry of a block.
    pub(crate) fn observed_entry(&mut self, number: u32) -> ObservedEntry {
        self.entries.reach(number);
        let head = self.entries.head(number);
        ObservedEntry {
            home: (head.page != NO_PAGE).then(|| self.homes.home(head.page)),
            state: head.state,
            owner: (head.owner != NO_NODE).then_some(head.owner),
            listed: self.entries.listed(number).collect(),
            overflow: head.overflow,
        }
    }
}
