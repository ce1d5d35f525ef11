//! Dense numbers for words.

use homenode_trace::DenseIndex;

/// Words of a group, which are numbered together: one look-up finds all words of most references,
/// and within a group numbers are in order of address.
pub(super) const GROUP: usize = 16;

/// Groups that there can be: numbers of words are 32 bits.
const GROUPS_MAX: usize = 1 << 28;

/// Numbers of the words of all groups that have been referenced.
#[derive(Default)]
pub(super) struct WordTable(DenseIndex<1024>);

impl WordTable {
    pub(super) fn len(&self) -> usize {
        self.groups().len() * GROUP
    }

    /// Each group, as the number of its first word divided by [`GROUP`].
    pub(super) fn groups(&self) -> &[u64] {
        self.0.keys()
    }

    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.groups().len()).collect();
        order.sort_unstable_by_key(|&group| self.groups()[group]);
        order
    }

    #[inline]
    pub(super) fn number(&mut self, word: u64) -> usize {
        let next = self.groups().len();
        let group = self.0.number(word / GROUP as u64, || {
            assert!(next < GROUPS_MAX, "a program references at most 16 GiB");
            true
        });
        number(group, word)
    }

    /// The number of a word that may have none.
    #[inline]
    pub(super) fn find(&mut self, word: u64) -> Option<usize> {
        Some(number(self.0.find(word / GROUP as u64)?, word))
    }
}

fn number(group: u32, word: u64) -> usize {
    group as usize * GROUP + usize::try_from(word % GROUP as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_group_have_numbers_in_a_row() {
        let mut words = WordTable::default();
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
            (48, &[0x10, 0, 1][..], vec![1, 2, 0])
        );
    }
}
