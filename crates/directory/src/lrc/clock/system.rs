//! The memory system of a machine with coherence in software, as the clock drives it.

use homenode_cache::{BlockAccess, CacheArrays, CacheCounts, ClockError, WordMask, permission};
use homenode_clock::{
    MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters, SyncCourse, SyncRequest,
};

use super::observed::{MOVES_IN, MOVES_OUT};
use super::{FaultingAccess, LineEnvelope, LineMessage, LrcMemory};
use crate::counts::DirectoryCounts;
use crate::lrc::vocabulary::{PageMessage, PageMessageCounts, PagePermission};
use crate::mesh::network::Route;
use crate::mesh::sync::{SyncMessage, node};
use crate::mesh::transport::{Content, NodeEvent, rank};
use crate::mesh::{DirectoryTiming, references};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// All of a message has been received.
    fn delivered(
        &mut self,
        envelope: LineEnvelope,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match envelope.content {
            Content::Protocol(message) => match message.sent.message {
                // Caches and memories handle lines without the protocol's tables.
                PageMessage::Fetch => {
                    self.observe_arrival(&envelope, message);
                    self.driver.observe_fetch(envelope.from, message.sent.page);
                    self.send_line(Route::new(envelope.to, envelope.from), message, requesters);
                }
                PageMessage::Line => {
                    self.observe_arrival(&envelope, message);
                    self.observe_cache(envelope.to, message.sent.page, "line", "complete");
                    self.line_arrived(envelope.to, message.block, requesters);
                }
                PageMessage::WriteBack => self.deliver(&envelope, message, requesters)?,
                PageMessage::ReadFault
                | PageMessage::WriteFault
                | PageMessage::Upgrade
                | PageMessage::Unmap
                | PageMessage::Modified => self.transport.look_up(envelope, requesters),
                PageMessage::Mapped
                | PageMessage::WrittenBack
                | PageMessage::WriteNotice
                | PageMessage::NoticesSent
                | PageMessage::Acknowledge => self.deliver(&envelope, message, requesters)?,
            },
            Content::PageRequest(_) | Content::Sync(SyncMessage::Operation(_)) => {
                self.transport.look_up(envelope, requesters);
            }
            Content::Sync(message) => self.sync_answer(envelope.to, message, requesters)?,
            // Memory stored the words as they arrived.
            Content::Page(page) => self.observe_page(&envelope, page, MOVES_IN),
        }
        Ok(())
    }

    /// A node's controller has looked up the block or page of a message.
    fn looked_up(
        &mut self,
        envelope: LineEnvelope,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        match envelope.content {
            Content::Protocol(message) => self.deliver(&envelope, message, requesters)?,
            Content::PageRequest(page) => {
                self.observe_page(&envelope, page, MOVES_OUT);
                let route = Route::new(envelope.to, envelope.from);
                let page = self.transport.envelope(route, self.page_bytes, Content::Page(page));
                self.transport.post_from_memory(page, self.page_bytes, requesters);
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

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MemorySystem for LrcMemory<F, W, WORDS> {
    type Access = BlockAccess<W>;
    type Hit = ();
    type Event = NodeEvent<LineMessage>;
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
        // A valid line of a page in the TLB.
        self.caches.frames.all()[place.frame].permits(reference.block, need)
            && self.page_is_mapped(reference)
            && self.caches.hit(place, reference.block, words, need)
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
        self.valid_frame(access.cache, access.block).is_none()
    }

    fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        self.touch(access, now);
        self.error.take().map_or(Ok(()), Err)
    }

    fn request(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        requesters: &mut Requesters<'_, Self>,
    ) {
        self.begin(requester, access, requesters);
    }

    fn event(
        &mut self,
        event: NodeEvent<LineMessage>,
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
                    let (_, written) = self.transport.access_memory(now, to, self.page_bytes);
                    let event = NodeEvent::PageThere(to, page);
                    requesters.schedule_at(written.max(there), rank(to), event);
                }
            }
            NodeEvent::Delivered(envelope) => self.delivered(envelope, requesters)?,
            NodeEvent::LookedUp(envelope) => self.looked_up(envelope, requesters)?,
            NodeEvent::Fetched(envelope, last) => self.transport.post(envelope, last, requesters),
            NodeEvent::Trapped(node, page) => self.trapped(node, page, requesters)?,
            NodeEvent::PageThere(node, page) => self.page_there(node, page, requesters)?,
            NodeEvent::Entered(node, page) => self.entered(node, page, requesters),
            NodeEvent::Mapped(_) => {}
        }
        Ok(())
    }

    /// A cache changes only at acquires of its own processor, not by requests of others.
    fn undisturbed_until(&self, _: u64) -> u64 {
        u64::MAX
    }

    fn at_rest_from(&self) -> u64 {
        self.transport.at_rest_from()
    }

    fn restart_counts(&mut self) {
        self.caches.counts = CacheCounts::default();
        self.counts = DirectoryCounts::default();
        self.timing = DirectoryTiming::default();
        self.sent = PageMessageCounts::default();
        self.homes.restart_uses();
        self.buffers.misses = 0;
        (self.replicas.made, self.replicas.dropped, self.unmapping) = (0, 0, 0);
        self.transport.restart_counts();
    }

    fn count(&mut self, counted: ReferenceCounts) {
        references::count(&mut self.caches.counts, &mut self.counts, counted);
    }

    fn is_mapped(&mut self, reference: &MemoryReference) -> bool {
        self.page_is_mapped(reference)
    }

    /// A processor refers to a page that is not in its TLB or not in its page table.
    fn fault(&mut self, reference: &MemoryReference, requesters: &mut Requesters<'_, Self>) {
        let own = node(reference.processor);
        let page = self.page(reference.block, own);
        let system = self.timed.machine.system;
        let store = reference.kind.writes();
        let needed = PagePermission::needed(store);
        let now = requesters.now();
        if self.driver.permission(own, page) >= needed {
            self.enter_buffer(own, page);
            requesters.resume_at(now + system.tlb_fill_cycles, reference.processor);
            return;
        }
        self.timing.page_faults += 1;
        self.faulting[reference.processor] = Some(FaultingAccess { page, store });
        let trapped = now + system.page_fault_cycles;
        requesters.schedule_at(trapped, rank(own), NodeEvent::Trapped(own, page));
    }

    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        self.begin_sync(request, requesters).unwrap_or_else(|error| {
            // It is returned with the next event.
            self.error = Some(error);
            requesters.resume_at(requesters.now() + 1, request.processor);
            SyncCourse::Later
        })
    }

    fn goes_on(
        &mut self,
        cause: &SyncRequest,
        woken: Option<usize>,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        let processors = self.transport.places().processors();
        let (route, message) = self.sync.lets_go_on(cause, woken, processors);
        self.transport.post_sync(route, message, requesters);
        false
    }
}
