//! The memory system of a machine with a directory, as the clock drives it.

use homenode_cache::{BlockAccess, CacheArrays, CacheCounts, ClockError, WordMask, permission};
use homenode_clock::{
    MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters, SyncCourse, SyncRequest,
};

use super::{BlockEnvelope, BlockMessage, DashMemory};
use crate::counts::{DirectoryCounts, MessageCounts};
use crate::mesh::network::Route;
use crate::mesh::sync::{self, SyncMessage, node, part};
use crate::mesh::transport::{Content, NodeEvent, rank};
use crate::mesh::{DirectoryTiming, references};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    pub(super) fn touch(&mut self, access: &BlockAccess<W>, now: u64) -> Result<(), ClockError> {
        let frames = &self.caches.frames;
        let set = frames.set_of(access.cache, access.block);
        let Some(at) = frames.find(set, access.block) else { return Ok(()) };
        self.check_values(access, at, now)?;
        let permissions = &self.permissions;
        if !self.caches.touch_undecided(access, at, |state| permissions[usize::from(state)]) {
            self.caches.mark_touched(access, at);
        }
        let state = self.caches.frame(at).state;
        // Restores permissions that were withdrawn to see this reference.
        self.set_state(at, state);
        self.caches.frames.touch(set, at);
        Ok(())
    }

    /// Sets the state of a frame. It gets no permissions if the page was unmapped meanwhile, or if
    /// values are checked at every reference.
    pub(super) fn set_state(&mut self, at: usize, state: u8) {
        let number = self.caches.frame(at).number;
        let mapped = self.pages.is_mapped_for_all(self.entries.head(number).page);
        let permissions = if mapped && !self.values.are_checked() {
            self.permissions[usize::from(state)]
        } else {
            0
        };
        self.caches.set_state(at, state, permissions);
    }

    /// An error with its time and place.
    pub(super) fn failed(&self, now: u64, block: u64, node: u16, what: &'static str) -> ClockError {
        ClockError::impossible(now, block << self.block_shift, node, what)
    }

    /// All of a message has been received.
    fn delivered(
        &mut self,
        envelope: BlockEnvelope,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match envelope.content {
            Content::Protocol(message) if message.message.event_at_home().is_none() => {
                self.at_cache(&envelope, &message, requesters)?;
            }
            Content::Protocol(_)
            | Content::PageRequest(_)
            | Content::Sync(SyncMessage::Operation(_)) => {
                self.transport.look_up(envelope, requesters);
            }
            Content::Sync(message) => {
                sync::answer(envelope.to, message, requesters.now(), requesters);
            }
            // Memory stored the words as they arrived.
            Content::Page(_) => {}
        }
        Ok(())
    }

    /// A node's controller has looked up the block or page of a message.
    fn looked_up(
        &mut self,
        envelope: BlockEnvelope,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match envelope.content {
            Content::Protocol(message) => self.at_home(&envelope, &message, requesters)?,
            Content::PageRequest(page) => {
                self.send_page(page, Route::new(envelope.to, envelope.from), requesters);
            }
            Content::Sync(SyncMessage::Operation(number)) => {
                let now = requesters.now();
                self.sync.take_effect(number, envelope.to, now, requesters);
            }
            Content::Sync(_) | Content::Page(_) => {}
        }
        Ok(())
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MemorySystem for DashMemory<F, W, WORDS> {
    type Access = BlockAccess<W>;
    type Hit = ();
    type Event = NodeEvent<BlockMessage>;
    type Error = ClockError;

    fn block_shift(&self) -> u32 {
        self.block_shift
    }

    // The clock has several call sites, each of which can specialise it.
    #[inline(always)]
    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        let need = permission(reference.kind.writes());
        let words = W::of_bytes(reference.first, reference.last);
        let place = self.caches.locate(reference.processor, reference.block);
        self.caches.hit(place, reference.block, words, need)
    }

    fn try_access(&mut self, access: &BlockAccess<W>) -> bool {
        let place = self.caches.locate(access.cache, access.block);
        self.caches.hit_access(place, access)
    }

    fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        references::access(reference)
    }

    fn same_block(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
        one.same_block(other)
    }

    fn needs_request(&mut self, access: &BlockAccess<W>) -> bool {
        let frames = &self.caches.frames;
        let set = frames.set_of(access.cache, access.block);
        let state = frames.find(set, access.block).map_or(0, |at| frames.all()[at].state);
        self.permissions[usize::from(state)] & access.need() == 0
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
        self.awaits(requester);
        self.begin(requester, access, requesters);
    }

    fn event(
        &mut self,
        event: NodeEvent<BlockMessage>,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match event {
            NodeEvent::Arrives(envelope, tail) => {
                let there = self.transport.receive(envelope, tail, requesters);
                if let Content::Page(page) = envelope.content {
                    let (now, to) = (requesters.now(), envelope.to);
                    let memory = self.end_point_of_page(self.memory_of(usize::from(to)), page);
                    let (_, written) = self.transport.access_memory(now, memory, self.page_bytes);
                    let event = NodeEvent::PageThere(to, page);
                    requesters.schedule_at(written.max(there), rank(to), event);
                }
            }
            NodeEvent::Delivered(envelope) => self.delivered(envelope, requesters)?,
            NodeEvent::LookedUp(envelope) => self.looked_up(envelope, requesters)?,
            NodeEvent::Fetched(envelope, last) => self.transport.post(envelope, last, requesters),
            NodeEvent::Trapped(node, page) => self.trapped(node, page, requesters),
            NodeEvent::PageThere(node, page) => self.page_there(node, page, requesters),
            NodeEvent::Mapped(page) => self.mapped(page, requesters),
            NodeEvent::Entered(..) => {}
        }
        Ok(())
    }

    /// A request changes another cache only after a directory look-up, but pages can be unmapped
    /// at any time.
    fn undisturbed_until(&self, now: u64) -> u64 {
        let unmaps = self.homes.may_await_use(self.timed.phase_change);
        now + if unmaps { 1 } else { self.timed.machine.directory_cycles.max(1) }
    }

    fn at_rest_from(&self) -> u64 {
        self.transport.at_rest_from()
    }

    fn restart_counts(&mut self) {
        self.caches.counts = CacheCounts::default();
        self.counts = DirectoryCounts::default();
        self.timing = DirectoryTiming::default();
        self.sent = MessageCounts::default();
        self.homes.restart_uses();
        self.pages.faults = 0;
        self.transport.restart_counts();
    }

    fn count(&mut self, counted: ReferenceCounts) {
        references::count(&mut self.caches.counts, &mut self.counts, counted);
    }

    fn waited(&mut self, now: u64, requester: Requester, cycles: u64) {
        if let Some(waits) = &mut self.caches.waits {
            let (processor, port) = requester.place();
            self.awaited.waited(now, processor, port, cycles, waits);
        }
    }

    fn is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let processor = reference.processor;
        let memory = self.memory_of(processor);
        self.pages.is_block_mapped(&self.homes, reference.block, node(processor), memory)
    }

    /// A processor refers to a page that is not mapped, and waits until it is.
    fn fault(&mut self, reference: &MemoryReference, requesters: &mut Requesters<'_, Self>) {
        let node = node(reference.processor);
        let page = self.homes.number(reference.block, self.memory_of(reference.processor));
        if self.pages.fault(page, node) {
            let trapped = requesters.now() + self.timed.machine.system.page_fault_cycles;
            requesters.schedule_at(trapped, rank(node), NodeEvent::Trapped(node, page));
        }
    }

    /// Releases wait for acknowledgements; other operations go to homes.
    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let (at, kind) = (request.processor, request.operation.kind);
        let part = part(kind);
        let due = !self.pending[at].is_empty() || !self.deferred[at].is_empty();
        if part.releases && due && self.timed.machine.keeps_locks {
            self.releasing[at] = true;
            return SyncCourse::Later;
        }
        if self.homes.begin_again(kind, self.timed.phase_change) {
            self.pages.unmap_all();
            self.caches.withdraw_permissions();
        }
        if !part.sent || !self.timed.machine.keeps_locks {
            return SyncCourse::Now;
        }
        self.transport.post_operation(request, &mut self.sync, &self.homes, requesters);
        if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited }
    }

    fn goes_on(
        &mut self,
        cause: &SyncRequest,
        woken: Option<usize>,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        if self.timed.machine.keeps_locks {
            let processors = self.transport.places().processors();
            let (route, message) = self.sync.lets_go_on(cause, woken, processors);
            self.transport.post_sync(route, message, requesters);
        }
        !self.timed.machine.keeps_locks
    }
}
