//! Requests of a processor: to its second level, then to its controller.

use homenode_cache::{
    BlockAccess, BlockRef, CacheArrays, ClockError, FrameLocation, MissStatus, WordMask,
};
use homenode_clock::{Requester, Requesters};

use super::ListMemory;
use super::arrival::ControllerEvent;
use super::copy::CopyPlace;
use super::posted::{ListPointer, ListPost};
use super::service::{Service, StoreAccess, rank};
use crate::cell::ControllerCell;
use crate::entries::NO_PAGE;
use crate::home::PageFill;
use crate::linked::vocabulary::CopyEvent;
use crate::mesh::sync::node;

/// A processor's outstanding request.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingRequest<W> {
    pub(super) access: BlockAccess<W>,
    requester: Requester,
    /// Whether the controller has accepted it.
    taken_up: bool,
    /// The number of the request, once the controller has sent it; 0 before.
    pub(super) tag: u32,
    /// Cycle of the processor's request.
    since: u64,
    /// When it was sent to another node as a read, if at all.
    sent: Option<u64>,
    /// Whether the node had no copy.
    misses: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// The position of a block in a node's first level.
    fn first_level_place(&self, holder: usize, block: u64) -> usize {
        let blocks = self.first_level_blocks;
        let place = usize::try_from(block & (blocks - 1)).unwrap_or(0);
        holder * self.first_level_stride + place
    }

    /// Whether a node's first level has a block.
    pub(super) fn in_first_level(&self, holder: usize, block: u64) -> bool {
        self.first_level[self.first_level_place(holder, block)] == block + 1
    }

    fn keep_in_first_level(&mut self, holder: usize, block: u64) {
        let place = self.first_level_place(holder, block);
        self.first_level[place] = block + 1;
    }

    /// A block is no longer in a node's second level, and so not in its first.
    pub(super) fn forget_first_level(&mut self, holder: usize, block: u64) {
        let place = self.first_level_place(holder, block);
        if self.first_level[place] == block + 1 {
            self.first_level[place] = 0;
        }
    }

    /// The page of a block, which gets a home if it has none.
    fn page(&mut self, block: BlockRef, node: u16) -> u32 {
        let BlockRef { block, number } = block;
        let page = self.entries.of(number).page;
        if page != NO_PAGE {
            return page;
        }
        let page = self.homes.number(block, node);
        let marked = self.proxies.marks(block);
        let entry = self.entries.of(number);
        (entry.page, entry.marked) = (page, marked);
        page
    }

    /// The home of a block that has been referenced.
    pub(super) fn home_of(&mut self, number: u32) -> u16 {
        let page = self.entries.of(number).page;
        self.homes.home(page)
    }

    /// A processor's request to its second level, served once its bus is free. On a hit the
    /// reference takes place; a miss goes to the controller.
    pub(super) fn ask_second_level(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let (own, now) = (node(access.cache), requesters.now());
        let (_, state) = self.place(own, access.block);
        if self.permits(state, access) {
            let done = self.use_own_second_level(now, access);
            let performed = requesters.perform(requester, |access| self.touch(access, now));
            self.error = self.error.take().or(performed.err());
            requesters.complete_at(done, requester);
            return;
        }
        let (since, access) = (now, *access);
        self.pending[access.cache] = Some(PendingRequest {
            access,
            requester,
            taken_up: false,
            tag: 0,
            since,
            sent: None,
            misses: false,
        });
        let missed = self.access_second_level(own, now, StoreAccess::Lookup);
        requesters.schedule_at(missed, rank(own), ControllerEvent::Missed(own));
    }

    /// A hit in the second level. Returns when it is done.
    pub(super) fn use_own_second_level(&mut self, now: u64, access: &BlockAccess<W>) -> u64 {
        // A write writes its words through, without reading the block.
        let needed = if access.write { StoreAccess::Lookup } else { StoreAccess::LookupAndLine };
        if !access.write {
            self.keep_in_first_level(access.cache, access.block);
        }
        self.access_second_level(node(access.cache), now, needed)
    }

    fn permits(&self, state: u8, access: &BlockAccess<W>) -> bool {
        self.permissions[usize::from(state)] & access.need() != 0
    }

    /// The controller accepts its processor's request, or defers it until its frame and block are
    /// free.
    pub(super) fn begin(&mut self, service: &mut Service<'_, '_, Self>) -> Result<(), ClockError> {
        let own = service.node;
        let Some(PendingRequest { access, taken_up, .. }) = &mut self.pending[usize::from(own)]
        else {
            return Ok(());
        };
        *taken_up = true;
        let access = *access;
        let block = access.block;
        let (place, state) = self.place(own, block);
        if self.permits(state, &access) {
            // The block was fetched for a client meanwhile.
            self.use_second_level(service, StoreAccess::Line);
            return self.complete(own, block, service.time, service.requesters);
        }
        let event = if access.write { CopyEvent::Store } else { CopyEvent::Load };
        let ControllerCell::Does(actions, next) = self.table.copy.cell(state, event) else {
            self.nodes[usize::from(own)].deferred = true;
            return Ok(());
        };
        let at = match place {
            CopyPlace::Frame(at) => Some(at),
            CopyPlace::None => self.free_frame(service, block)?,
            CopyPlace::Leaving(_) => None,
        };
        let Some(at) = at else {
            self.nodes[usize::from(own)].deferred = true;
            return Ok(());
        };
        let number = self.number_at(place, at, block);
        let page = self.page(BlockRef { block, number }, own);
        let misses = state == 0;
        if misses {
            self.miss(&access, place, at, number);
            self.count_fill(page, own, block);
        } else {
            self.counts.upgrades += 1;
        }
        self.values.ask(own, number);
        let tag = self.new_tag(own);
        if misses {
            (self.tags[at], self.behind[at]) = (tag, 0);
        }
        if let Some(pending) = &mut self.pending[usize::from(own)] {
            (pending.tag, pending.misses) = (tag, misses);
        }
        let post = ListPost::within(ListPointer { node: own, tag }, BlockRef { block, number });
        self.perform_actions(service, &post, actions, next)?;
        self.observe_copy(own, &post, event, actions, [state, next]);
        Ok(())
    }

    fn number_at(&mut self, place: CopyPlace, at: usize, block: u64) -> u32 {
        match place {
            CopyPlace::Frame(_) => self.caches.frame(at).number,
            CopyPlace::Leaving(_) | CopyPlace::None => self.caches.holders.number(block),
        }
    }

    /// The number of a new request of a node.
    pub(super) fn new_tag(&mut self, own: u16) -> u32 {
        let tags = &mut self.nodes[usize::from(own)].tags;
        *tags = tags.wrapping_add(1);
        *tags
    }

    /// The number of the node's outstanding request for a block; 0 if there is none.
    pub(super) fn request_tag(&self, own: u16, block: u64) -> u32 {
        let pending = self.pending[usize::from(own)].filter(|it| it.access.block == block);
        pending.map_or(0, |pending| pending.tag)
    }

    /// Frees a frame for a block by replacing the victim. Returns none while the victim's block has
    /// a transaction in progress.
    pub(super) fn free_frame(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        block: u64,
    ) -> Result<Option<usize>, ClockError> {
        let holder = usize::from(service.node);
        let set = self.caches.frames.set_of(holder, block);
        let at = self.caches.frames.victim(set);
        let frame = *self.caches.frame(at);
        if !frame.is_used() {
            return Ok(Some(at));
        }
        if !self.table.copy.rests(frame.state) {
            return Ok(None);
        }
        if frame.state != 0 {
            self.tell_writes(frame.block(), frame.number);
            self.leave(service, at)?;
            self.caches.end_copy(at);
        }
        self.caches.holders.remove_frame(frame.number, holder);
        self.forget_first_level(holder, frame.block());
        Ok(Some(at))
    }

    /// Classifies a miss; the frame is left without a copy.
    fn miss(&mut self, access: &BlockAccess<W>, place: CopyPlace, at: usize, number: u32) {
        let status = if place == CopyPlace::None {
            let had = self.caches.holders.add_frame(number, access.cache);
            self.caches.cold_or_replacement_miss(access, at, had);
            MissStatus::Settled
        } else {
            self.tell_writes(access.block, number);
            self.caches.holders.add_frame(number, access.cache);
            self.caches.told_coherence_miss(access, at)
        };
        let set = self.caches.frames.set_of(access.cache, access.block);
        let place = FrameLocation { set, frame: at };
        self.caches.claim(place, BlockRef { block: access.block, number }, status, 0);
    }

    /// A read leaves for another node; records the time if it is the processor's own read, not one
    /// for a client.
    pub(super) fn read_sent(&mut self, own: u16, block: u64, now: u64) {
        if let Some(pending) = &mut self.pending[usize::from(own)]
            && pending.access.block == block
            && pending.tag != 0
        {
            pending.sent.get_or_insert(now);
        }
    }

    /// The processor's request is served at `ready`: its reference takes place now. A request that
    /// the controller has not accepted yet will find the block later.
    pub(super) fn complete(
        &mut self,
        own: u16,
        block: u64,
        ready: u64,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let holder = usize::from(own);
        let waits = |it: &PendingRequest<W>| it.taken_up && it.access.block == block;
        let Some(pending) = self.pending[holder].filter(waits) else { return Ok(()) };
        let (_, state) = self.place(own, block);
        if !self.permits(state, &pending.access) {
            // The block was fetched for a read, and the processor needs to write.
            return Ok(());
        }
        (self.pending[holder], self.nodes[holder].deferred) = (None, false);
        let now = requesters.now();
        if pending.misses {
            self.timing.filled += 1;
            self.timing.fill_cycles += ready - pending.since;
        }
        if let Some(sent) = pending.sent {
            self.timing.read += 1;
            self.timing.read_cycles += now - sent;
        }
        requesters.perform(pending.requester, |access| self.touch(access, now))?;
        let (place, _) = self.place(own, block);
        if let CopyPlace::Frame(at) = place {
            let number = self.caches.frame(at).number;
            self.values.complete(own, number);
        }
        if !pending.access.write {
            self.keep_in_first_level(holder, block);
        }
        requesters.complete_at(ready, pending.requester);
        Ok(())
    }

    /// The state of a block at a node has changed: messages that waited for it are tried again.
    pub(super) fn changed(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        block: u64,
    ) -> Result<(), ClockError> {
        let at = usize::from(service.node);
        if !self.nodes[at].waiting.is_empty() {
            let waiting = std::mem::take(&mut self.nodes[at].waiting);
            let (of_block, others): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|post| post.block == block);
            self.nodes[at].waiting = others;
            // These come before other messages of the node to itself.
            service.own.splice(0..0, of_block);
        }
        let (_, state) = self.place(service.node, block);
        if self.table.copy.rests(state) && std::mem::take(&mut self.nodes[at].deferred) {
            self.begin(service)?;
        }
        Ok(())
    }

    fn count_fill(&mut self, page: u32, own: u16, block: u64) {
        let source = self.homes.home(page);
        self.counts.fills += 1;
        self.counts.local_fills += u64::from(source == own);
        self.homes.filled(page, PageFill { node: own, source, block });
    }

    pub(super) fn count_write_back(&mut self, own: u16, number: u32) {
        let page = self.entries.of(number).page;
        self.counts.write_backs += 1;
        self.counts.local_write_backs += u64::from(self.homes.home(page) == own);
        self.homes.written_back(page, own);
    }
}
