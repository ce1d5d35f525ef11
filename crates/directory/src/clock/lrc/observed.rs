//! What nodes, homes and memories do, written down for whoever walks through accesses. Nobody else
//! has a log, and the simulation does not depend on it.

use homenode_cache::{CacheArrays, WordMask};

use super::{LineEnvelope, LineMessage, LrcMemory};
use crate::page_driver::{ObservedPageController, ObservedPageMessage, PageAnswer};
use crate::page_vocabulary::PageMessage;

/// What a memory sees and does when a page moves to another home.
pub(super) const MOVES_OUT: (&str, &str) = ("page request", "send the page");
/// What the other memory does.
pub(super) const MOVES_IN: (&str, &str) = ("page", "memory takes the page");

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
            way: (envelope.from, envelope.to),
            block: of_line.then_some(message.block),
        });
    }

    /// The tables were asked about a message: if they had nothing to say, the cache saw it.
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
            self.driver.observe((envelope.to, message.sent.page), seen);
        }
    }

    /// A line comes into a cache.
    pub(super) fn observe_line(&mut self, envelope: &LineEnvelope, message: LineMessage) {
        let seen = ObservedPageController::Cache("line", "complete");
        self.driver.observe((envelope.to, message.sent.page), seen);
    }

    /// A line with dirty words has to give way to another one.
    pub(super) fn observe_replacement(&mut self, place: (u16, u32)) {
        let seen = ObservedPageController::Cache("replace", "send write-back to home");
        self.driver.observe(place, seen);
    }

    /// A memory sends a page to its new home, or gets it.
    pub(super) fn observe_page(
        &mut self,
        envelope: &LineEnvelope,
        page: u32,
        (seen, done): (&'static str, &'static str),
    ) {
        let way = (envelope.from, envelope.to);
        self.driver.observe_arrival(ObservedPageMessage { message: None, way, block: None });
        self.driver.observe((envelope.to, page), ObservedPageController::Memory(seen, done));
    }
}
