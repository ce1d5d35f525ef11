//! A processor asks for what a reference needs.

use homenode_cache::{BlockAccess, CacheArrays, CacheFrame, MissStatus, WordMask};
use homenode_clock::{Requester, Requesters};

use super::pending::PendingBlock;
use super::{BlockMessage, DashMemory};
use crate::clock::sync::node;
use crate::entries::NO_PAGE;
use crate::vocabulary::{CacheAction, CacheEvent, ControllerCell, Message};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// The page of a block, which has a home from now on.
    fn page(&mut self, (block, number): (u64, u32), node: u16) -> u32 {
        self.entries.reach(number);
        let head = self.entries.head(number);
        if head.page != NO_PAGE {
            return head.page;
        }
        let page = self.homes.number(block, self.memory_of(usize::from(node)));
        self.entries.put(number, crate::entries::EntryHead { page, ..head });
        page
    }

    /// Asks for what a reference needs, or waits until there is a frame for it.
    pub(super) fn begin(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let (cache, block) = (access.cache, access.block);
        let set = self.caches.frames.set_of(cache, block);
        let found = self.caches.frames.find(set, block);
        let at = found.unwrap_or_else(|| self.caches.frames.victim(set));
        let frame = *self.caches.frame(at);
        // A frame that a message is under way for can neither be asked for again nor be replaced.
        if frame.is_used() && !self.table.cache.rests(frame.state) {
            self.deferred[cache].push((requester, *access));
            return;
        }
        if found.is_some() && self.permissions[usize::from(frame.state)] & Self::need(access) != 0 {
            // It waited for its frame, and has got the block meanwhile.
            let touched = self.touch(access, requesters.now());
            self.error = self.error.take().or(touched.err());
            self.served(requester, at);
            requesters.complete_at(requesters.now(), requester);
            return;
        }
        let node = node(cache);
        let number = match found {
            Some(_) => frame.number,
            None => self.caches.holders.number(block),
        };
        let page = self.page((block, number), node);
        let misses = found.is_none() || frame.state == 0;
        if misses {
            self.miss(access, (set, at, found), number, requesters);
            let memory = self.memory_of(cache);
            self.count_fill(page, memory, block);
            if self.homes.moves_to(page, memory) {
                self.pages.forget_last(node);
            }
        } else {
            self.counts.upgrades += 1;
            self.announces(access, number);
        }
        self.served(requester, at);
        let since = requesters.now();
        let pending =
            PendingBlock { access: *access, requester: Some(requester), due: 0, since, misses };
        self.pending[cache].push(pending);
        self.values_asked(node, number);
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let home = self.transport.places().end_point(self.homes.home(page), block);
        self.ask((node, at), (block, number), (event, home), requesters);
    }

    /// The cache's controller asks the home, as its table says.
    fn ask(
        &mut self,
        (node, at): (u16, usize),
        (block, number): (u64, u32),
        (event, home): (CacheEvent, u16),
        requesters: &mut Requesters<'_, Self>,
    ) {
        let state = self.caches.frame(at).state;
        let ControllerCell::Does(actions, next) = self.table.cache_cell(state, event) else {
            return;
        };
        for &action in actions {
            if let CacheAction::Send(message, _) = action {
                let message = BlockMessage { message, block, number, requester: node, due: 0 };
                self.post((node, home), message, requesters);
            }
        }
        self.set_state(at, next);
    }

    /// Says why there is no copy, and makes room: the frame is left in the state without a copy.
    fn miss(
        &mut self,
        access: &BlockAccess<W>,
        (set, at, lost): (usize, usize, Option<usize>),
        number: u32,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let status = if lost.is_some() {
            let record = self.caches.holders.get(number);
            self.caches.holders.add_frame(number, access.cache);
            self.caches.coherence_miss(access, at, &record)
        } else {
            self.replace(access.cache, at, requesters);
            let had = self.caches.holders.add_frame(number, access.cache);
            self.caches.cold_or_replacement_miss(access, at, had);
            MissStatus::Settled
        };
        let remote_written = self.caches.frame(at).remote_written;
        let mut frame = CacheFrame::of(access.block, number);
        (frame.status, frame.remote_written) = (status, remote_written);
        self.caches.frames.fill(set, at, access.block, frame);
    }

    /// Takes what is in a frame out of it; what was written goes to its home.
    fn replace(&mut self, cache: usize, at: usize, requesters: &mut Requesters<'_, Self>) {
        let frame = *self.caches.frame(at);
        if !frame.is_used() {
            return;
        }
        if frame.state != 0 {
            if !self.caches.holders.nobody_lost(frame.number) {
                let record = self.caches.holders.get(frame.number);
                self.caches.tell_writes(frame.block(), &record);
            }
            let cell = self.table.cache_cell(frame.state, CacheEvent::Replace);
            if let ControllerCell::Does(actions, _) = cell {
                let node = node(cache);
                let page = self.entries.head(frame.number).page;
                let (home, memory) = (self.homes.home(page), self.memory_of(cache));
                let end_point = self.transport.places().end_point(home, frame.block());
                for &action in actions {
                    let CacheAction::Send(message, _) = action else { continue };
                    if message == Message::WriteBack {
                        self.counts.write_backs += 1;
                        self.counts.local_write_backs += u64::from(home == memory);
                        self.homes.written_back(page, memory);
                    }
                    let (block, number) = (frame.block(), frame.number);
                    self.values_sent((node, end_point), (message, number), at);
                    let message = BlockMessage { message, block, number, requester: node, due: 0 };
                    self.post((node, end_point), message, requesters);
                }
            }
            self.caches.end_copy(at);
        }
        self.caches.holders.remove_frame(frame.number, cache);
    }

    /// Sends a message, and counts it if it goes from one node to another.
    pub(super) fn post(
        &mut self,
        (from, to): (u16, u16),
        message: BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        self.sent.add_if(message.message, from != to);
        let envelope = self.envelope((from, to), message);
        self.transport.post(envelope, requesters.now(), requesters);
    }
}
