//! A processor asks for what a reference needs: of its second level, then of its controller.

use homenode_cache::{BlockAccess, CacheArrays, CacheFrame, ClockError, MissStatus, WordMask};
use homenode_clock::{Requester, Requesters};

use super::ListMemory;
use super::arrival::ControllerEvent;
use super::copy::CopyPlace;
use super::observed::ObservedListController;
use super::posted::{ListPointer, ListPost};
use super::service::{Service, StoreAccess, rank};
use crate::clock::sync::node;
use crate::entries::NO_PAGE;
use crate::home::PageFill;
use crate::list_vocabulary::{CopyEvent, ListMessage};
use crate::vocabulary::ControllerCell;

/// What a processor waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingRequest<W> {
    pub(super) access: BlockAccess<W>,
    requester: Requester,
    /// Whether the controller has taken it up.
    taken_up: bool,
    /// The number of the request, once the controller has sent it; 0 before.
    pub(super) tag: u32,
    /// Since when the processor asks for it.
    since: u64,
    /// When it was sent to another node as a read, if it was.
    sent: Option<u64>,
    /// Whether there was no copy.
    misses: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// The place of a block in a node's first level.
    #[inline]
    fn first_level_place(&self, holder: usize, block: u64) -> usize {
        let blocks = self.first_level_blocks;
        let place = usize::try_from(block & (blocks - 1)).unwrap_or(0);
        holder * self.first_level_stride + place
    }

    /// Whether a node's first level has a block.
    #[inline]
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

    /// The page of a block, which has a home from now on.
    fn page(&mut self, (block, number): (u64, u32), node: u16) -> u32 {
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

    /// The home of a block that somebody has referred to.
    pub(super) fn home_of(&mut self, number: u32) -> u16 {
        let page = self.entries.of(number).page;
        self.homes.home(page)
    }

    /// A processor asks its second level, which is looked up once its bus is free. If it has what
    /// is needed the reference takes place; else the controller is asked.
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

    /// A processor refers to what its second level has. Returns when that is done.
    #[inline]
    pub(super) fn use_own_second_level(&mut self, now: u64, access: &BlockAccess<W>) -> u64 {
        // Words are written through without the rest of their block.
        let needed = if access.write { StoreAccess::Lookup } else { StoreAccess::LookupAndLine };
        if !access.write {
            self.keep_in_first_level(access.cache, access.block);
        }
        self.access_second_level(node(access.cache), now, needed)
    }

    /// Whether a state allows a reference.
    fn permits(&self, state: u8, access: &BlockAccess<W>) -> bool {
        self.permissions[usize::from(state)] & Self::need(access) != 0
    }

    /// The controller takes up its processor's request, or lets it wait until frame and block are
    /// free.
    pub(super) fn begin(
        &mut self,
        service: &mut Service,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
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
            // It came for a client meanwhile.
            self.use_second_level(service, StoreAccess::Line);
            return self.complete((own, block), service.time, requesters);
        }
        let event = if access.write { CopyEvent::Store } else { CopyEvent::Load };
        let ControllerCell::Does(actions, next) = self.table.copy_cell(state, event) else {
            self.nodes[usize::from(own)].deferred = true;
            return Ok(());
        };
        let at = match place {
            CopyPlace::Frame(at) => Some(at),
            CopyPlace::None => self.free_frame(service, block, requesters)?,
            CopyPlace::Leaving(_) => None,
        };
        let Some(at) = at else {
            self.nodes[usize::from(own)].deferred = true;
            return Ok(());
        };
        let number = self.number_at(place, at, block);
        let page = self.page((block, number), own);
        let misses = state == 0;
        if misses {
            self.miss(&access, (place, at), number);
            self.count_fill((page, own), block);
        } else {
            self.counts.upgrades += 1;
        }
        self.values_asked(own, number);
        let tag = self.new_tag(own);
        if misses {
            (self.tags[at], self.behind[at]) = (tag, 0);
        }
        if let Some(pending) = &mut self.pending[usize::from(own)] {
            (pending.tag, pending.misses) = (tag, misses);
        }
        let requester = ListPointer { node: own, tag };
        let post = ListPost {
            message: ListMessage::Read,
            from: own,
            to: own,
            block,
            number,
            requester,
            about: None,
            more: 0,
            relayed: false,
        };
        self.does(service, (&post, actions, next), requesters)?;
        self.observe(own, &post, ObservedListController::Copy(event, actions), (state, next));
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

    /// The number of the request that a node has under way for a block; that of its copy, if none
    /// of its processor's is.
    pub(super) fn request_tag(&self, own: u16, block: u64) -> u32 {
        let pending = self.pending[usize::from(own)].filter(|it| it.access.block == block);
        pending.map_or(0, |pending| pending.tag)
    }

    /// A frame for a block that is in none: what is in it is replaced. There is none while
    /// something is under way for the block that is in it.
    pub(super) fn free_frame(
        &mut self,
        service: &mut Service,
        block: u64,
        requesters: &mut Requesters<'_, Self>,
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
            self.leave(service, at, requesters)?;
            self.caches.end_copy(at);
        }
        self.caches.holders.remove_frame(frame.number, holder);
        self.forget_first_level(holder, frame.block());
        Ok(Some(at))
    }

    /// Says why there is no copy; the frame is left in the state without a copy.
    fn miss(&mut self, access: &BlockAccess<W>, (place, at): (CopyPlace, usize), number: u32) {
        let status = if place == CopyPlace::None {
            let had = self.caches.holders.add_frame(number, access.cache);
            self.caches.cold_or_replacement_miss(access, at, had);
            MissStatus::Settled
        } else {
            self.tell_writes(access.block, number);
            self.caches.holders.add_frame(number, access.cache);
            self.caches.told_coherence_miss(access, at)
        };
        let remote_written = self.caches.frame(at).remote_written;
        let mut frame = CacheFrame::of(access.block, number);
        (frame.status, frame.remote_written) = (status, remote_written);
        let set = self.caches.frames.set_of(access.cache, access.block);
        self.caches.frames.fill(set, at, access.block, frame);
    }

    /// A read leaves for another node. It is the processor's unless that has to wait for the block,
    /// as it is on its way for a client.
    pub(super) fn read_sent(&mut self, own: u16, block: u64, now: u64) {
        if let Some(pending) = &mut self.pending[usize::from(own)]
            && pending.access.block == block
            && pending.tag != 0
        {
            pending.sent.get_or_insert(now);
        }
    }

    /// What a processor waits for is there at this time: its reference takes place now. What the
    /// controller has not taken up yet will find it there.
    pub(super) fn complete(
        &mut self,
        (own, block): (u16, u64),
        ready: u64,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let holder = usize::from(own);
        let waits = |it: &PendingRequest<W>| it.taken_up && it.access.block == block;
        let Some(pending) = self.pending[holder].filter(waits) else { return Ok(()) };
        let (_, state) = self.place(own, block);
        if !self.permits(state, &pending.access) {
            // The processor wants to write what has come for a read of others.
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
            self.values_complete(own, number);
        }
        if !pending.access.write {
            self.keep_in_first_level(holder, block);
        }
        requesters.complete_at(ready, pending.requester);
        Ok(())
    }

    /// The state of a block at a node is another one: what waited for that is tried again.
    pub(super) fn changed(
        &mut self,
        (service, block): (&mut Service, u64),
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let at = usize::from(service.node);
        if !self.nodes[at].waiting.is_empty() {
            let waiting = std::mem::take(&mut self.nodes[at].waiting);
            let (of_block, others): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|post| post.block == block);
            self.nodes[at].waiting = others;
            // Before anything else that the node sends to itself.
            service.own.splice(0..0, of_block);
        }
        let (_, state) = self.place(service.node, block);
        if self.table.copy.rests(state) && std::mem::take(&mut self.nodes[at].deferred) {
            self.begin(service, requesters)?;
        }
        Ok(())
    }

    /// A block of a page comes to a node.
    fn count_fill(&mut self, (page, own): (u32, u16), block: u64) {
        let source = self.homes.home(page);
        self.counts.fills += 1;
        self.counts.local_fills += u64::from(source == own);
        self.homes.filled(page, PageFill { node: own, source, block });
    }

    /// A modified block goes to its home.
    pub(super) fn count_write_back(&mut self, own: u16, number: u32) {
        let page = self.entries.of(number).page;
        self.counts.write_backs += 1;
        self.counts.local_write_backs += u64::from(self.homes.home(page) == own);
        self.homes.written_back(page, own);
    }
}
