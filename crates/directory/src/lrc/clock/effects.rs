//! Effects of the protocol's tables.

use homenode_cache::{CacheArrays, ClockError, MAY_READ, MissStatus, WordMask};
use homenode_clock::Requesters;

use super::{LineEnvelope, LineMessage, LrcMemory};
use crate::lrc::driver::{PageAnswer, PageEffect, PageEnd};
use crate::lrc::vocabulary::PageMessage;
use crate::mesh::network::Route;
use crate::mesh::transport::{Content, NodeEvent, rank};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// A message of the protocol has arrived at its destination.
    pub(super) fn deliver(
        &mut self,
        envelope: &LineEnvelope,
        message: LineMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let (sent, page) = (message.sent, message.sent.page);
        if self.hand_in(envelope, message, requesters)? == PageAnswer::Waits {
            self.waiting.entry(page).or_default().push(*envelope);
        } else if sent.to == PageEnd::Home {
            for waited in self.waiting.remove(&page).unwrap_or_default() {
                if let Content::Protocol(message) = waited.content
                    && self.hand_in(&waited, message, requesters)? == PageAnswer::Waits
                {
                    self.waiting.entry(page).or_default().push(waited);
                }
            }
        }
        if let PageEnd::Node(own) = sent.to {
            self.retry_fault(own, requesters)?;
        }
        Ok(())
    }

    fn hand_in(
        &mut self,
        envelope: &LineEnvelope,
        message: LineMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<PageAnswer, ClockError> {
        self.observe_arrival(envelope, message);
        let answer = self.driver.deliver(&message.sent);
        let answer = self.checked(requesters.now(), envelope.to, message.block, answer)?;
        self.observe_answer(envelope, message, answer);
        self.apply(Some((envelope.to, message)), requesters)?;
        if message.sent.message == PageMessage::WrittenBack {
            let cache = usize::from(envelope.to);
            // One of them: a release of one trip may send others before.
            let sent = &mut self.writing_back[cache];
            if let Some(at) = sent.iter().position(|&block| block == message.block) {
                sent.swap_remove(at);
            }
            self.retry_deferred(cache, requesters);
        }
        Ok(answer)
    }

    /// Applies all effects. `cause` is the message that led to them, and the node where it arrived.
    pub(super) fn apply(
        &mut self,
        cause: Option<(u16, LineMessage)>,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        while !self.driver.effects.is_empty() {
            for effect in std::mem::take(&mut self.driver.effects) {
                self.apply_one(effect, cause, requesters)?;
            }
        }
        Ok(())
    }

    fn apply_one(
        &mut self,
        effect: PageEffect,
        cause: Option<(u16, LineMessage)>,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match effect {
            PageEffect::Send(sent) => {
                let home = match cause {
                    // A home answers from the node that received the message, even if the page has
                    // moved.
                    Some((at, message)) if message.sent.to == PageEnd::Home => at,
                    _ => self.homes.home(sent.page),
                };
                let node_of = |end| match end {
                    PageEnd::Home => home,
                    PageEnd::Node(node) => node,
                };
                let route = Route::new(node_of(sent.from), node_of(sent.to));
                let block = cause.map_or(0, |(_, message)| message.block);
                self.post(route, LineMessage { sent, block, bytes: 0 }, requesters);
            }
            PageEffect::Complete(node, page) => {
                let mapped = requesters.now() + self.timed.machine.system.page_table_cycles;
                requesters.schedule_at(mapped, rank(node), NodeEvent::Entered(node, page));
            }
            PageEffect::Flush(node, page) => self.flush(node, page, requesters)?,
            PageEffect::WriteBack(node, page) => self.clean_page(node, page, requesters)?,
            PageEffect::TakeWords => {
                if let Some((at, message)) = cause {
                    let bytes = u64::from(message.bytes);
                    self.transport.access_memory(requesters.now(), at, bytes);
                    self.values_taken(message.sent.requester, message.block);
                }
            }
            PageEffect::Released(node) => {
                let at = usize::from(node);
                self.released[at] = true;
                if std::mem::take(&mut self.releasing[at]) {
                    requesters.resume_at(requesters.now(), at);
                }
            }
        }
        Ok(())
    }

    /// The lines of a page are purged from a cache, and the page is removed from the page table.
    fn flush(
        &mut self,
        node: u16,
        page: u32,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let cache = usize::from(node);
        let (mut lines, mut sent) = (0, 0);
        for block in self.homes.blocks_of(page) {
            let Some(at) = self.valid_frame(cache, block) else { continue };
            lines += 1;
            sent += u32::from(self.write_back(node, page, block, at, requesters));
            let number = self.caches.frame(at).number;
            self.keep_dirty(block, number);
            self.caches.lose(block, cache, at, MissStatus::Invalidated);
            // The copy may lack earlier writes of other nodes.
            self.caches.frame(at).remote_written = self.unseen[at];
            self.caches.holders.lose(number, cache);
        }
        let system = self.timed.machine.system;
        self.unmapping += system.page_table_cycles + lines * system.purge_line_cycles;
        self.buffers.remove(node, page);
        self.replicas.unmapped(node, page, requesters.now());
        self.sent_lines(node, page, sent, requesters);
        self.apply(None, requesters)
    }

    /// The dirty words of a page in a cache are written back; the lines stay.
    fn clean_page(
        &mut self,
        node: u16,
        page: u32,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let mut sent = 0;
        for block in self.homes.blocks_of(page) {
            let Some(at) = self.valid_frame(usize::from(node), block) else { continue };
            sent += u32::from(self.write_back(node, page, block, at, requesters));
            // The protocol has to see the next write.
            self.permit(at, MAY_READ);
        }
        self.sent_lines(node, page, sent, requesters);
        self.apply(None, requesters)
    }

    /// Passes the protocol the number of lines with dirty words that were sent home.
    pub(super) fn sent_lines(
        &mut self,
        node: u16,
        page: u32,
        lines: u32,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let answer = self.driver.sent_lines(node, page, lines);
        self.note(requesters.now(), node, answer);
    }
}
