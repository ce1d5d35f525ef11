//! Where values of blocks go, for `--check`: with messages, to memory and to copies. What a node
//! has replaced it keeps until home has it.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::ListPost;
use crate::clock::sync::node;
use crate::list_vocabulary::ListMessage;

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// A node asks for a block.
    pub(super) fn values_asked(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.ask(own, number);
        }
    }

    /// A node sends a block that it has, or has replaced and keeps.
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

    /// A node sends a block on as it has come.
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

    /// A message that may carry a block has come to a node with a frame for it.
    pub(super) fn values_there(&mut self, post: &ListPost, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow)
            && post.message.carries_block()
            && let Some(block) = values.receive(&post.carried())
        {
            shadow.set_copy(at, block);
        }
    }

    /// Memory takes the block that a message carries.
    pub(super) fn values_taken(&mut self, post: &ListPost) {
        let taken = self.values.as_mut().and_then(|values| values.receive(&post.carried()));
        if let (Some(block), Some(shadow)) = (taken, &mut self.caches.shadow) {
            let last = u32::try_from(W::COUNT - 1).unwrap_or(u32::MAX);
            shadow.set_memory(post.number, W::range(0, last), &block);
        }
    }

    /// A node replaces a block, and keeps what it has to write back.
    pub(super) fn values_leave(&mut self, own: u16, (number, at): (u32, usize)) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &self.caches.shadow) {
            values.send(kept(own, number), shadow.copy(at).to_vec());
        }
    }

    /// What a node asked for is there, and the reference that waited for it has taken place.
    pub(super) fn values_complete(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.complete(own, number);
        }
    }

    /// A reference takes place in a frame: a write, which all have seen by then, gets a number; a
    /// read is compared with what everybody had seen when it was asked for.
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
        let stale = values.stale_word((own, number), (at, access.words), shadow);
        stale.map_or(Ok(()), |word| {
            let address = (access.block << self.block_shift) + u64::from(word) * W::BYTES;
            Err(ClockError::stale(now, own, address))
        })
    }
}

/// What a node keeps of a block that it has replaced is told from what is under way.
fn kept(own: u16, number: u32) -> super::posted::CarriedCopy {
    (ListMessage::WrittenBack, own, own, number)
}
