//! Outstanding requests of a node.

use homenode_cache::{BlockAccess, CacheArrays, WordMask};
use homenode_clock::{Requester, Requesters};

use super::DashMemory;

/// A block with outstanding data or acknowledgements.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingBlock<W> {
    /// The reference that requested it.
    pub(super) access: BlockAccess<W>,
    /// The requester in the node, until the data have arrived.
    pub(super) requester: Option<Requester>,
    /// Acknowledgements due; negative if some arrived before their number was known.
    pub(super) due: i32,
    /// Cycle of the request.
    pub(super) since: u64,
    /// Whether the node had no copy.
    pub(super) misses: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    pub(super) fn pending(&mut self, node: u16, block: u64) -> Option<&mut PendingBlock<W>> {
        self.pending[usize::from(node)].iter_mut().find(|pending| pending.access.block == block)
    }

    /// Ends a node's request for a block if its data and all acknowledgements are there; deferred
    /// requests are tried again.
    pub(super) fn end_pending(
        &mut self,
        node: u16,
        block: u64,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let of_node = usize::from(node);
        let has_ended = |pending: &PendingBlock<W>| {
            pending.access.block == block && pending.requester.is_none()
        };
        let Some(at) = self.pending[of_node].iter().position(has_ended) else { return };
        self.pending[of_node].swap_remove(at);
        // Most nodes defer nothing.
        if !self.deferred[of_node].is_empty() {
            for (requester, access) in std::mem::take(&mut self.deferred[of_node]) {
                self.begin(requester, &access, requesters);
            }
        }
        let all_there = self.pending[of_node].is_empty() && self.deferred[of_node].is_empty();
        if all_there && std::mem::take(&mut self.releasing[of_node]) {
            requesters.resume_at(requesters.now(), of_node);
        }
    }
}
