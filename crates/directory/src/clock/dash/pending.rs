//! What a node has asked for and does not have yet.

use homenode_cache::{BlockAccess, CacheArrays, WordMask};
use homenode_clock::{Requester, Requesters};

use super::DashMemory;

/// A block that a node has asked for, or for which acknowledgements are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingBlock<W> {
    /// The reference that asked for it.
    pub(super) access: BlockAccess<W>,
    /// Who in the node waits for it, until it has come.
    pub(super) requester: Option<Requester>,
    /// Acknowledgements that are due, less those that came before it was known how many.
    pub(super) due: i32,
    /// Since when it is asked for.
    pub(super) since: u64,
    /// Whether there was no copy.
    pub(super) misses: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// What a node awaits about a block.
    pub(super) fn pending(&mut self, node: u16, block: u64) -> Option<&mut PendingBlock<W>> {
        self.pending[usize::from(node)].iter_mut().find(|pending| pending.access.block == block)
    }

    /// A node awaits nothing more about a block: what waited for that is tried again.
    pub(super) fn end_pending(
        &mut self,
        node: u16,
        block: u64,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let of_node = usize::from(node);
        self.pending[of_node].retain(|pending| pending.access.block != block);
        for (requester, access) in std::mem::take(&mut self.deferred[of_node]) {
            self.begin(requester, &access, requesters);
        }
        let all_there = self.pending[of_node].is_empty() && self.deferred[of_node].is_empty();
        if all_there && std::mem::take(&mut self.releasing[of_node]) {
            requesters.resume_at(requesters.now(), of_node);
        }
    }
}
