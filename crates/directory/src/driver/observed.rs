//! What the controllers did, written down for whoever walks through references. Nobody else has a
//! log, and the simulation does not depend on it.

use homenode_cache::{BlockAccess, CacheArrays, WordMask};

use super::network::SentMessage;
use super::transaction::DirectoryTransaction;
use super::{DirectoryDriver, node};
use crate::entries::{NO_NODE, NO_PAGE};
use crate::vocabulary::{
    CacheAction, CacheEvent, ControllerCell, HomeAction, HomeEvent, Message, MessageWay, Sender,
};

/// A controller, what it saw, and what it did.
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

/// What the directory has of a block.
#[derive(Clone, Debug)]
pub(crate) struct ObservedEntry {
    /// The home; none before the first reference to the page.
    pub(crate) home: Option<u16>,
    pub(crate) state: u8,
    pub(crate) owner: Option<u16>,
    pub(crate) listed: Vec<u16>,
    /// Whether there were more nodes than can be listed.
    pub(crate) overflow: bool,
}

/// A cell of the table, used.
#[derive(Clone, Debug)]
pub(crate) struct ObservedCell {
    pub(crate) block: u64,
    /// What arrived; nothing if it is the processor's operation, or a home tells its own cache.
    pub(crate) message: Option<ObservedMessage>,
    pub(crate) node: u16,
    pub(crate) controller: ObservedController,
    /// The state before and after.
    pub(crate) states: (u8, u8),
    /// The directory's entry afterwards.
    pub(crate) entry: ObservedEntry,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// A controller is about to do what its table says.
    #[inline]
    pub(super) fn observe(
        &mut self,
        t: &DirectoryTransaction<W, WORDS>,
        (node, message): (u16, Option<&SentMessage>),
        controller: ObservedController,
        states: (u8, u8),
    ) {
        if self.log.is_some() {
            let message = message.map(|sent| ObservedMessage {
                message: sent.message,
                from: sent.from,
                to: sent.to,
                way: t.way(sent),
            });
            self.note((t.block, t.number), (node, message), controller, states);
        }
    }

    /// How many cells were used, to say later of the next one what it did to the entry.
    #[inline]
    pub(super) fn observed(&self) -> usize {
        self.log.as_ref().map_or(0, Vec::len)
    }

    /// A home's controller has done everything that its cell says: that is the entry after it, and
    /// after what it led to at once.
    #[inline]
    pub(super) fn observe_entry(&mut self, number: u32, first: usize) {
        if self.log.is_some() {
            let entry = self.observed_entry(number);
            let cells = self.log.iter_mut().flat_map(|log| &mut log[first..]);
            cells.for_each(|cell| cell.entry = entry.clone());
        }
    }

    /// A reference needs no transaction: what its cell says has taken place.
    #[inline]
    pub(super) fn observe_hit(&mut self, access: &BlockAccess<W>, (at, number): (usize, u32)) {
        if self.log.is_none() {
            return;
        }
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let state = self.caches.frame(at).state;
        if let ControllerCell::Does(actions, next) = self.table.cache_cell(state, event) {
            let controller = ObservedController::Cache(event, actions);
            let who = (node(access.cache), None);
            self.note((access.block, number), who, controller, (state, next));
        }
    }

    #[cold]
    fn note(
        &mut self,
        (block, number): (u64, u32),
        (node, message): (u16, Option<ObservedMessage>),
        controller: ObservedController,
        states: (u8, u8),
    ) {
        let entry = self.observed_entry(number);
        let cell = ObservedCell { block, message, node, controller, states, entry };
        self.log.get_or_insert_default().push(cell);
    }

    /// What the directory has of the block with this number.
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
