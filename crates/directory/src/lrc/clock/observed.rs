//! Log of the actions of nodes, homes and memories, kept for walks only. The simulation does not
//! depend on it.

use homenode_cache::{CacheArrays, WordMask};

use super::{LineEnvelope, LineMessage, LrcMemory};
use crate::acts::{ActCause, UsedCell};
use crate::lrc::driver::{ObservedPageMessage, PageAnswer};
use crate::lrc::vocabulary::PageMessage;
use crate::sheet::CACHE;

/// An event at a memory, and its action, in a page's move.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryAct {
    event: &'static str,
    action: &'static str,
}

/// At the old home of a page.
pub(super) const MOVES_OUT: MemoryAct =
    MemoryAct { event: "page request", action: "send the page" };
/// At its new home.
pub(super) const MOVES_IN: MemoryAct = MemoryAct { event: "page", action: "memory takes the page" };

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// A message of the protocol arrives.
    pub(super) fn observe_arrival(&mut self, envelope: &LineEnvelope, message: LineMessage) {
        let kind = message.sent.message;
        let of_line = matches!(
            kind,
            PageMessage::Fetch
                | PageMessage::Line
                | PageMessage::WriteBack
                | PageMessage::WrittenBack
        );
        self.driver.observe_arrival(ObservedPageMessage {
            message: Some(kind),
            ends: (envelope.from, envelope.to),
            block: of_line.then_some(message.block),
        });
    }

    /// The tables have handled a message, or else the cache has.
    pub(super) fn observe_answer(
        &mut self,
        envelope: &LineEnvelope,
        message: LineMessage,
        answer: PageAnswer,
    ) {
        if answer == PageAnswer::Waits {
            self.driver.observe_wait();
        } else if self.driver.observes_arrival() {
            let page = message.sent.page;
            self.observe_cache(envelope.to, page, "written back", "others are under way");
        }
    }

    /// A cache acts, which has no table.
    pub(super) fn observe_cache(
        &mut self,
        node: u16,
        page: u32,
        event: &'static str,
        action: &'static str,
    ) {
        let used = |_: &_| UsedCell::without_table(CACHE, event, action);
        self.driver.observe(node, page, ActCause::Processor, used);
    }

    /// A memory sends a page to its new home, or receives it.
    pub(super) fn observe_page(&mut self, envelope: &LineEnvelope, page: u32, act: MemoryAct) {
        let ends = (envelope.from, envelope.to);
        self.driver.observe_arrival(ObservedPageMessage { message: None, ends, block: None });
        let used = |_: &_| UsedCell::without_table("memory", act.event, act.action);
        self.driver.observe(envelope.to, page, ActCause::Node, used);
    }
}
