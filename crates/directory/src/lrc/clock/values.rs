//! Values of lines in memory, in copies and in flight, for `--check` and for walks, and whether a
//! read may return its value.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask};
use rustc_hash::FxHashMap;

use super::LrcMemory;
use super::ordered_writes::{OrderedWrites, WordRef};
use crate::mesh::sync::node;

/// Values in flight, by node and block.
#[derive(Debug)]
pub(super) struct LineValues<W> {
    /// Lines sent by memories.
    lines: FxHashMap<(u16, u64), Vec<u64>>,
    /// Dirty words sent by nodes.
    write_backs: FxHashMap<(u16, u64), (W, Vec<u64>)>,
    /// Which writes each node has to see.
    pub(super) writes: OrderedWrites,
}

impl<W> LineValues<W> {
    pub(super) fn new(nodes: u16) -> Self {
        let (lines, write_backs) = (FxHashMap::default(), FxHashMap::default());
        Self { lines, write_backs, writes: OrderedWrites::new(nodes) }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> LrcMemory<F, W, WORDS> {
    /// A memory sends a line to a node, with its current values. A copy of a page in the node's own
    /// memory is taken to have them too.
    pub(super) fn values_sent(&mut self, to: u16, block: u64) {
        let number = self.values.as_ref().map(|_| self.caches.holders.number(block));
        if let (Some(values), Some(shadow), Some(number)) =
            (&mut self.values, &mut self.caches.shadow, number)
        {
            values.lines.insert((to, block), shadow.memory(number));
        }
    }

    /// A line has arrived in a frame.
    pub(super) fn values_arrived(&mut self, own: u16, block: u64, at: usize) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow)
            && let Some(line) = values.lines.remove(&(own, block))
        {
            shadow.set_copy(at, line);
        }
    }

    /// The dirty words of a frame are sent home.
    pub(super) fn values_written_back(&mut self, own: u16, block: u64, at: usize, words: W) {
        if let (Some(values), Some(shadow)) = (&mut self.values, &self.caches.shadow) {
            values.write_backs.insert((own, block), (words, shadow.copy(at).to_vec()));
        }
    }

    /// Memory stores the words that a node has sent.
    pub(super) fn values_taken(&mut self, from: u16, block: u64) {
        let taken = self.values.as_mut().and_then(|sent| sent.write_backs.remove(&(from, block)));
        if let (Some((words, values)), Some(shadow)) = (taken, &mut self.caches.shadow) {
            shadow.set_memory(self.caches.holders.number(block), words, &values);
        }
    }

    /// A reference takes place in a frame: a write gets a sequence number, a read is compared with
    /// the writes that it has to see.
    pub(super) fn check_values(&mut self, access: &BlockAccess<W>, at: usize, now: u64) {
        let number = self.caches.frame(at).number;
        let (Some(values), Some(shadow)) = (&mut self.values, &mut self.caches.shadow) else {
            return;
        };
        let own = node(access.cache);
        if access.write {
            let value = shadow.write(number, access.words, std::iter::once(at));
            for word in access.words.numbers() {
                values.writes.write(own, WordRef { number, word }, value);
            }
            return;
        }
        let may_read = |word, value| values.writes.may_read(own, WordRef { number, word }, value);
        let stale = shadow.stale_word(at, access.words, may_read);
        if let Some(word) = stale {
            let address = (access.block << self.block_shift) + u64::from(word) * W::BYTES;
            self.error.get_or_insert(ClockError::stale(now, own, address));
        }
    }
}
