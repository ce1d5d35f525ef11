//! Sets of processors with a width chosen per machine.

use crate::ProcId;

/// Processors in one word, a bit each.
const WORD_BITS: u16 = 64;

/// A set of processors, one bit each, in `WORDS` 64-bit words.
///
/// The width is a constant, so a set of one word is a machine word. Code generic in `WORDS` is
/// compiled once for the common case and once for large machines; a simulation selects the width
/// once, not per reference.
///
/// ```
/// use homenode_base::ProcessorSet64;
/// let mut sharers = ProcessorSet64::single(3);
/// sharers.insert(9);
/// assert!(sharers.holds_other_than(3));
/// assert_eq!(sharers.members().collect::<Vec<_>>(), [3, 9]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessorSet<const WORDS: usize>([u64; WORDS]);

/// Sets of up to 64 processors.
pub type ProcessorSet64 = ProcessorSet<1>;

/// Sets of up to 1024 processors, the maximum of all engines.
pub type ProcessorSet1024 = ProcessorSet<16>;

impl<const WORDS: usize> Default for ProcessorSet<WORDS> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const WORDS: usize> ProcessorSet<WORDS> {
    /// No processor.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Numbers in a set are below this.
    #[expect(clippy::cast_possible_truncation, reason = "a set has at most a few dozen words")]
    pub const CAPACITY: u16 = WORDS as u16 * WORD_BITS;

    /// The set of one processor.
    #[inline]
    #[must_use]
    pub fn single(p: ProcId) -> Self {
        let mut set = Self::EMPTY;
        set.insert(p);
        set
    }

    /// Index of the word with a processor's bit, and the bit. A set of one word needs neither a
    /// division nor a bounds check.
    #[inline]
    fn place(p: ProcId) -> (usize, u64) {
        debug_assert!(p < Self::CAPACITY, "processor {p} in a set of {}", Self::CAPACITY);
        let word = if WORDS == 1 { 0 } else { usize::from(p / WORD_BITS) };
        (word, 1 << (p % WORD_BITS))
    }

    /// The set with these words, lowest numbers first; missing words are 0. There are at most
    /// `WORDS`.
    #[inline]
    #[must_use]
    pub fn from_words(words: &[u64]) -> Self {
        let mut set = Self::EMPTY;
        set.0[..words.len()].copy_from_slice(words);
        set
    }

    /// The words of the set, lowest numbers first.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Adds a processor.
    #[inline]
    pub fn insert(&mut self, p: ProcId) {
        let (word, bit) = Self::place(p);
        self.0[word] |= bit;
    }

    /// Removes a processor if it is in the set.
    #[inline]
    pub fn remove(&mut self, p: ProcId) {
        let (word, bit) = Self::place(p);
        self.0[word] &= !bit;
    }

    /// Whether the processor is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, p: ProcId) -> bool {
        let (word, bit) = Self::place(p);
        self.0[word] & bit != 0
    }

    /// Whether the set contains a processor other than `p`.
    #[inline]
    #[must_use]
    pub fn holds_other_than(&self, p: ProcId) -> bool {
        !self.without(p).is_empty()
    }

    /// The set without one processor.
    #[inline]
    #[must_use]
    pub fn without(mut self, p: ProcId) -> Self {
        self.remove(p);
        self
    }

    /// Number of processors in the set.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether every processor of this set is in the other.
    #[inline]
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    /// The processors in either set.
    #[inline]
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
        self
    }

    /// The processors in both sets.
    #[inline]
    #[must_use]
    pub fn intersection(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        self
    }

    /// The processors in this set and not in the other.
    #[inline]
    #[must_use]
    pub fn difference(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
        self
    }

    /// The processors in the set, lowest number first.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = ProcId> {
        let Self(mut words) = self;
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(word) = words.get_mut(at) {
                if *word != 0 {
                    let bit = u16::try_from(word.trailing_zeros()).ok()?;
                    *word &= *word - 1;
                    return u16::try_from(at).ok().map(|at| at * WORD_BITS + bit);
                }
                at += 1;
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use std::collections::BTreeSet;

    /// Compares every operation on random sets with the same operation on a sorted set.
    fn agrees_with_a_sorted_set<const WORDS: usize>() {
        let mut rng = Rng::new(u64::try_from(WORDS).unwrap());
        let capacity = u64::from(ProcessorSet::<WORDS>::CAPACITY);
        let mut draw = || u16::try_from(rng.below(capacity)).unwrap();
        let mut sets = [ProcessorSet::<WORDS>::EMPTY; 2];
        let mut models = [BTreeSet::new(), BTreeSet::new()];
        for round in 0..600 {
            let (p, side) = (draw(), round % 2);
            if round % 5 < 3 {
                sets[side].insert(p);
                models[side].insert(p);
            } else {
                sets[side].remove(p);
                models[side].remove(&p);
            }
            let ([a, b], [x, y]) = (sets, &models);
            let is = |set: ProcessorSet<WORDS>, model: BTreeSet<u16>| {
                assert_eq!(set.members().collect::<Vec<_>>(), Vec::from_iter(model.clone()));
                assert_eq!((set.len() as usize, set.is_empty()), (model.len(), model.is_empty()));
            };
            is(a, x.clone());
            is(a.union(&b), x | y);
            is(a.intersection(&b), x & y);
            is(a.difference(&b), x - y);
            let q = draw();
            assert_eq!(a.contains(q), x.contains(&q));
            assert_eq!(a.holds_other_than(q), x.iter().any(|&p| p != q));
            assert_eq!(a.is_subset(&b), x.is_subset(y));
            assert!(a.intersection(&b).is_subset(&a) && a.is_subset(&a.union(&b)));
            assert_eq!(a.without(q), a.difference(&ProcessorSet::single(q)));
            assert_eq!(a, ProcessorSet::from_words(a.words()));
        }
    }

    #[test]
    fn sets_of_every_width_behave_the_same() {
        agrees_with_a_sorted_set::<1>();
        agrees_with_a_sorted_set::<2>();
        agrees_with_a_sorted_set::<16>();
        assert_eq!((ProcessorSet64::CAPACITY, ProcessorSet1024::CAPACITY), (64, 1024));
    }
}
