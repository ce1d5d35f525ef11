//! Lines that enter and leave a cache.

use homenode_cache::{
    BlockAccess, BlockRef, CacheArrays, FrameLocation, MAY_READ, MissStatus, WordMask,
};
use homenode_clock::{Requester, Requesters};

use super::references::{FETCHING, VALID};
use super::{LineEnvelope, LineMessage, LrcMemory};
use crate::home::PageFill;
use crate::lrc::driver::SentPageMessage;
use crate::lrc::vocabulary::PageMessage;
use crate::mesh::network::Route;
use crate::mesh::sync::node;
use crate::mesh::transport::Content;

/// A line that a node has requested.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingLine<W> {
    pub(super) access: BlockAccess<W>,
    requester: Requester,
    since: u64,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// Requests a line, or defers it until its frame is free and memory has the node's earlier
    /// writes to it.
    pub(super) fn begin(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let (cache, block) = (access.cache, access.block);
        if self.valid_frame(cache, block).is_some() {
            self.touch(access, requesters.now());
            requesters.complete_at(requesters.now(), requester);
            return;
        }
        let set = self.caches.frames.set_of(cache, block);
        let found = self.caches.frames.find(set, block);
        let at = found.unwrap_or_else(|| self.caches.frames.victim(set));
        let fetching = self.caches.frame(at).state == FETCHING;
        if fetching || self.writing_back[cache].contains(&block) {
            self.deferred[cache].push((requester, *access));
            return;
        }
        let own = node(cache);
        let page = self.page(block, own);
        let number = self.caches.holders.number(block);
        let slot = FrameLocation { set, frame: at };
        self.miss(access, slot, found.is_some(), number, requesters);
        let home = self.homes.home(page);
        self.counts.fills += 1;
        let local = home == own || self.replicas.has(own, page);
        self.counts.local_fills += u64::from(local);
        let from = if local { own } else { home };
        self.homes.filled(page, PageFill { node: own, source: from, block });
        let pending = PendingLine { access: *access, requester, since: requesters.now() };
        self.pending[cache].push(pending);
        let sent = SentPageMessage::to_home(own, page, PageMessage::Fetch);
        self.post(Route::new(own, from), LineMessage { sent, block, bytes: 0 }, requesters);
        if self.replicas.filled(own, page) && home != own {
            self.copy_page(own, page, requesters);
        }
    }

    /// Classifies a miss, and replaces the victim. `lost` says that the frame had the line before.
    fn miss(
        &mut self,
        access: &BlockAccess<W>,
        slot: FrameLocation,
        lost: bool,
        number: u32,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let at = slot.frame;
        let status = if lost {
            self.keep_dirty(access.block, number);
            let record = self.caches.holders.get(number);
            self.caches.holders.add_frame(number, access.cache);
            self.caches.coherence_miss(access, at, &record)
        } else {
            self.replace(access.cache, at, requesters);
            let had = self.caches.holders.add_frame(number, access.cache);
            self.caches.cold_or_replacement_miss(access, at, had);
            MissStatus::Settled
        };
        self.caches.claim(slot, BlockRef { block: access.block, number }, status, FETCHING);
        self.dirty[at] = W::default();
    }

    /// Replaces the line in a frame; dirty words go to memory.
    fn replace(&mut self, cache: usize, at: usize, requesters: &mut Requesters<'_, Self>) {
        let frame = *self.caches.frame(at);
        if !frame.is_used() {
            return;
        }
        let block = frame.block();
        if frame.state == VALID {
            let own = node(cache);
            let page = self.page(block, own);
            if !self.dirty_words(at).is_empty() {
                self.observe_cache(own, page, "replace", "send write-back to home");
            }
            if self.write_back(own, page, block, at, requesters) {
                self.sent_lines(own, page, 1, requesters);
            }
            self.caches.end_copy(at);
        }
        self.caches.holders.remove_frame(frame.number, cache);
    }

    /// Sends the dirty words of a line home. Returns whether there were any.
    pub(super) fn write_back(
        &mut self,
        own: u16,
        page: u32,
        block: u64,
        at: usize,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        let words = self.dirty_words(at);
        if words.is_empty() {
            return false;
        }
        self.values_written_back(own, block, at, words);
        self.clean(own, block, at);
        let home = self.homes.home(page);
        self.counts.write_backs += 1;
        self.counts.local_write_backs += u64::from(home == own);
        self.homes.written_back(page, own);
        self.writing_back[usize::from(own)].push(block);
        let bytes = 4 * words.len();
        let sent = SentPageMessage::to_home(own, page, PageMessage::WriteBack);
        self.post(Route::new(own, home), LineMessage { sent, block, bytes }, requesters);
        true
    }

    pub(super) fn send_line(
        &mut self,
        route: Route,
        request: LineMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let bytes = u32::try_from(self.block_bytes).unwrap_or(u32::MAX);
        let sent = SentPageMessage::to_node(route.to, request.sent.page, PageMessage::Line);
        let line = LineMessage { sent, bytes, ..request };
        self.count(route, line);
        self.values_sent(route.to, request.block);
        let envelope: LineEnvelope =
            self.transport.envelope(route, self.block_bytes, Content::Protocol(line));
        self.transport.post_from_memory(envelope, self.block_bytes, requesters);
    }

    /// A line has arrived: the reference that requested it takes place.
    pub(super) fn line_arrived(
        &mut self,
        own: u16,
        block: u64,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let cache = usize::from(own);
        let Some(at) = self.pending[cache].iter().position(|line| line.access.block == block)
        else {
            return;
        };
        let line = self.pending[cache].swap_remove(at);
        let number = self.caches.holders.number(block);
        let frame = self.caches.known_frame(cache, block);
        self.permit(frame, MAY_READ);
        self.values_arrived(own, block, frame);
        self.begin_unseen(own, BlockRef { block, number }, frame);
        self.caches.holders.add_holder(number, cache);
        let now = requesters.now();
        self.timing.add_answer(now - line.since, !line.access.write, true);
        let Ok(()) = requesters.perform(line.requester, |access| {
            self.touch(access, now);
            Ok(())
        }) else {
            return;
        };
        requesters.complete_at(now, line.requester);
        self.retry_deferred(cache, requesters);
    }

    /// References deferred for a frame or a write-back are tried again.
    pub(super) fn retry_deferred(&mut self, cache: usize, requesters: &mut Requesters<'_, Self>) {
        for (requester, access) in std::mem::take(&mut self.deferred[cache]) {
            self.begin(requester, &access, requesters);
        }
    }
}
