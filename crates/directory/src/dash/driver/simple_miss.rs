//! The most frequent misses: a request and its reply, with a victim that affects no other node.

use homenode_cache::{BlockAccess, BlockRef, CacheArrays, CacheFrame, MissStatus, WordMask};

use super::{DirectoryDriver, node};
use crate::home::PageFill;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    /// Performs a miss on a block that no frame of the set has or had, if it is simple by the
    /// table. Returns whether it was; if not, only the page has got a home. Records are changed in
    /// place, because they are long in large machines.
    pub(super) fn simple_miss(&mut self, access: &BlockAccess<W>, set: usize) -> bool {
        if !self.prepared.is_some() || self.homes.awaits_use() {
            return false;
        }
        let (cache, node) = (access.cache, node(access.cache));
        let number = self.caches.holders.number(access.block);
        let page = self.page(BlockRef { block: access.block, number }, node);
        let at = self.caches.frames.victim(set);
        let old = self.caches.frames.all()[at];
        if old.status.is_undecided() {
            return false;
        }
        let Some(fetch) = self.find_fetch(0, access.write, number, node) else { return false };
        if old.state != 0 {
            // Nodes that lost the old block need its writes to classify their misses.
            let lost = !self.caches.holders.none_lost(old.number);
            let old_page = self.entries.head(old.number).page;
            if lost || !self.prepared_replacement(old.state, old.number, node, old_page) {
                return false;
            }
        }
        let home = self.homes.home(page);
        self.apply_fetch(fetch, number, node, home);
        let holders = &mut self.caches.holders;
        if old.is_used() {
            holders.remove_frame(old.number, cache);
        }
        let had = holders.add_copy(number, cache);
        self.caches.cold_or_replacement_miss(access, at, had);
        let mut frame = CacheFrame::of(access.block, number);
        (frame.state, frame.status) = (fetch.cache_state, MissStatus::Settled);
        frame.permit(self.permissions[usize::from(fetch.cache_state)]);
        frame.touched[usize::from(access.write)] = access.words;
        self.caches.frames.fill(set, at, access.block, frame);
        self.counts.fills += 1;
        self.counts.local_fills += u64::from(home == node);
        self.homes.filled(page, PageFill { node, source: home, block: access.block });
        true
    }
}
