//! The memory system of nodes with controllers, as the clock drives it.

use homenode_cache::{
    BlockAccess, CacheArrays, CacheCounts, CacheFrame, ClockError, MAY_READ, WordMask,
};
use homenode_clock::{
    MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters, SyncCourse, SyncRequest,
};

use super::arrival::ControllerEvent;
use super::posted::ListCounts;
use super::service::{StoreAccess, cycles};
use super::{ControllerNode, ListMemory};
use crate::counts::DirectoryCounts;
use crate::mesh::network::Route;
use crate::mesh::sync::{node, part};
use crate::mesh::{DirectoryTiming, references};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A reference takes place in its copy.
    pub(super) fn touch(&mut self, access: &BlockAccess<W>, now: u64) -> Result<(), ClockError> {
        let frames = &self.caches.frames;
        let set = frames.set_of(access.cache, access.block);
        let Some(at) = frames.find(set, access.block) else { return Ok(()) };
        self.check_values(access, at, now)?;
        let permissions = &self.permissions;
        if !self.caches.touch_undecided(access, at, |state| permissions[usize::from(state)]) {
            self.caches.mark_touched(access, at);
        }
        let CacheFrame { state, number, .. } = *self.caches.frame(at);
        self.entries.of(number).written |= access.write;
        // Restores permissions that were withdrawn to see this reference.
        self.set_state(at, state);
        self.caches.frames.touch(set, at);
        Ok(())
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MemorySystem for ListMemory<F, W, WORDS> {
    type Access = BlockAccess<W>;
    type Hit = ();
    type Event = ControllerEvent;
    type Error = ClockError;

    const HAS_TIMED_HITS: bool = true;

    fn block_shift(&self) -> u32 {
        self.block_shift
    }

    /// A read hit in the first level, which is write-through.
    #[inline(always)]
    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        if reference.kind.writes() || !self.in_first_level(reference.processor, reference.block) {
            return false;
        }
        let words = W::of_bytes(reference.first, reference.last);
        let place = self.caches.locate(reference.processor, reference.block);
        self.caches.hit(place, reference.block, words, MAY_READ)
    }

    /// A hit in the second level.
    #[inline(always)]
    fn try_timed_hit(&mut self, now: u64, reference: &MemoryReference) -> Option<u64> {
        let access = references::access(reference);
        let place = self.caches.locate(access.cache, access.block);
        if !self.caches.hit_access(place, &access) {
            return None;
        }
        if access.write {
            let number = self.caches.frame(place.frame).number;
            self.entries.of(number).written = true;
        }
        Some(self.use_own_second_level(now, &access))
    }

    fn try_access(&mut self, _: &BlockAccess<W>) -> bool {
        false
    }

    fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        references::access(reference)
    }

    fn same_block(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
        one.same_block(other)
    }

    /// A read hit in the first level needs no request, even if its miss is unclassified; all other
    /// accesses take the time of the second level.
    fn needs_request(&mut self, access: &BlockAccess<W>) -> bool {
        access.write || !self.in_first_level(access.cache, access.block)
    }

    fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        self.touch(access, now)
    }

    fn request(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        self.ask_second_level(requester, access, requesters);
    }

    fn event(
        &mut self,
        event: ControllerEvent,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match event {
            ControllerEvent::Arrives(parcel) => self.arrives(parcel, requesters),
            ControllerEvent::Received(parcel) => self.received(parcel, requesters),
            ControllerEvent::Missed(node) => self.missed(node, requesters),
            ControllerEvent::Serve(node) => self.serve(node, requesters),
        }
    }

    /// A request changes another cache only after a look-up of its own second level, but pages can
    /// be unmapped at any time.
    fn undisturbed_until(&self, now: u64) -> u64 {
        let unmaps = self.homes.may_await_use(self.phase_change);
        let missed = cycles(&self.machine.second_level, StoreAccess::Lookup);
        now + if unmaps { 1 } else { missed }
    }

    fn at_rest_from(&self) -> u64 {
        self.nodes.iter().map(|node| node.busy.controller_free).max().unwrap_or(0)
    }

    fn restart_counts(&mut self) {
        self.caches.counts = CacheCounts::default();
        self.counts = DirectoryCounts::default();
        self.timing = DirectoryTiming::default();
        self.sent = ListCounts::default();
        self.homes.restart_uses();
        self.pages.faults = 0;
        for ControllerNode { buffer, busy, .. } in &mut self.nodes {
            buffer.restart();
            (busy.serving, busy.accessing, busy.sending) = (0, 0, 0);
        }
    }

    fn count(&mut self, counted: ReferenceCounts) {
        references::count(&mut self.caches.counts, &mut self.counts, counted);
    }

    fn is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let own = node(reference.processor);
        self.pages.is_block_mapped(&self.homes, reference.block, own, own)
    }

    /// A page gets its home at its first use, unless its home is settled. Mapping and moving take
    /// no time: the publication gives none.
    fn fault(&mut self, reference: &MemoryReference, requesters: &mut Requesters<'_, Self>) {
        let own = node(reference.processor);
        let page = self.homes.number(reference.block, own);
        self.pages.fault(page, own);
        if self.homes.moves_to(page, own) {
            self.homes.used(page, own);
        }
        let awaits_use = self.homes.awaits_use() && !self.homes.is_settled(page);
        for waiting in self.pages.map(page, awaits_use) {
            requesters.resume_at(requesters.now(), usize::from(waiting));
        }
    }

    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let kind = request.operation.kind;
        let part = part(kind);
        if self.homes.begin_again(kind, self.phase_change) {
            self.pages.unmap_all();
            self.caches.withdraw_permissions();
        }
        if !part.sent {
            return SyncCourse::Now;
        }
        let (home, _, message) = self.sync.submit(request, &self.homes, self.node_count);
        self.post_sync(Route::new(node(request.processor), home), message, requesters);
        if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited }
    }

    fn goes_on(
        &mut self,
        cause: &SyncRequest,
        woken: Option<usize>,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        let (route, message) = self.sync.lets_go_on(cause, woken, self.node_count.into());
        self.post_sync(route, message, requesters);
        false
    }
}
