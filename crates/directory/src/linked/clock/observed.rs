//! Log of the acts of controllers of copies and homes, kept for walks only. The simulation does not
//! depend on it.

use homenode_cache::{CacheArrays, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::{ListPointer, ListPost};
use crate::acts::{ActCause, ControllerAct, DirectoryEntry, UsedCell, WalkMessage};
use crate::cell::AnySender;
use crate::entries::NO_PAGE;
use crate::linked::table::ListTable;
use crate::linked::vocabulary::{CopyAction, CopyEvent};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// Logs the actions of the controller of a node's copies.
    pub(super) fn observe_copy(
        &mut self,
        node: u16,
        post: &ListPost,
        event: CopyEvent,
        actions: &'static [CopyAction],
        states: [u8; 2],
    ) {
        let of_processor = event.is_of_processor();
        self.observe(node, post, of_processor, |table| {
            table.copy.used((event, AnySender::Any), actions.iter().copied(), states)
        });
    }

    /// Logs the actions of a controller for a message, or for its processor.
    pub(super) fn observe(
        &mut self,
        node: u16,
        post: &ListPost,
        of_processor: bool,
        used: impl FnOnce(&ListTable) -> UsedCell,
    ) {
        if self.log.is_none() {
            return;
        }
        let message = (!of_processor).then(|| {
            let [from, to] = [post.from, post.to].map(|cache| cache % self.node_count);
            WalkMessage::new(post.message, from, to)
        });
        let entry = self.observed_entry(post.block, post.number);
        let cause = if of_processor { ActCause::Processor } else { ActCause::Message };
        let act = used(&self.table).act(cause, node % self.node_count, entry);
        let act = ControllerAct { message, proxy_cache: self.is_proxy_cache(node), ..act };
        if let Some(log) = &mut self.log {
            log.push((post.block, act));
        }
    }

    /// The proxy caches have numbers after those of all nodes.
    fn is_proxy_cache(&self, cache: u16) -> bool {
        cache >= self.node_count
    }

    /// The home's entry of a block.
    pub(super) fn observed_entry(&mut self, block: u64, number: u32) -> DirectoryEntry {
        let entry = *self.entries.of(number);
        let (page, (state, head, owner)) = (entry.page, entry.known());
        let mut list = Vec::new();
        let mut next = head;
        while let Some(ListPointer { node, tag }) = next {
            let (place, state) = self.place(node, block);
            let there = matches!(place, CopyPlace::Frame(at) if self.tags[at] == tag);
            if state == 0 || !there || list.contains(&node) {
                break;
            }
            list.push(node);
            next = self.behind(node, place);
        }
        let of_proxies = (0..).zip(&list).filter(|&(_, &cache)| self.is_proxy_cache(cache));
        DirectoryEntry {
            home: (page != NO_PAGE).then(|| self.homes.home(page)),
            state: self.table.home.name(state),
            owner: owner.map(|owner| owner.node),
            in_proxy_caches: of_proxies.map(|(position, _)| position).collect(),
            listed: list.iter().map(|cache| cache % self.node_count).collect(),
            overflow: false,
        }
    }
}
