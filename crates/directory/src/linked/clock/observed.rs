//! Log of the acts of controllers of copies and homes, kept for walks only. The simulation does not
//! depend on it.

use homenode_cache::{CacheArrays, WordMask};
use homenode_protocol::Labelled;

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::{ListPointer, ListPost};
use crate::acts::{ActCause, ControllerAct, DirectoryEntry, UsedCell, WalkMessage};
use crate::cell::MessageWay;
use crate::entries::NO_PAGE;
use crate::linked::sheet::COPY;
use crate::linked::table::ListTable;
use crate::linked::vocabulary::{CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListSender};
use crate::sheet::HOME;

/// A controller, its event and its actions.
#[derive(Clone, Copy, Debug)]
pub(super) enum ObservedListController {
    Copy(CopyEvent, &'static [CopyAction]),
    Home(ListHomeEvent, ListSender, &'static [ListHomeAction]),
}

impl ListTable {
    /// The use of a cell, with names.
    fn act(
        &self,
        seen: ObservedListController,
        before: u8,
        next: u8,
        node: u16,
        entry: DirectoryEntry,
    ) -> ControllerAct {
        match seen {
            ObservedListController::Copy(event, actions) => {
                let (controller, event, sender) = (COPY, event.name(), None);
                let used = UsedCell { controller, event, sender, actions, before, next };
                ControllerAct::in_table(&self.copy, &used, node, entry)
            }
            ObservedListController::Home(event, sender, actions) => {
                let (controller, event, sender) = (HOME, event.name(), Some(sender.name()));
                let used = UsedCell { controller, event, sender, actions, before, next };
                ControllerAct::in_table(&self.home, &used, node, entry)
            }
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// Logs the actions of a node's controller.
    #[inline]
    pub(super) fn observe(
        &mut self,
        node: u16,
        post: &ListPost,
        controller: ObservedListController,
        before: u8,
        next: u8,
    ) {
        if self.log.is_none() {
            return;
        }
        let of_processor = matches!(
            controller,
            ObservedListController::Copy(event, _) if event.is_of_processor()
        );
        let message = (!of_processor).then(|| {
            let [from, to] = [post.from, post.to].map(|cache| cache % self.node_count);
            let way = if from == to { MessageWay::Within } else { MessageWay::Network };
            let (name, kind) = (post.message.name(), post.message.kind().name());
            WalkMessage { name, kind, from, to, way, number: None }
        });
        let entry = self.observed_entry(post.block, post.number);
        let act = self.table.act(controller, before, next, node % self.node_count, entry);
        let cause = if of_processor { ActCause::Processor } else { ActCause::Message };
        let act = ControllerAct { cause, message, proxy_cache: self.is_proxy_cache(node), ..act };
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
