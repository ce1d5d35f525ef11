//! Attribution of waiting to transactions, if collected.

use homenode_cache::{AwaitedTransaction, BlockAccess, CacheArrays, WaitCause, WordMask};
use homenode_clock::Requester;

use super::DashMemory;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A processor issues a request at one of its ports.
    pub(super) fn awaits(&mut self, requester: Requester) {
        if self.caches.waits.is_some() {
            let (processor, port) = requester.place();
            self.awaited.requested(processor, port);
        }
    }

    /// A write invalidates the copies of others, whose words classify the sharing. Without copies
    /// the block only becomes exclusive.
    pub(super) fn announces(&mut self, access: &BlockAccess<W>, number: u32) {
        if self.caches.waits.is_none() {
            return;
        }
        let holders = self.caches.holders.get(number).holders_without(access.cache);
        let frames = &self.caches.frames;
        let copies: Vec<usize> = holders
            .members()
            .map(usize::from)
            .filter_map(|cache| frames.find(frames.set_of(cache, access.block), access.block))
            .collect();
        if copies.is_empty() {
            self.caches.count_without_sharing(access, WaitCause::Cold);
        } else {
            self.caches.count_coherence(access, copies.into_iter());
        }
    }

    /// Attributes a request to its transaction: the last one, or, if an earlier request of the
    /// processor fetched the block, the one that filled the frame.
    pub(super) fn served(&mut self, requester: Requester, at: usize) {
        let Some(waits) = &mut self.caches.waits else { return };
        let last: Option<AwaitedTransaction> = waits.take_last();
        let transaction = last.unwrap_or_else(|| waits.miss_of(at));
        let (processor, port) = requester.place();
        self.awaited.served(processor, port, transaction, waits);
    }
}
