//! The path of block values, for `--check`: in messages, memory and copies.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};

use super::{BlockMessage, DashMemory};
use crate::dash::vocabulary::Message;
use crate::mesh::network::Route;
use crate::mesh::sync::node;

/// The identity of a message that carries a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CarriedBlock {
    message: Message,
    route: Route,
    /// The block's number.
    number: u32,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A node requests a block.
    pub(super) fn values_asked(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.ask(own, number);
        }
    }

    /// A node sends a block that is in a frame of its cache.
    pub(super) fn values_sent(&mut self, route: Route, message: Message, number: u32, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &self.caches.shadow)
            && message.carries_block()
        {
            values.send(CarriedBlock { message, route, number }, shadow.copy(at).to_vec());
        }
    }

    /// A home sends a block that is in memory.
    pub(super) fn values_replied(&mut self, route: Route, reply: &BlockMessage) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow) {
            let sent = CarriedBlock { message: reply.message, route, number: reply.number };
            values.send(sent, shadow.memory(reply.number));
        }
    }

    /// A message that may carry a block has arrived at a cache with a frame for it.
    pub(super) fn values_arrived(&mut self, route: Route, message: &BlockMessage, at: usize) {
        let BlockMessage { message, number, .. } = *message;
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow)
            && let Some(block) = values.receive(&CarriedBlock { message, route, number })
        {
            shadow.set_copy(at, block);
        }
    }

    /// Memory stores the block that a message carries.
    pub(super) fn values_taken(&mut self, route: Route, message: &BlockMessage) {
        let BlockMessage { message, number, .. } = *message;
        let sent = CarriedBlock { message, route, number };
        let taken = self.values.as_mut().and_then(|values| values.receive(&sent));
        if let (Some(block), Some(shadow)) = (taken, &mut self.caches.shadow) {
            let last = u32::try_from(W::COUNT - 1).unwrap_or(u32::MAX);
            shadow.set_memory(number, W::range(0, last), &block);
        }
    }

    /// All nodes have seen the writes of a block.
    pub(super) fn values_performed(&mut self, number: u32) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow) {
            values.perform(number, shadow);
        }
    }

    /// A requested block has arrived, and the references that waited for it have taken place.
    pub(super) fn values_complete(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.values {
            values.complete(own, number);
        }
    }

    /// A reference takes place in a frame: a write gets a sequence number, a read is compared with
    /// what all nodes had seen when the block was requested.
    pub(super) fn check_values(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        now: u64,
    ) -> Result<(), ClockError> {
        let (number, state) = (self.caches.frame(at).number, self.caches.frame(at).state);
        let (Some(values), Some(shadow)) = (&self.values, &mut self.caches.shadow) else {
            return Ok(());
        };
        if access.write {
            shadow.write(number, access.words, std::iter::once(at));
            if self.table.cache.rests(state) {
                self.values_performed(number);
            }
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
