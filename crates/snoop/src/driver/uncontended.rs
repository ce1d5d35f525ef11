//! References that need a transaction or a change of state but affect no other cache: the most
//! frequent misses, and the first write to a copy.

use std::hint::select_unpredictable;

use homenode_cache::{
    BlockAccess, CacheArrays, CacheFrame, FrameLocation, MAY_READ, MissStatus, PackedHolders,
    WRITTEN, WordMask,
};

use super::ProtocolDriver;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ProtocolDriver<F, W, WORDS> {
    /// Performs a reference that is no hit without a transaction but affects no other cache. The
    /// frame may have the block. Returns whether the reference was such a one.
    #[inline(always)]
    pub fn uncontended(&mut self, access: &BlockAccess<W>, place: FrameLocation) -> bool {
        if self.caches.frames.lacks(place.set, access.block) {
            self.fetch_uncontended(access, place.set)
        } else {
            self.write_uncontended(access, place)
        }
    }

    /// Performs a miss. Everything is loaded before the one branch, which is often mispredicted.
    #[inline(always)]
    fn fetch_uncontended(&mut self, access: &BlockAccess<W>, set: usize) -> bool {
        let Some(fetch) = self.fast.uncontended_fetch(access.write, access.private) else {
            return false;
        };
        let caches = &mut self.caches;
        let at = caches.frames.victim(set);
        let old = caches.frames.all()[at];
        let number = caches.holders.number(access.block);
        let Some(records) = caches.holders.packed() else { return false };
        let [replaced, fetched] =
            [old.number, number].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let (left, new) = (PackedHolders(records[replaced]), PackedHolders(records[fetched]));
        // Joined without branches: each condition alone would be mispredicted as often as all
        // together.
        let concerned = self.fast.concerned(old.state);
        if left.concerns(new, concerned) | u64::from(old.status.is_undecided()) != 0 {
            return false;
        }
        records[replaced] = left.without(access.cache).0;
        records[fetched] = new.only(access.cache).0;
        self.transactions.update_block += self.fast.write_backs(old.state);
        let had = new.had(access.cache);
        caches.cold_or_replacement_miss(access, at, had);
        if let Some(fetched) = &mut self.fetched {
            fetched.miss(access.cache, number, old.is_used().then_some(old.number), had);
        }
        let all = &mut self.transactions;
        let (block, invalidate) = (&mut all.read_block_memory, &mut all.read_invalidate_memory);
        *select_unpredictable(fetch.invalidate, invalidate, block) += 1;
        let mut frame = CacheFrame::of(access.block, number);
        (frame.state, frame.status) = (fetch.state, MissStatus::Settled);
        frame.permit(self.fast.permissions(fetch.state));
        frame.touched[usize::from(access.write)] = access.words;
        caches.frames.fill(set, at, access.block, frame);
        true
    }

    /// Performs a write that changes only the state of the own copy.
    #[inline(always)]
    fn write_uncontended(&mut self, access: &BlockAccess<W>, place: FrameLocation) -> bool {
        let frame = self.caches.frame(place.frame);
        // An undecided miss permits nothing.
        if !(access.write & frame.permits(access.block, MAY_READ)) {
            return false;
        }
        let Some(state) = self.fast.silent_write(frame.state) else { return false };
        frame.state = state;
        frame.permit(self.fast.permissions(state));
        frame.touched[WRITTEN].add(access.words);
        self.caches.frames.touch(place.set, place.frame);
        true
    }
}
