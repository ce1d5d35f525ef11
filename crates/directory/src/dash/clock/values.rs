//! The path of block values, for `--check`: in messages, memory and copies.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};

use super::{BlockMessage, DashMemory};
use crate::dash::vocabulary::Message;
use crate::mesh::network::Route;

/// The identity of a message that carries a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CarriedBlock {
    message: Message,
    route: Route,
    number: u32,
}

impl BlockMessage {
    /// The identity under which its values are stored.
    pub(super) fn carried(&self, route: Route) -> CarriedBlock {
        CarriedBlock { message: self.message, route, number: self.number }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DashMemory<F, W, WORDS> {
    /// A node sends a message, which may carry the block in a frame of its cache.
    pub(super) fn values_sent(&mut self, route: Route, message: &BlockMessage, at: usize) {
        if message.message.carries_block() {
            self.values.send_copy(message.carried(route), &self.caches.shadow, at);
        }
    }

    /// A reference takes place in a frame.
    pub(super) fn check_values(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        now: u64,
    ) -> Result<(), ClockError> {
        let (number, state) = (self.caches.frame(at).number, self.caches.frame(at).state);
        let (shadow, time) = (&mut self.caches.shadow, (now, self.block_shift));
        self.values.check(access, (number, at), shadow, time)?;
        if access.write && self.table.cache.rests(state) {
            self.values.perform(number, shadow);
        }
        Ok(())
    }
}
