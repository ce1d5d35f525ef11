//! Synchronisation: releases wait for acknowledgements; other operations go to homes.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::streams::OpKind;
use homenode_clock::{Requesters, SyncCourse, SyncRequest};

use super::DashMemory;
use crate::mesh::sync::part;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A processor reaches a synchronisation operation.
    pub(super) fn begin_sync(
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
        let moves = (kind == OpKind::InitDone && self.homes.init_done())
            || (kind == OpKind::Phase && self.timed.phase_change && self.homes.phase_change());
        if moves {
            self.unmap_all();
        }
        if !part.sent || !self.timed.machine.keeps_locks {
            return SyncCourse::Now;
        }
        self.transport.post_operation(request, &mut self.sync, &self.homes, requesters);
        if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited }
    }
}
