//! References to lines that are there.

use homenode_cache::{
    BlockAccess, BlockHolders, CacheArrays, MAY_READ, MAY_WRITE, WRITTEN, WordMask,
};
use homenode_clock::MemoryReference;

use super::LrcMemory;
use crate::clock::sync::node;
use crate::page_vocabulary::PagePermission;

/// State of a frame that a line is on its way to.
pub(super) const FETCHING: u8 = 2;
/// State of a frame that has a line.
pub(super) const VALID: u8 = 1;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// Whether a processor may refer to a page as it does, without its operating system.
    #[inline]
    pub(super) fn page_is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let node = node(reference.processor);
        let needed =
            if reference.kind.writes() { PagePermission::Write } else { PagePermission::Read };
        let key = self.homes.key(reference.block);
        if let Some((nth, page)) = self.buffers.recent(node, key) {
            let permitted = self.driver.permission(node, page) >= needed;
            if permitted {
                self.buffers.use_recent(node, nth);
            }
            return permitted;
        }
        let Some(page) = self.homes.find(reference.block) else { return false };
        self.driver.permission(node, page) >= needed && self.buffers.has(node, (key, page))
    }

    /// The frame of a line that is there.
    pub(super) fn valid_frame(&self, cache: usize, block: u64) -> Option<usize> {
        let frames = &self.caches.frames;
        let at = frames.find(frames.set_of(cache, block), block)?;
        (frames.all()[at].state == VALID).then_some(at)
    }

    /// A reference takes place in the cache. What a release has to know of a write is told to the
    /// protocol; until that release further writes of the line need not be.
    pub(super) fn touch(&mut self, access: &BlockAccess<W>, now: u64) {
        let Some(at) = self.valid_frame(access.cache, access.block) else { return };
        let frame = *self.caches.frame(at);
        let permissions = if access.write || frame.permits(access.block, MAY_WRITE) {
            MAY_READ | MAY_WRITE
        } else {
            MAY_READ
        };
        if self.values.is_some() {
            self.check_values(access, at, now);
        }
        if access.write {
            self.tell_write(access, frame.number, now);
        }
        if !self.caches.touch_undecided(access, at, |_| permissions) {
            self.caches.mark_touched(access, at);
        }
        self.permit(at, permissions);
        let set = self.caches.frames.set_of(access.cache, access.block);
        self.caches.frames.touch(set, at);
    }

    /// A word of a line is written of which memory does not know.
    fn tell_write(&mut self, access: &BlockAccess<W>, number: u32, now: u64) {
        let own = node(access.cache);
        self.writers.insert(number, own);
        if let Some(page) = self.homes.find(access.block) {
            let mut effects = std::mem::take(&mut self.effects);
            let answer = self.driver.stored((own, page), &mut effects);
            self.effects = effects;
            self.note(now, own, answer);
        }
    }

    /// A frame has a line, with which a processor may do so much by itself. Where values are
    /// checked that is nothing: every reference has to be seen.
    pub(super) fn permit(&mut self, at: usize, permissions: u64) {
        let permissions = if self.values.is_some() { 0 } else { permissions };
        self.caches.set_state(at, VALID, permissions);
    }

    /// The words of a frame that memory does not know.
    pub(super) fn dirty_words(&mut self, at: usize) -> W {
        let written = self.caches.frame(at).touched[WRITTEN];
        let mut words = self.dirty[at];
        words.add(written);
        words
    }

    /// Memory will know the words of a frame.
    pub(super) fn clean(&mut self, own: u16, (block, at): (u64, usize)) {
        let number = self.caches.frame(at).number;
        self.keep_dirty((block, number));
        self.dirty[at] = W::default();
        self.writers.remove(number, own);
    }

    /// What holders of a line have written is told to those who lost it and to the other holders:
    /// it is theirs to miss. The frames forget that it was written, and memory must still learn of
    /// it.
    pub(super) fn keep_dirty(&mut self, (block, number): (u64, u32)) {
        if self.writers.has_none(number) {
            return;
        }
        let writers = self.writers.of(number);
        let record = self.caches.holders.get(number);
        for writer in writers.members().map(usize::from) {
            let Some(at) = self.valid_frame(writer, block) else { continue };
            let written = self.caches.frame(at).touched[WRITTEN];
            if !written.is_empty() {
                self.dirty[at].add(written);
                for other in record.holders_without(writer).members().map(usize::from) {
                    if let Some(at) = self.valid_frame(other, block) {
                        self.unseen[at].add(written);
                    }
                }
            }
        }
        self.caches.tell_writes(block, &BlockHolders { holders: writers, ..record });
    }

    /// A copy of a line has come from memory, which does not know all that the others wrote.
    pub(super) fn begin_unseen(&mut self, own: u16, (block, number): (u64, u32), at: usize) {
        let mut unseen = W::default();
        if self.writers.has_none(number) {
            self.unseen[at] = unseen;
            return;
        }
        self.keep_dirty((block, number));
        let writers = self.writers.of(number);
        for other in writers.without(own).members().map(usize::from) {
            if let Some(at) = self.valid_frame(other, block) {
                unseen.add(self.dirty[at]);
            }
        }
        self.unseen[at] = unseen;
    }
}
