//! Which writes a read has to see under release consistency, for `--check`.
//!
//! A node has to see what it wrote itself, and what others wrote before a release that took effect
//! before its last acquire. A read is too old if it returns a value although the node has to see a
//! write that came after that value in the same sense. Racing writes of a word are not ordered: a
//! read may return either.

use rustc_hash::FxHashMap;

/// Writes kept for a word before those superseded for all nodes are dropped.
const KEPT: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WordRef {
    /// Number of the block.
    pub(super) number: u32,
    /// Position in the block.
    pub(super) word: u32,
}

/// The last write of a word by a node between two of its releases.
#[derive(Clone, Copy, Debug)]
struct NodeWrite {
    /// Sequence number of the write.
    value: u64,
    node: u16,
    /// Number of earlier releases of the node.
    interval: usize,
}

/// The writes of a word that still matter.
#[derive(Clone, Debug, Default)]
struct OrderedWordWrites {
    /// Writes not followed by a write whose node had to see them.
    last: Vec<NodeWrite>,
    /// Writes ordered after all earlier writes of the word: a node that has to see one of them may
    /// read nothing older.
    ordered: Vec<NodeWrite>,
}

/// The writes of all words, and which of them each node has to see.
#[derive(Debug)]
pub(super) struct OrderedWrites {
    /// Number of releases that took effect.
    releases: u64,
    /// By node, the number of releases that had taken effect at its last acquire.
    acquired: Vec<u64>,
    /// By node, the number of each of its releases.
    released: Vec<Vec<u64>>,
    /// By node, whether it has made a reference.
    refers: Vec<bool>,
    words: FxHashMap<WordRef, OrderedWordWrites>,
}

impl OrderedWrites {
    pub(super) fn new(nodes: u16) -> Self {
        let nodes = usize::from(nodes);
        Self {
            releases: 0,
            acquired: vec![0; nodes],
            released: vec![Vec::new(); nodes],
            refers: vec![false; nodes],
            words: FxHashMap::default(),
        }
    }

    pub(super) fn release(&mut self, node: u16) {
        self.releases += 1;
        self.released[usize::from(node)].push(self.releases);
    }

    pub(super) fn acquire(&mut self, node: u16) {
        self.acquired[usize::from(node)] = self.releases;
    }

    /// Whether a node that last acquired after `acquired` releases has to see a write.
    fn sees(&self, node: u16, acquired: u64, write: &NodeWrite) -> bool {
        let released = self.released[usize::from(write.node)].get(write.interval);
        write.node == node || released.is_some_and(|&number| number <= acquired)
    }

    /// A node writes a word; `value` is the sequence number of the write.
    pub(super) fn write(&mut self, node: u16, word: WordRef, value: u64) {
        self.refers[usize::from(node)] = true;
        let mut found = self.words.remove(&word).unwrap_or_default();
        let interval = self.released[usize::from(node)].len();
        let write = NodeWrite { value, node, interval };
        let acquired = self.acquired[usize::from(node)];
        if found.last.iter().all(|earlier| self.sees(node, acquired, earlier)) {
            found.last.clear();
            let again = |last: &mut NodeWrite| last.node == node && last.interval == interval;
            found.ordered.pop_if(again);
            found.ordered.push(write);
            if found.ordered.len() > KEPT {
                self.forget(&mut found.ordered);
            }
        } else {
            found.last.retain(|earlier| earlier.node != node);
        }
        found.last.push(write);
        self.words.insert(word, found);
    }

    /// Drops writes before the last one that all nodes have to see.
    fn forget(&self, ordered: &mut Vec<NodeWrite>) {
        let nodes = || (0u16..).zip(self.acquired.iter().copied()).zip(&self.refers);
        let by_all = |write: &NodeWrite| {
            nodes().all(|((node, acquired), refers)| !refers || self.sees(node, acquired, write))
        };
        if let Some(last) = ordered.iter().rposition(by_all) {
            ordered.drain(..last);
        }
    }

    /// Whether a read of a word by a node may return this value.
    pub(super) fn may_read(&mut self, node: u16, word: WordRef, value: u64) -> bool {
        self.refers[usize::from(node)] = true;
        let acquired = self.acquired[usize::from(node)];
        let Some(found) = self.words.get(&word) else { return true };
        let newest = found.ordered.iter().rfind(|write| self.sees(node, acquired, write));
        newest.is_none_or(|write| write.value <= value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: WordRef = WordRef { number: 0, word: 3 };

    #[test]
    fn released_writes_have_to_be_seen_after_an_acquire_and_not_before() {
        let mut writes = OrderedWrites::new(2);
        writes.write(0, WORD, 5);
        assert!(writes.may_read(1, WORD, 0) && !writes.may_read(0, WORD, 0));
        writes.acquire(1);
        assert!(writes.may_read(1, WORD, 0), "nothing was released");
        writes.release(0);
        assert!(writes.may_read(1, WORD, 0), "it has not acquired since");
        writes.acquire(1);
        assert!(!writes.may_read(1, WORD, 0) && writes.may_read(1, WORD, 5));
        // A write after the release may or may not be seen.
        writes.write(0, WORD, 6);
        assert!(writes.may_read(1, WORD, 5) && writes.may_read(1, WORD, 6));
    }

    #[test]
    fn either_racing_write_may_be_read_until_one_is_ordered_after_both() {
        let mut writes = OrderedWrites::new(3);
        writes.write(0, WORD, 1);
        writes.write(1, WORD, 2);
        writes.release(0);
        writes.release(1);
        writes.acquire(2);
        assert!(writes.may_read(2, WORD, 1) && writes.may_read(2, WORD, 2));
        assert!(!writes.may_read(2, WORD, 0), "both came after that, and the first is ordered");
        writes.write(2, WORD, 3);
        assert!(!writes.may_read(2, WORD, 2) && writes.may_read(2, WORD, 3));
        assert!(writes.may_read(1, WORD, 2) && writes.may_read(1, WORD, 1));
    }

    #[test]
    fn superseded_writes_are_dropped() {
        let mut writes = OrderedWrites::new(4);
        for value in 1..200 {
            let node = u16::try_from(value % 2).unwrap();
            writes.acquire(node);
            writes.write(node, WORD, value);
            writes.release(node);
        }
        assert!(writes.words[&WORD].ordered.len() <= KEPT + 1);
        assert!(!writes.may_read(0, WORD, 197) && writes.may_read(0, WORD, 199));
    }
}
