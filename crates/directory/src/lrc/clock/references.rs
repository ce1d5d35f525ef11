//! References to lines in the cache.

use homenode_cache::{
    BlockAccess, BlockHolders, BlockRef, CacheArrays, MAY_READ, MAY_WRITE, WRITTEN, WordMask,
};
use homenode_clock::MemoryReference;

use super::LrcMemory;
use crate::lrc::vocabulary::PagePermission;
use crate::mesh::sync::node;

/// State of a frame whose line is being fetched.
pub(super) const FETCHING: u8 = 2;
/// State of a frame that has a line.
pub(super) const VALID: u8 = 1;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// Whether the TLB and the page table permit a reference.
    pub(super) fn page_is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let node = node(reference.processor);
        let needed = PagePermission::needed(reference.kind.writes());
        let key = self.homes.key(reference.block);
        let Some((nth, page)) = self.buffers.find(node, key) else { return false };
        let permitted = self.driver.permission(node, page) >= needed;
        if permitted {
            self.buffers.note_use(node, nth);
        }
        permitted
    }

    pub(super) fn valid_frame(&self, cache: usize, block: u64) -> Option<usize> {
        let frames = &self.caches.frames;
        let at = frames.find(frames.set_of(cache, block), block)?;
        (frames.all()[at].state == VALID).then_some(at)
    }

    /// A reference takes place in the cache. The protocol is notified of a write for the next
    /// release; until then further writes of the line need no notification.
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
            self.notify_write(access, frame.number, now);
        }
        if !self.caches.touch_undecided(access, at, |_| permissions) {
            self.caches.mark_touched(access, at);
        }
        self.permit(at, permissions);
        let set = self.caches.frames.set_of(access.cache, access.block);
        self.caches.frames.touch(set, at);
    }

    /// Records a write of a line that memory lacks, and passes it to the protocol.
    fn notify_write(&mut self, access: &BlockAccess<W>, number: u32, now: u64) {
        let own = node(access.cache);
        self.writers.insert(number, own);
        if let Some(page) = self.homes.find(access.block) {
            let answer = self.driver.stored(own, page);
            self.note(now, own, answer);
        }
    }

    /// Sets the permissions of a frame with a line: none where values are checked, so that every
    /// reference is seen.
    pub(super) fn permit(&mut self, at: usize, permissions: u64) {
        let permissions = if self.values.is_some() { 0 } else { permissions };
        self.caches.set_state(at, VALID, permissions);
    }

    /// The words of a frame that memory lacks.
    pub(super) fn dirty_words(&mut self, at: usize) -> W {
        let written = self.caches.frame(at).touched[WRITTEN];
        let mut words = self.dirty[at];
        words.add(written);
        words
    }

    /// The dirty words of a frame are sent to memory.
    pub(super) fn clean(&mut self, own: u16, block: u64, at: usize) {
        let number = self.caches.frame(at).number;
        self.keep_dirty(block, number);
        self.dirty[at] = W::default();
        self.writers.remove(number, own);
    }

    /// Passes the writes of a line's holders to nodes that lost it and to the other holders, for
    /// the classification of their misses. The frames drop their record of the writes, which
    /// stay dirty until memory has them.
    pub(super) fn keep_dirty(&mut self, block: u64, number: u32) {
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

    /// A line has been fetched from memory, which may lack writes of other nodes.
    pub(super) fn begin_unseen(&mut self, own: u16, block: BlockRef, at: usize) {
        let BlockRef { block, number } = block;
        let mut unseen = W::default();
        if self.writers.has_none(number) {
            self.unseen[at] = unseen;
            return;
        }
        self.keep_dirty(block, number);
        let writers = self.writers.of(number);
        for other in writers.without(own).members().map(usize::from) {
            if let Some(at) = self.valid_frame(other, block) {
                unseen.add(self.dirty[at]);
            }
        }
        self.unseen[at] = unseen;
    }
}
