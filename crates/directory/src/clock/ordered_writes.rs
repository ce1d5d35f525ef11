//! Which writes a read has to see under release consistency, for `--check`.
//!
//! A node has to see what it wrote itself, and what others wrote before a release that took effect
//! before its last acquire. A read is too old if it returns a value although the node has to see a
//! write that came after that value in the same sense. Where writes of a word race, nothing is
//! demanded between them: such programs may read either.

use rustc_hash::FxHashMap;

/// So many writes of a word are kept before those that nobody can miss are forgotten.
const KEPT: usize = 16;

/// The last write of a word by a node between two of its releases.
#[derive(Clone, Copy, Debug)]
struct NodeWrite {
    /// The number of the write, of all.
    value: u64,
    node: u16,
    /// How many releases of the node came before.
    interval: usize,
}

/// What has to be known of the writes of a word.
#[derive(Clone, Debug, Default)]
struct OrderedWordWrites {
    /// Writes after which no other came whose node had to see them.
    last: Vec<NodeWrite>,
    /// Writes that came after all earlier writes of the word: whoever has to see one of them can
    /// read nothing older.
    ordered: Vec<NodeWrite>,
}

/// The writes of all words, and which of them each node has to see.
#[derive(Debug)]
pub(super) struct OrderedWrites {
    /// Counts releases that took effect.
    releases: u64,
    /// By node, how many releases had taken effect when it last acquired.
    acquired: Vec<u64>,
    /// By node, the number of each of its releases.
    released: Vec<Vec<u64>>,
    /// Nodes that have referred to anything.
    refers: Vec<bool>,
    /// By the block's number and the word's position in it.
    words: FxHashMap<(u32, u32), OrderedWordWrites>,
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

    /// A release of a node takes effect.
    pub(super) fn release(&mut self, node: u16) {
        self.releases += 1;
        self.released[usize::from(node)].push(self.releases);
    }

    /// A node acquires.
    pub(super) fn acquire(&mut self, node: u16) {
        self.acquired[usize::from(node)] = self.releases;
    }

    /// Whether a node that acquired after so many releases has to see a write.
    fn sees(&self, (node, acquired): (u16, u64), write: &NodeWrite) -> bool {
        let released = self.released[usize::from(write.node)].get(write.interval);
        write.node == node || released.is_some_and(|&number| number <= acquired)
    }

    /// A node writes a word: the write has this number.
    pub(super) fn write(&mut self, node: u16, word: (u32, u32), value: u64) {
        self.refers[usize::from(node)] = true;
        let mut found = self.words.remove(&word).unwrap_or_default();
        let interval = self.released[usize::from(node)].len();
        let write = NodeWrite { value, node, interval };
        let who = (node, self.acquired[usize::from(node)]);
        if found.last.iter().all(|earlier| self.sees(who, earlier)) {
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

    /// Forgets writes before the last one that everybody has to see.
    fn forget(&self, ordered: &mut Vec<NodeWrite>) {
        let nodes = || (0u16..).zip(self.acquired.iter().copied()).zip(&self.refers);
        let by_all =
            |write: &NodeWrite| nodes().all(|(who, refers)| !refers || self.sees(who, write));
        if let Some(last) = ordered.iter().rposition(by_all) {
            ordered.drain(..last);
        }
    }

    /// Whether a node that reads a word may find this value there.
    pub(super) fn may_read(&mut self, node: u16, word: (u32, u32), value: u64) -> bool {
        self.refers[usize::from(node)] = true;
        let who = (node, self.acquired[usize::from(node)]);
        let Some(found) = self.words.get(&word) else { return true };
        let newest = found.ordered.iter().rfind(|write| self.sees(who, write));
        newest.is_none_or(|write| write.value <= value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: (u32, u32) = (0, 3);

    #[test]
    fn what_was_released_has_to_be_seen_after_an_acquire_and_not_before() {
        let mut writes = OrderedWrites::new(2);
        writes.write(0, WORD, 5);
        assert!(writes.may_read(1, WORD, 0) && !writes.may_read(0, WORD, 0));
        writes.acquire(1);
        assert!(writes.may_read(1, WORD, 0), "nothing was released");
        writes.release(0);
        assert!(writes.may_read(1, WORD, 0), "it has not acquired since");
        writes.acquire(1);
        assert!(!writes.may_read(1, WORD, 0) && writes.may_read(1, WORD, 5));
        // A write after the release is seen by chance.
        writes.write(0, WORD, 6);
        assert!(writes.may_read(1, WORD, 5) && writes.may_read(1, WORD, 6));
    }

    #[test]
    fn of_writes_that_race_either_may_be_read_until_one_is_ordered_after_both() {
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
    fn what_nobody_can_miss_is_forgotten() {
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
