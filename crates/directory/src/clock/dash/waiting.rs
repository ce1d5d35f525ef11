//! Which transaction a processor waits for, if that is collected.

use homenode_cache::{AwaitedTransaction, BlockAccess, CacheArrays, WaitCause, WordMask};
use homenode_clock::Requester;

use super::DashMemory;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A processor asks for something at one of its ports.
    pub(super) fn awaits(&mut self, requester: Requester) {
        if self.caches.waits.is_some() {
            let (processor, port) = requester.place();
            self.awaited.requested(processor, port);
        }
    }

    /// The others' copies have to go before this write: their words tell whose sharing that is. If
    /// there are none, the block is only to be made the processor's own.
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

    /// It is known with which transaction that comes: the last one, or, where an earlier request of
    /// the processor brought what this one needs, that which brought the frame its copy.
    pub(super) fn served(&mut self, requester: Requester, at: usize) {
        let Some(waits) = &mut self.caches.waits else { return };
        let last: Option<AwaitedTransaction> = waits.take_last();
        let transaction = last.unwrap_or_else(|| waits.miss_of(at));
        let (processor, port) = requester.place();
        self.awaited.served(processor, port, transaction, waits);
    }

    /// A processor waited so many cycles for what it asked for.
    pub(super) fn has_waited(&mut self, now: u64, requester: Requester, cycles: u64) {
        if let Some(waits) = &mut self.caches.waits {
            let (processor, port) = requester.place();
            self.awaited.waited(now, processor, port, cycles, waits);
        }
    }
}
