//! Dense numbers for words.

use rustc_hash::FxHashMap;

/// Words of a group, which are numbered together: one look-up finds all words of most references,
/// and within a group numbers are in order of address.
pub(super) const GROUP: usize = 16;

/// Entries of the cache in front of the map; programs reuse few groups at a time.
const CACHE_ENTRIES: usize = 1024;

/// No group has this number: there are four bytes to a word and sixteen words to a group.
const NO_GROUP: u64 = u64::MAX;

/// Groups that there can be: numbers of words are 32 bits.
const GROUPS_MAX: usize = 1 << 28;

pub(super) struct WordTable {
    cache: Box<[(u64, u32); CACHE_ENTRIES]>,
    groups: FxHashMap<u64, u32>,
    first: Vec<u64>,
}

impl WordTable {
    pub(super) fn new() -> Self {
        Self {
            cache: Box::new([(NO_GROUP, 0); CACHE_ENTRIES]),
            groups: FxHashMap::default(),
            first: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() * GROUP
    }

    pub(super) fn groups(&self) -> &[u64] {
        &self.first
    }

    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.first.len()).collect();
        order.sort_unstable_by_key(|&group| self.first[group]);
        order
    }

    #[inline]
    pub(super) fn number(&mut self, word: u64) -> usize {
        let group = word / GROUP as u64;
        let entry = &mut self.cache[slot(group)];
        if entry.0 != group {
            let next = self.first.len();
            let index = *self.groups.entry(group).or_insert_with(|| {
                assert!(next < GROUPS_MAX, "a program references at most 16 GiB");
                self.first.push(group * GROUP as u64);
                u32::try_from(next).unwrap_or(u32::MAX)
            });
            *entry = (group, index);
        }
        number(entry.1, word)
    }

    /// The number of a word that may have none.
    #[inline]
    pub(super) fn find(&mut self, word: u64) -> Option<usize> {
        let group = word / GROUP as u64;
        let entry = &mut self.cache[slot(group)];
        if entry.0 != group {
            *entry = (group, *self.groups.get(&group)?);
        }
        Some(number(entry.1, word))
    }
}

fn number(group: u32, word: u64) -> usize {
    group as usize * GROUP + usize::try_from(word % GROUP as u64).unwrap_or(0)
}

/// Neighbouring groups get different slots.
fn slot(group: u64) -> usize {
    let folded = group ^ (group >> 10) ^ (group >> 20);
    usize::try_from(folded % CACHE_ENTRIES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_group_have_numbers_in_a_row() {
        let mut words = WordTable::new();
        assert_eq!(
            [0x105, 0x10f, 0x7, 0x100, 0x10].map(|word| words.number(word)),
            [5, 15, 23, 0, 32]
        );
        assert_eq!(
            [words.find(0x101), words.find(0x20), words.find(0x0)],
            [Some(1), None, Some(16)]
        );
        assert_eq!(
            (words.len(), words.groups(), words.in_order()),
            (48, &[0x100, 0, 0x10][..], vec![1, 2, 0])
        );
    }

    #[test]
    fn words_that_share_a_place_in_the_cache_keep_their_numbers() {
        let mut words = WordTable::new();
        let far: Vec<u64> = (0..5000).map(|i| i * 16 * 1024).collect();
        let first: Vec<usize> = far.iter().map(|&word| words.number(word)).collect();
        let again: Vec<usize> = far.iter().map(|&word| words.number(word)).collect();
        assert_eq!(first, again);
        assert_eq!(far.iter().map(|&word| words.find(word).unwrap()).collect::<Vec<_>>(), first);
    }
}
