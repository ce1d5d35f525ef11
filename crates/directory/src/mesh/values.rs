//! Values of blocks, for `--check`: those in flight, and those that all nodes had seen when a node
//! requested a block.

use std::hash::Hash;

use homenode_cache::{ShadowValues, WordMask, value_at};
use rustc_hash::FxHashMap;

/// Values in flight, by the identity of their message (`K`), and writes seen by all nodes.
#[derive(Debug)]
pub(crate) struct CarriedValues<K> {
    sent: FxHashMap<K, Vec<u64>>,
    /// By the block's number, for each word the sequence number of the last write seen by all.
    performed: FxHashMap<u32, Vec<u64>>,
    /// The same at the time of a node's outstanding request: its data may be as old as that.
    asked: FxHashMap<(u16, u32), Vec<u64>>,
}

impl<K> Default for CarriedValues<K> {
    fn default() -> Self {
        let (sent, performed) = (FxHashMap::default(), FxHashMap::default());
        Self { sent, performed, asked: FxHashMap::default() }
    }
}

impl<K: Eq + Hash> CarriedValues<K> {
    /// A node requests a block.
    pub(crate) fn ask(&mut self, own: u16, number: u32) {
        let performed = self.performed.get(&number).cloned().unwrap_or_default();
        self.asked.insert((own, number), performed);
    }

    /// The requested block has arrived, and the references that waited for it have taken place.
    pub(crate) fn complete(&mut self, own: u16, number: u32) {
        self.asked.remove(&(own, number));
    }

    /// A message with a block leaves.
    pub(crate) fn send(&mut self, message: K, block: Vec<u64>) {
        self.sent.insert(message, block);
    }

    /// A message has arrived: the block that it carries, if any.
    pub(crate) fn receive(&mut self, message: &K) -> Option<Vec<u64>> {
        self.sent.remove(message)
    }

    /// All nodes have seen the writes of a block.
    pub(crate) fn perform(&mut self, number: u32, shadow: &mut ShadowValues) {
        let [latest, _] = shadow.latest_and_memory(number);
        self.performed.insert(number, latest.clone());
    }

    /// The first of some words of the copy in frame `at` that is older than the value seen by all
    /// nodes when its node requested the block, or by now without a request.
    pub(crate) fn stale_word<W: WordMask>(
        &self,
        own: u16,
        number: u32,
        at: usize,
        words: W,
        shadow: &ShadowValues,
    ) -> Option<u32> {
        let asked = self.asked.get(&(own, number));
        let seen = asked.or_else(|| self.performed.get(&number))?;
        let not_older = |word, value| value_at(seen, word).is_none_or(|seen| value >= seen);
        shadow.stale_word(at, words, not_older)
    }
}
