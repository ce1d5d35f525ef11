//! Synchronisation: what waits for acknowledgements, and messages to homes and back.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::streams::OpKind;
use homenode_clock::{Requesters, SyncCourse, SyncRequest};

use super::DashMemory;
use super::request::node;
use crate::clock::sync::{SyncMessage, part};
use crate::clock::transport::Content;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A processor comes to a synchronisation operation.
    pub(super) fn begin_sync(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let (at, kind) = (request.processor, request.operation.kind);
        let part = part(kind);
        let due = !self.pending[at].is_empty() || !self.deferred[at].is_empty();
        if part.releases && due {
            self.releasing[at] = true;
            return SyncCourse::Later;
        }
        let moves = (kind == OpKind::InitDone && self.homes.init_done())
            || (kind == OpKind::Phase && self.timed.phase_change && self.homes.phase_change());
        if moves {
            self.unmap_all();
        }
        if !part.told {
            return SyncCourse::Now;
        }
        let number = self.sync.add(*request);
        let way = (node(at), self.sync_home(request));
        self.send_sync(way, SyncMessage::Operation(number), requesters);
        if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited }
    }

    fn send_sync(
        &mut self,
        way: (u16, u16),
        message: SyncMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let envelope = self.transport.envelope(way, 0, Content::Sync(message));
        self.transport.post(envelope, requesters.now(), requesters);
    }

    /// The node that decides about a lock or a barrier.
    fn sync_home(&self, request: &SyncRequest) -> u16 {
        let (kind, addr) = (request.operation.kind, request.operation.addr);
        let lock = matches!(kind, OpKind::Acquire | OpKind::Release);
        let block = addr >> self.block_shift;
        let page = Some(block).filter(|_| lock).and_then(|block| self.homes.find(block));
        let by_number = if lock { block } else { addr } % u64::from(self.nodes);
        page.map_or(u16::try_from(by_number).unwrap_or(0), |page| self.homes.home(page))
    }

    /// The home has looked an operation up: it has its effect.
    pub(super) fn sync_at_home(
        &mut self,
        (number, home): (u32, u16),
        requesters: &mut Requesters<'_, Self>,
    ) {
        let Some(request) = self.sync.take(number) else { return };
        let now = requesters.now();
        self.sync.decide(now, request, home);
        if part(request.operation.kind).releases {
            requesters.posted_effect_at(now, request);
        } else {
            requesters.effect_at(now, request.processor);
        }
    }

    /// The home tells the processor that it may go on.
    pub(super) fn grant(&mut self, request: &SyncRequest, requesters: &mut Requesters<'_, Self>) {
        let own = node(request.processor);
        let way = (self.sync.decided_at(request).unwrap_or(own), own);
        self.send_sync(way, SyncMessage::Grant, requesters);
    }

    /// The home, or the processor that did something, tells another process's node.
    pub(super) fn wake(
        &mut self,
        cause: &SyncRequest,
        process: usize,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let from = self.sync.decided_at(cause).unwrap_or(node(cause.processor));
        let to = node(process % usize::from(self.nodes));
        let message = SyncMessage::Wake(u16::try_from(process).unwrap_or(u16::MAX));
        self.send_sync((from, to), message, requesters);
    }

    /// A message about synchronisation has come to a processor.
    pub(super) fn sync_answer(
        &mut self,
        to: u16,
        message: SyncMessage,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let now = requesters.now();
        match message {
            SyncMessage::Grant => requesters.resume_at(now, usize::from(to)),
            SyncMessage::Wake(process) => requesters.ready_at(now, usize::from(process)),
            SyncMessage::Operation(_) => {}
        }
    }
}
