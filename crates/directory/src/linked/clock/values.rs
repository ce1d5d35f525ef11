//! The path of block values, for `--check`: in messages, memory and copies. A node keeps the values
//! of a replaced block until the home has them.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::{CarriedCopy, ListPost};
use crate::linked::vocabulary::ListMessage;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A node sends a message, which may carry a block that it has, or keeps after its replacement.
    pub(super) fn values_sent(&mut self, post: &ListPost, place: CopyPlace) {
        match place {
            _ if !post.message.carries_block() => {}
            CopyPlace::Frame(at) => self.values.send_copy(post.carried(), &self.caches.shadow, at),
            CopyPlace::Leaving(_) | CopyPlace::None => {
                self.values.relay(&kept(post.from, post.number), post.carried());
            }
        }
    }

    /// A node replaces a block, and keeps its values for the write-back.
    pub(super) fn values_leave(&mut self, own: u16, number: u32, at: usize) {
        self.values.send_copy(kept(own, number), &self.caches.shadow, at);
    }

    /// A reference takes place in a frame. All nodes have seen a write by then.
    pub(super) fn check_values(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        now: u64,
    ) -> Result<(), ClockError> {
        let number = self.caches.frame(at).number;
        let (shadow, time) = (&mut self.caches.shadow, (now, self.block_shift));
        self.values.check(access, (number, at), shadow, time)?;
        if access.write {
            self.values.perform(number, shadow);
        }
        Ok(())
    }
}

/// The identity of the values that a node keeps of a replaced block.
fn kept(own: u16, number: u32) -> CarriedCopy {
    CarriedCopy { message: ListMessage::WrittenBack, from: own, to: own, number }
}
