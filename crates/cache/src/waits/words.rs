//! Storage of waits by word.

use super::{WaitCause, Waits, WaitsByCause};

/// Low bits of an entry's key, which number the cause.
const CAUSE_BITS: u32 = 2;

/// Waits for a word because of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitEntry {
    /// The word and the cause.
    pub(super) key: u64,
    pub(super) waits: Waits,
}

/// The key that orders entries by word, then by cause. A word is an address divided by four, which
/// leaves two bits for the cause.
pub(super) fn key_of(word: u64, cause: WaitCause) -> u64 {
    word << CAUSE_BITS | cause as u64
}

/// [`WaitsByCause`] of every word that was waited for. Memory: 24 bytes a word and cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordWaits {
    /// In order of their keys, without duplicates.
    entries: Vec<WaitEntry>,
    pub(super) sharing_elapsed: u64,
}

impl WordWaits {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Moves entries out of a list in any order into the sums. The sums stay in place: to allocate
    /// them anew would take longer than to sort the list.
    pub(super) fn merge(&mut self, added: &mut Vec<WaitEntry>) {
        added.sort_unstable_by_key(|entry| entry.key);
        added.dedup_by(|next, sum| {
            let same = next.key == sum.key;
            if same {
                sum.waits.add(next.waits);
            }
            same
        });
        let mut at = 0;
        added.retain(|entry| {
            let rest = &self.entries[at..];
            at += rest.iter().position(|kept| kept.key >= entry.key).unwrap_or(rest.len());
            let same = self.entries.get_mut(at).filter(|kept| kept.key == entry.key);
            let new = same.is_none();
            same.into_iter().for_each(|kept| kept.waits.add(entry.waits));
            new
        });
        self.insert_new(added);
    }

    /// Inserts sorted entries with new keys, from the last to the first.
    fn insert_new(&mut self, added: &mut Vec<WaitEntry>) {
        let mut old = self.entries.len();
        self.entries.extend_from_slice(added);
        let mut free = self.entries.len();
        while let Some(new) = added.pop() {
            while old > 0 && self.entries[old - 1].key > new.key {
                (old, free) = (old - 1, free - 1);
                self.entries[free] = self.entries[old];
            }
            free -= 1;
            self.entries[free] = new;
        }
    }

    /// Every word, by its address divided by four, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, WaitsByCause)> + '_ {
        let words = self.entries.chunk_by(|a, b| a.key >> CAUSE_BITS == b.key >> CAUSE_BITS);
        words.map(|entries| {
            let mut waits = WaitsByCause::default();
            for entry in entries {
                let cause = usize::try_from(entry.key & ((1 << CAUSE_BITS) - 1)).unwrap_or(0);
                waits.0[cause] = entry.waits;
            }
            (entries[0].key >> CAUSE_BITS, waits)
        })
    }

    /// An upper bound of the cycles in which at least one processor waited for sharing. Without
    /// sharing all processors would do the same in the same order, at most this much sooner.
    #[must_use]
    pub fn sharing_elapsed(&self) -> u64 {
        self.sharing_elapsed
    }

    /// The sum over all words.
    #[must_use]
    pub fn total(&self) -> WaitsByCause {
        let mut sum = WaitsByCause::default();
        self.iter().for_each(|(_, waits)| sum.add(&waits));
        sum
    }
}
