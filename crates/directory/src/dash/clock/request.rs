//! Requests for the data or permission that a reference needs.

use homenode_cache::{BlockAccess, BlockRef, CacheArrays, FrameLocation, MissStatus, WordMask};
use homenode_clock::{Requester, Requesters};

use super::pending::PendingBlock;
use super::{BlockMessage, DashMemory};
use crate::cell::ControllerCell;
use crate::dash::vocabulary::{CacheAction, CacheEvent, Message};
use crate::entries::NO_PAGE;
use crate::mesh::network::Route;
use crate::mesh::sync::node;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    fn page(&mut self, block: BlockRef, node: u16) -> u32 {
        let BlockRef { block, number } = block;
        self.entries.reach(number);
        let head = self.entries.head(number);
        if head.page != NO_PAGE {
            return head.page;
        }
        let page = self.homes.number(block, self.memory_of(usize::from(node)));
        self.entries.put(number, crate::entries::EntryHead { page, ..head });
        page
    }

    /// Requests what a reference needs, or defers it until its frame is free.
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
        // A frame with a message in flight can neither be requested again nor be replaced.
        if frame.is_used() && !self.table.cache.rests(frame.state) {
            self.deferred[cache].push((requester, *access));
            return;
        }
        if found.is_some() && self.permissions[usize::from(frame.state)] & access.need() != 0 {
            // The block arrived while the reference was deferred.
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
        let block_ref = BlockRef { block, number };
        let page = self.page(block_ref, node);
        let misses = found.is_none() || frame.state == 0;
        if misses {
            let slot = FrameLocation { set, frame: at };
            self.miss(access, slot, found.is_some(), number, requesters);
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
        self.values.ask(node, number);
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let home = self.transport.places().end_point(self.homes.home(page), block);
        self.request_home(Route::new(node, home), at, block_ref, event, requesters);
    }

    /// The cache's controller sends a request to the home, as its table says.
    fn request_home(
        &mut self,
        route: Route,
        at: usize,
        block: BlockRef,
        event: CacheEvent,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let BlockRef { block, number } = block;
        let state = self.caches.frame(at).state;
        let ControllerCell::Does(actions, next) = self.table.cache.cell(state, event) else {
            return;
        };
        for &action in actions {
            if let CacheAction::Send(message, _) = action {
                let requester = route.from;
                let message = BlockMessage { message, block, number, requester, due: 0 };
                self.post(route, message, requesters);
            }
        }
        self.set_state(at, next);
    }

    /// Classifies a miss, and replaces the victim; the frame is left without a copy. `lost` says
    /// that it had the block before.
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
            let record = self.caches.holders.get(number);
            self.caches.holders.add_frame(number, access.cache);
            self.caches.coherence_miss(access, at, &record)
        } else {
            self.replace(access.cache, at, requesters);
            let had = self.caches.holders.add_frame(number, access.cache);
            self.caches.cold_or_replacement_miss(access, at, had);
            MissStatus::Settled
        };
        self.caches.claim(slot, BlockRef { block: access.block, number }, status, 0);
    }

    /// Replaces the block in a frame; modified data go to the home.
    fn replace(&mut self, cache: usize, at: usize, requesters: &mut Requesters<'_, Self>) {
        let frame = *self.caches.frame(at);
        if !frame.is_used() {
            return;
        }
        if frame.state != 0 {
            if !self.caches.holders.none_lost(frame.number) {
                let record = self.caches.holders.get(frame.number);
                self.caches.tell_writes(frame.block(), &record);
            }
            let cell = self.table.cache.cell(frame.state, CacheEvent::Replace);
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
                    let route = Route::new(node, end_point);
                    let message = BlockMessage { message, block, number, requester: node, due: 0 };
                    self.values_sent(route, &message, at);
                    self.post(route, message, requesters);
                }
            }
            self.caches.end_copy(at);
        }
        self.caches.holders.remove_frame(frame.number, cache);
    }

    pub(super) fn post(
        &mut self,
        route: Route,
        message: BlockMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        self.sent.add_if(message.message, route.is_remote());
        let envelope = self.envelope(route, message);
        self.transport.post(envelope, requesters.now(), requesters);
    }
}
