//! Sums waits by word in memory that is read and written in order.
//!
//! Programs miss in more words than fit the host's caches, where a hash table would miss, too. So
//! waits go to a small table for words that miss again soon, from there to a list, and from time to
//! time the list is sorted and merged into the sums.

use super::words::{WaitEntry, WordWaits, key_of};
use super::{WaitCause, Waits};

/// Entries of the table of recently missed words, a power of two.
const RECENT: usize = 1024;

/// The minimum number of entries of the list when it is sorted.
const LIST_LEAST: usize = 1 << 16;

/// Collects waits in any order.
#[derive(Clone, Debug)]
pub(super) struct WaitLog {
    recent: Box<[WaitEntry]>,
    list: Vec<WaitEntry>,
    sums: WordWaits,
}

/// An empty entry: adding it changes nothing.
const NOTHING: WaitEntry = WaitEntry { key: 0, waits: Waits { transactions: 0, cycles: 0 } };

impl Default for WaitLog {
    fn default() -> Self {
        Self { recent: vec![NOTHING; RECENT].into(), list: Vec::new(), sums: WordWaits::default() }
    }
}

impl WaitLog {
    pub(super) fn add(&mut self, word: u64, cause: WaitCause, waits: Waits) {
        let key = key_of(word, cause);
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.trailing_zeros());
        let entry = &mut self.recent[usize::try_from(hash).unwrap_or(0)];
        if entry.key == key {
            entry.waits.transactions += waits.transactions;
            entry.waits.cycles += waits.cycles;
            return;
        }
        let before = std::mem::replace(entry, WaitEntry { key, waits });
        if before.waits == NOTHING.waits {
            return;
        }
        self.list.push(before);
        // Merged when half as many new entries have been added: each sum is copied a few times.
        if self.list.len() >= (self.sums.len() / 2).max(LIST_LEAST) {
            self.sums.merge(&mut self.list);
        }
    }

    pub(super) fn finish(mut self) -> WordWaits {
        let recent = self.recent.iter().filter(|entry| entry.waits != NOTHING.waits);
        self.list.extend(recent);
        self.sums.merge(&mut self.list);
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::WaitsByCause;
    use homenode_base::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn sums_are_those_of_a_map() {
        let mut rng = Rng::new(5);
        let mut log = WaitLog::default();
        let mut map: BTreeMap<u64, WaitsByCause> = BTreeMap::new();
        for _ in 0..600_000 {
            let word = if rng.below(2) == 0 { rng.below(50) } else { rng.below(150_000) };
            let cause = WaitCause::ALL[usize::try_from(rng.below(4)).unwrap()];
            let waits = Waits { transactions: 1 + rng.below(2), cycles: rng.below(300) };
            log.add(word, cause, waits);
            let sum = map.entry(word).or_default().of_mut(cause);
            sum.transactions += waits.transactions;
            sum.cycles += waits.cycles;
        }
        let sums = log.finish();
        assert!(sums.iter().eq(map.iter().map(|(&word, &waits)| (word, waits))));
        let mut total = WaitsByCause::default();
        map.values().for_each(|waits| total.add(waits));
        assert_eq!(sums.total(), total);
    }
}
