//! Values of blocks, for `--check`: what is under way, and what everybody had seen when a node
//! asked for a block.

use std::hash::Hash;

use homenode_cache::{ShadowValues, WordMask, value_at};
use rustc_hash::FxHashMap;

/// Values under way, by what tells a message from others (`K`), and writes that everybody has seen.
#[derive(Debug)]
pub(super) struct CarriedValues<K> {
    sent: FxHashMap<K, Vec<u64>>,
    /// By the block's number, for each word the number of the last write that everybody has seen.
    performed: FxHashMap<u32, Vec<u64>>,
    /// The same when a node asked for a block that it awaits: what it gets may be as old as that.
    asked: FxHashMap<(u16, u32), Vec<u64>>,
}

impl<K> Default for CarriedValues<K> {
    fn default() -> Self {
        let (sent, performed) = (FxHashMap::default(), FxHashMap::default());
        Self { sent, performed, asked: FxHashMap::default() }
    }
}

impl<K: Eq + Hash> CarriedValues<K> {
    /// A node asks for a block.
    pub(super) fn ask(&mut self, own: u16, number: u32) {
        let performed = self.performed.get(&number).cloned().unwrap_or_default();
        self.asked.insert((own, number), performed);
    }

    /// What a node asked for is there, and the references that waited for it have taken place.
    pub(super) fn complete(&mut self, own: u16, number: u32) {
        self.asked.remove(&(own, number));
    }

    /// A message leaves with a block.
    pub(super) fn send(&mut self, message: K, block: Vec<u64>) {
        self.sent.insert(message, block);
    }

    /// A message has come: the block that it carries, if it does.
    pub(super) fn receive(&mut self, message: &K) -> Option<Vec<u64>> {
        self.sent.remove(message)
    }

    /// Everybody has seen what was written to a block.
    pub(super) fn perform(&mut self, number: u32, shadow: &mut ShadowValues) {
        let [latest, _] = shadow.latest_and_memory(number);
        self.performed.insert(number, latest.clone());
    }

    /// The first of some words of a copy that is older than what everybody had seen when its node
    /// asked for the block, or has by now if that was not asked for.
    pub(super) fn stale_word<W: WordMask>(
        &self,
        (own, number): (u16, u32),
        (at, words): (usize, W),
        shadow: &ShadowValues,
    ) -> Option<u32> {
        let asked = self.asked.get(&(own, number));
        let seen = asked.or_else(|| self.performed.get(&number))?;
        let not_older = |word, value| value_at(seen, word).is_none_or(|seen| value >= seen);
        shadow.stale_word(at, words, not_older)
    }
}
