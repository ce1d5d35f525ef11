//! Log of the actions of controllers of copies and homes, kept for walks only. The simulation does
//! not depend on it.

use homenode_cache::{CacheArrays, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::{ListPointer, ListPost};
use crate::entries::NO_PAGE;
use crate::linked::vocabulary::{
    CopyAction, CopyEvent, ListHomeAction, ListHomeEvent, ListMessage, ListSender,
};

/// A controller, its event and its actions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObservedListController {
    Copy(CopyEvent, &'static [CopyAction]),
    Home(ListHomeEvent, ListSender, &'static [ListHomeAction]),
}

/// The home's entry of a block, and the list that starts there.
#[derive(Clone, Debug)]
pub(crate) struct ObservedListEntry {
    /// The home; none before the first reference to the page.
    pub(crate) home: Option<u16>,
    pub(crate) state: u8,
    pub(crate) owner: Option<u16>,
    /// The nodes or proxy caches of the list, from the head, as far as it is linked.
    pub(crate) list: Vec<u16>,
}

/// A cell of the tables, used.
#[derive(Clone, Debug)]
pub(crate) struct ObservedListAct {
    pub(crate) block: u64,
    /// The message with its sender and receiver; nothing for the processor's operation.
    pub(crate) message: Option<(ListMessage, u16, u16)>,
    /// The node, or its proxy cache.
    pub(crate) node: u16,
    pub(crate) controller: ObservedListController,
    /// The state before and after.
    pub(crate) states: (u8, u8),
    /// The block at its home afterwards.
    pub(crate) entry: ObservedListEntry,
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
        let message = (!of_processor).then_some((post.message, post.from, post.to));
        let block = post.block;
        let entry = self.observed_entry(block, post.number);
        let states = (before, next);
        let act = ObservedListAct { block, message, node, controller, states, entry };
        if let Some(log) = &mut self.log {
            log.push(act);
        }
    }

    /// The home's entry of a block.
    pub(super) fn observed_entry(&mut self, block: u64, number: u32) -> ObservedListEntry {
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
        let home = (page != NO_PAGE).then(|| self.homes.home(page));
        ObservedListEntry { home, state, owner: owner.map(|owner| owner.node), list }
    }
}
