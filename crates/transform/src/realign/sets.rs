//! Sets of threads as numbers: equal sets have equal numbers.

use rustc_hash::FxHashMap;

/// The sets created so far. Number 0 is the empty set.
#[derive(Default)]
pub(super) struct ThreadSets {
    numbers: FxHashMap<Vec<u16>, u32>,
    /// The set that results from adding a thread to a set.
    with: FxHashMap<(u32, u16), u32>,
    members: Vec<Vec<u16>>,
}

impl ThreadSets {
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.with.clear();
        self.members.clear();
    }

    pub(super) fn with(&mut self, set: u32, thread: u16) -> u32 {
        if let Some(&number) = self.with.get(&(set, thread)) {
            return number;
        }
        let before = usize::try_from(set).ok().and_then(|set| set.checked_sub(1));
        let mut members = before.map_or_else(Vec::new, |at| self.members[at].clone());
        if let Err(at) = members.binary_search(&thread) {
            members.insert(at, thread);
        }
        let next = u32::try_from(self.members.len() + 1).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(members.clone()).or_insert(next);
        if number == next {
            self.members.push(members);
        }
        self.with.insert((set, thread), number);
        number
    }
}
