//! Pages that get their home at their first use. Mapping and moving take no time: the publication
//! gives none.

use homenode_cache::{CacheArrays, WordMask};
use homenode_clock::streams::OpKind;
use homenode_clock::{MemoryReference, Requesters, SyncCourse, SyncRequest};

use super::ListMemory;
use crate::mesh::network::Route;
use crate::mesh::sync::{node, part};

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// Whether the page of a reference is mapped.
    pub(super) fn page_is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let own = node(reference.processor);
        self.pages.is_block_mapped(&self.homes, reference.block, own, own)
    }

    /// A processor refers to a page that is not mapped: the page gets its home here, unless its
    /// home is settled.
    pub(super) fn page_fault(
        &mut self,
        reference: &MemoryReference,
        requesters: &mut Requesters<'_, Self>,
    ) {
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

    /// Pages have to be used again: frames lose their permissions until then.
    fn unmap_all(&mut self) {
        self.pages.unmap_all();
        let frames = self.caches.frames.all_mut().iter_mut();
        frames.filter(|frame| frame.is_used()).for_each(|frame| {
            frame.permit(0);
        });
    }

    /// A processor reaches a synchronisation operation.
    pub(super) fn begin_sync(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let kind = request.operation.kind;
        let part = part(kind);
        let moves = (kind == OpKind::InitDone && self.homes.init_done())
            || (kind == OpKind::Phase && self.phase_change && self.homes.phase_change());
        if moves {
            self.unmap_all();
        }
        if !part.sent {
            return SyncCourse::Now;
        }
        let (home, _, message) = self.sync.submit(request, &self.homes, self.node_count);
        self.post_sync(Route::new(node(request.processor), home), message, requesters);
        if part.releases { SyncCourse::Posted } else { SyncCourse::Awaited }
    }
}
