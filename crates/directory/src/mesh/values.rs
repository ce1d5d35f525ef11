//! Values of blocks, for `--check`: those in flight, and those that all nodes had seen when a node
//! requested a block.

use std::hash::Hash;

use homenode_cache::{BlockAccess, ClockError, ShadowValues, WordMask, value_at};
use rustc_hash::FxHashMap;

use super::sync::node;

/// Values in flight, by the identity of their message (`K`), and writes seen by all nodes.
#[derive(Debug)]
struct CarriedValues<K> {
    sent: FxHashMap<K, Vec<u64>>,
    /// By the block's number, for each word the sequence number of the last write seen by all.
    performed: FxHashMap<u32, Vec<u64>>,
    /// The same at the time of a node's outstanding request: its data may be as old as that.
    asked: FxHashMap<(u16, u32), Vec<u64>>,
}

/// Values in flight and writes seen by all nodes, if reads are checked. The values of memory and
/// copies are in the shadow, which is there then.
#[derive(Debug)]
pub(crate) struct CheckedValues<K>(Option<Box<CarriedValues<K>>>);

/// Values of memory and copies, if reads are checked.
type Shadow = Option<ShadowValues>;

impl<K: Eq + Hash> CheckedValues<K> {
    pub(crate) fn new(checked: bool) -> Self {
        let none = || CarriedValues {
            sent: FxHashMap::default(),
            performed: FxHashMap::default(),
            asked: FxHashMap::default(),
        };
        Self(checked.then(none).map(Box::new))
    }

    pub(crate) fn are_checked(&self) -> bool {
        self.0.is_some()
    }

    /// A node requests a block.
    pub(crate) fn ask(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.0 {
            let performed = values.performed.get(&number).cloned().unwrap_or_default();
            values.asked.insert((own, number), performed);
        }
    }

    /// The requested block has arrived, and the references that waited for it have taken place.
    pub(crate) fn complete(&mut self, own: u16, number: u32) {
        if let Some(values) = &mut self.0 {
            values.asked.remove(&(own, number));
        }
    }

    /// A message leaves with the block in a frame.
    pub(crate) fn send_copy(&mut self, message: K, shadow: &Shadow, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.0, shadow) {
            values.sent.insert(message, shadow.copy(at).to_vec());
        }
    }

    /// A message leaves with a block of memory.
    pub(crate) fn send_memory(&mut self, message: K, shadow: &mut Shadow, number: u32) {
        if let (Some(values), Some(shadow)) = (&mut self.0, shadow) {
            values.sent.insert(message, shadow.memory(number));
        }
    }

    /// A message passes on the block of another one, if that carries any.
    pub(crate) fn relay(&mut self, from: &K, to: K) {
        if let Some(values) = &mut self.0
            && let Some(block) = values.sent.remove(from)
        {
            values.sent.insert(to, block);
        }
    }

    /// A message has arrived at a cache with a frame for the block that it may carry.
    pub(crate) fn arrive(&mut self, message: &K, shadow: &mut Shadow, at: usize) {
        if let (Some(block), Some(shadow)) = (self.receive(message), shadow) {
            shadow.set_copy(at, block);
        }
    }

    /// Memory stores the block that a message carries.
    pub(crate) fn store<W: WordMask>(&mut self, message: &K, shadow: &mut Shadow, number: u32) {
        if let (Some(block), Some(shadow)) = (self.receive(message), shadow) {
            let last = u32::try_from(W::COUNT - 1).unwrap_or(u32::MAX);
            shadow.set_memory(number, W::range(0, last), &block);
        }
    }

    fn receive(&mut self, message: &K) -> Option<Vec<u64>> {
        self.0.as_mut().and_then(|values| values.sent.remove(message))
    }

    /// All nodes have seen the writes of a block.
    pub(crate) fn perform(&mut self, number: u32, shadow: &mut Shadow) {
        if let (Some(values), Some(shadow)) = (&mut self.0, shadow) {
            let [latest, _] = shadow.latest_and_memory(number);
            values.performed.insert(number, latest.clone());
        }
    }

    /// A reference takes place in the copy in frame `at`: a write gets a sequence number, a read
    /// must not be older than what all nodes had seen when its node requested the block, or have
    /// by now without a request.
    pub(crate) fn check<W: WordMask>(
        &self,
        access: &BlockAccess<W>,
        (number, at): (u32, usize),
        shadow: &mut Shadow,
        (now, block_shift): (u64, u32),
    ) -> Result<(), ClockError> {
        let (Some(values), Some(shadow)) = (&self.0, shadow) else { return Ok(()) };
        if access.write {
            shadow.write(number, access.words, std::iter::once(at));
            return Ok(());
        }
        let own = node(access.cache);
        let asked = values.asked.get(&(own, number));
        let Some(seen) = asked.or_else(|| values.performed.get(&number)) else { return Ok(()) };
        let not_older = |word, value| value_at(seen, word).is_none_or(|seen| value >= seen);
        let stale = shadow.stale_word(at, access.words, not_older);
        stale.map_or(Ok(()), |word| {
            let address = (access.block << block_shift) + u64::from(word) * W::BYTES;
            Err(ClockError::stale(now, own, address))
        })
    }
}
