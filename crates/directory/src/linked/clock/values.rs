//! The path of block values, for `--check`: in messages, memory and copies. A node keeps the values
//! of a replaced block until the home has them.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::ListPost;
use crate::linked::vocabulary::ListMessage;
use crate::mesh::sync::node;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A node requests a block.
    pub(super) fn values_asked(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.ask(own, number);
        }
    }

    /// A node sends a block that it has, or keeps after its replacement.
    pub(super) fn values_sent(&mut self, post: &ListPost, place: CopyPlace) {
        let (Some(values), Some(shadow)) = (&mut self.values, &self.caches.shadow) else { return };
        if !post.message.carries_block() {
            return;
        }
        let block = match place {
            CopyPlace::Frame(at) => shadow.copy(at).to_vec(),
            CopyPlace::Leaving(_) | CopyPlace::None => {
                let kept = kept(post.from, post.number);
                values.receive(&kept).unwrap_or_default()
            }
        };
        values.send(post.carried(), block);
    }

    /// A node relays a block.
    pub(super) fn values_relayed(&mut self, from: &ListPost, to: &ListPost) {
        if let Some(values) = &mut self.values
            && let Some(block) = values.receive(&from.carried())
        {
            values.send(to.carried(), block);
        }
    }

    /// A home sends a block that is in memory.
    pub(super) fn values_replied(&mut self, post: &ListPost) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow) {
            values.send(post.carried(), shadow.memory(post.number));
        }
    }

    /// A message that may carry a block has arrived at a node with a frame for it.
    pub(super) fn values_arrived(&mut self, post: &ListPost, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow)
            && post.message.carries_block()
            && let Some(block) = values.receive(&post.carried())
        {
            shadow.set_copy(at, block);
        }
    }

    /// Memory stores the block that a message carries.
    pub(super) fn values_taken(&mut self, post: &ListPost) {
        let taken = self.values.as_mut().and_then(|values| values.receive(&post.carried()));
        if let (Some(block), Some(shadow)) = (taken, &mut self.caches.shadow) {
            let last = u32::try_from(W::COUNT - 1).unwrap_or(u32::MAX);
            shadow.set_memory(post.number, W::range(0, last), &block);
        }
    }

    /// A node replaces a block, and keeps its values for the write-back.
    pub(super) fn values_leave(&mut self, own: u16, number: u32, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &self.caches.shadow) {
            values.send(kept(own, number), shadow.copy(at).to_vec());
        }
    }

    /// A requested block has arrived, and the reference that waited for it has taken place.
    pub(super) fn values_complete(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.complete(own, number);
        }
    }

    /// A reference takes place in a frame: a write, which all nodes have seen by then, gets a
    /// sequence number; a read is compared with what all nodes had seen at its request.
    pub(super) fn check_values(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        now: u64,
    ) -> Result<(), ClockError> {
        let number = self.caches.frame(at).number;
        let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow) else {
            return Ok(());
        };
        if access.write {
            shadow.write(number, access.words, std::iter::once(at));
            values.perform(number, shadow);
            return Ok(());
        }
        let own = node(access.cache);
        let stale = values.stale_word(own, number, at, access.words, shadow);
        stale.map_or(Ok(()), |word| {
            let address = (access.block << self.block_shift) + u64::from(word) * W::BYTES;
            Err(ClockError::stale(now, own, address))
        })
    }
}

/// The identity of the values that a node keeps of a replaced block.
fn kept(own: u16, number: u32) -> super::posted::CarriedCopy {
    super::posted::CarriedCopy { message: ListMessage::WrittenBack, from: own, to: own, number }
}
