//! Synchronisation: releases that write back, acquires that unmap.

use homenode_cache::{CacheArrays, ClockError, WordMask};
use homenode_clock::{Requesters, SyncCourse, SyncRequest};

use super::LrcMemory;
use crate::mesh::sync::{self, SyncMessage, node, part};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// A processor reaches a synchronisation operation.
    pub(super) fn begin_sync(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<SyncCourse, ClockError> {
        let (at, kind) = (request.processor, request.operation.kind);
        let part = part(kind);
        if part.releases && !self.release(node(at), requesters)? {
            return Ok(SyncCourse::Later);
        }
        if self.homes.begin_again(kind, self.timed.phase_change) {
            // Every page has to be mapped again after its node's next acquire.
            self.driver.notice_all();
        }
        if part.sent {
            self.transport.post_operation(request, &mut self.sync, &self.homes, requesters);
            return Ok(if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited });
        }
        if part.releases {
            return Ok(SyncCourse::Now);
        }
        let cycles = self.acquire(node(at), requesters)?;
        if cycles == 0 {
            return Ok(SyncCourse::Now);
        }
        requesters.resume_at(requesters.now() + cycles, at);
        Ok(SyncCourse::Later)
    }

    /// A node releases. Returns whether the release has taken effect; if not, its processor waits.
    fn release(
        &mut self,
        own: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<bool, ClockError> {
        let at = usize::from(own);
        if !std::mem::take(&mut self.released[at]) {
            let answer = self.driver.release(own);
            self.checked(requesters.now(), own, 0, answer)?;
            self.apply(None, requesters)?;
            if !std::mem::take(&mut self.released[at]) {
                self.releasing[at] = true;
                return Ok(false);
            }
        }
        if let Some(values) = &mut self.values {
            values.writes.release(own);
        }
        Ok(true)
    }

    /// A node acquires: pages with a write notice are unmapped and flushed. Returns the cycles.
    fn acquire(
        &mut self,
        own: u16,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<u64, ClockError> {
        let before = self.unmapping;
        let answer = self.driver.acquire(own);
        self.checked(requesters.now(), own, 0, answer)?;
        self.apply(None, requesters)?;
        if let Some(values) = &mut self.values {
            values.writes.acquire(own);
        }
        Ok(self.unmapping - before)
    }

    /// A message of synchronisation has arrived at a processor, which acquires.
    pub(super) fn sync_answer(
        &mut self,
        to: u16,
        message: SyncMessage,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let then = requesters.now() + self.acquire(to, requesters)?;
        sync::answer(to, message, then, requesters);
        Ok(())
    }
}
