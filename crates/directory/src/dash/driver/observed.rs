//! Log of the acts of controllers, kept for walks only. The simulation does not depend on it.

use homenode_cache::{BlockAccess, CacheArrays, WordMask};

use super::network::SentMessage;
use super::transaction::DirectoryTransaction;
use super::{DirectoryDriver, node};
use crate::acts::{ActCause, ControllerAct, DirectoryEntry, UsedCell, WalkMessage};
use crate::cell::{AnySender, ControllerCell};
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::CacheEvent;
use crate::entries::{NO_NODE, NO_PAGE};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Logs the actions of a controller. `cause` holds if no message does.
    pub(super) fn observe(
        &mut self,
        t: &DirectoryTransaction<W, WORDS>,
        node: u16,
        message: Option<&SentMessage>,
        cause: ActCause,
        used: impl FnOnce(&DirectoryTable) -> UsedCell,
    ) {
        if self.log.is_some() {
            let message = message.map(|sent| WalkMessage {
                way: t.way(sent),
                ..WalkMessage::new(sent.message, sent.from, sent.to)
            });
            let cause = if message.is_some() { ActCause::Message } else { cause };
            let entry = self.observed_entry(t.number);
            let act = used(&self.table).act(cause, node, entry);
            self.note(t.block, ControllerAct { message, ..act });
        }
    }

    /// Length of the log, to complete the entries of later cells.
    pub(super) fn observed(&self) -> usize {
        self.log.as_ref().map_or(0, Vec::len)
    }

    /// A home's controller has performed all actions: sets the entry of its cell, and of those that
    /// followed at once.
    pub(super) fn observe_entry(&mut self, number: u32, first: usize) {
        if self.log.is_some() {
            let entry = self.observed_entry(number);
            let acts = self.log.iter_mut().flat_map(|log| &mut log[first..]);
            acts.for_each(|(_, act)| act.entry = entry.clone());
        }
    }

    /// Logs a reference that needs no transaction.
    pub(super) fn observe_hit(&mut self, access: &BlockAccess<W>, at: usize, number: u32) {
        if self.log.is_none() {
            return;
        }
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let state = self.caches.frame(at).state;
        if let ControllerCell::Does(actions, next) = self.table.cache.cell(state, event) {
            let seen = (event, AnySender::Any);
            let used = self.table.cache.used(seen, actions.iter().copied(), [state, next]);
            let entry = self.observed_entry(number);
            self.note(access.block, used.act(ActCause::Processor, node(access.cache), entry));
        }
    }

    #[cold]
    fn note(&mut self, block: u64, act: ControllerAct) {
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
