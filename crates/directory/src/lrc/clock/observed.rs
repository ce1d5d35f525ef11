//! Log of the actions of nodes, homes and memories, kept for walks only. The simulation does not
//! depend on it.

use homenode_cache::{CacheArrays, WordMask};

use super::{LineEnvelope, LineMessage, LrcMemory};
use crate::lrc::driver::{ObservedPageController, ObservedPageMessage, PageAnswer};
use crate::lrc::vocabulary::PageMessage;

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
    #[inline]
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
    #[inline]
    pub(super) fn observe_answer(
        &mut self,
        envelope: &LineEnvelope,
        message: LineMessage,
        answer: PageAnswer,
    ) {
        if answer == PageAnswer::Waits {
            self.driver.observe_wait();
        } else if self.driver.observes_arrival() {
            let seen = ObservedPageController::Cache("written back", "others are under way");
            self.driver.observe(envelope.to, message.sent.page, seen);
        }
    }

    /// A line arrives at a cache.
    pub(super) fn observe_line(&mut self, envelope: &LineEnvelope, message: LineMessage) {
        let seen = ObservedPageController::Cache("line", "complete");
        self.driver.observe(envelope.to, message.sent.page, seen);
    }

    /// A line with dirty words is replaced.
    pub(super) fn observe_replacement(&mut self, node: u16, page: u32) {
        let seen = ObservedPageController::Cache("replace", "send write-back to home");
        self.driver.observe(node, page, seen);
    }

    /// A memory sends a page to its new home, or receives it.
    pub(super) fn observe_page(&mut self, envelope: &LineEnvelope, page: u32, act: MemoryAct) {
        let ends = (envelope.from, envelope.to);
        self.driver.observe_arrival(ObservedPageMessage { message: None, ends, block: None });
        let done = ObservedPageController::Memory(act.event, act.action);
        self.driver.observe(envelope.to, page, done);
    }
}
