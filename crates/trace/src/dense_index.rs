//! Dense numbers for sparse keys, such as the blocks, pages and program counters of a trace.

use rustc_hash::FxHashMap;

/// Marks an empty cache entry: no block, page or program counter has this key.
const NO_KEY: u64 = u64::MAX;

/// Dense numbers for sparse keys, in order of first use. Programs reuse few places at a time: a
/// direct-mapped cache of `ENTRIES` answers most look-ups, as a comparison is cheaper than a hash.
///
/// ```
/// use homenode_trace::DenseIndex;
/// let mut blocks = DenseIndex::<64>::default();
/// assert_eq!([900, 7, 900].map(|block| blocks.number(block, || true)), [0, 1, 0]);
/// assert_eq!(blocks.number(8, || false), DenseIndex::<64>::UNWANTED);
/// assert_eq!(blocks.keys(), [900, 7]);
/// ```
pub struct DenseIndex<const ENTRIES: usize> {
    cache: Box<[(u64, u32); ENTRIES]>,
    numbers: FxHashMap<u64, u32>,
    keys: Vec<u64>,
}

impl<const ENTRIES: usize> Default for DenseIndex<ENTRIES> {
    fn default() -> Self {
        Self {
            cache: Box::new([(NO_KEY, 0); ENTRIES]),
            numbers: FxHashMap::default(),
            keys: Vec::new(),
        }
    }
}

impl<const ENTRIES: usize> DenseIndex<ENTRIES> {
    /// In place of a number: the caller rejected the key.
    pub const UNWANTED: u32 = u32::MAX;

    /// Neighbouring keys get different entries, and so do keys at the same offset of large arrays,
    /// because higher bits are folded in.
    #[inline]
    fn slot(key: u64) -> usize {
        let bits = ENTRIES.trailing_zeros();
        let folded = key ^ (key >> bits) ^ (key >> (2 * bits));
        usize::try_from(folded % ENTRIES as u64).unwrap_or(0)
    }

    /// The number of a recently used key; [`Self::UNWANTED`] if the key was rejected.
    #[inline]
    #[must_use]
    pub fn cached(&self, key: u64) -> Option<u32> {
        let (cached, number) = self.cache[Self::slot(key)];
        (cached == key).then_some(number)
    }

    /// The number of a key; [`Self::UNWANTED`] if it is new and `wanted` rejects it.
    ///
    /// # Panics
    /// When there are 2^32 - 1 keys.
    #[inline]
    pub fn number(&mut self, key: u64, wanted: impl FnOnce() -> bool) -> u32 {
        let entry = &mut self.cache[Self::slot(key)];
        if entry.0 == key {
            return entry.1;
        }
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if wanted() => {
                let number = u32::try_from(self.keys.len()).unwrap_or(Self::UNWANTED);
                assert!(number != Self::UNWANTED, "fewer than 2^32 - 1 keys");
                self.keys.push(key);
                self.numbers.insert(key, number);
                number
            }
            None => Self::UNWANTED,
        };
        *entry = (key, number);
        number
    }

    /// The number of a key that may have none.
    #[inline]
    pub fn find(&mut self, key: u64) -> Option<u32> {
        let entry = &mut self.cache[Self::slot(key)];
        if entry.0 != key {
            *entry = (key, *self.numbers.get(&key)?);
        }
        (entry.1 != Self::UNWANTED).then_some(entry.1)
    }

    /// The same without the cache.
    #[must_use]
    pub fn known(&self, key: u64) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    /// The key of each number.
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The same, when no more numbers are needed.
    #[must_use]
    pub fn into_keys(self) -> Vec<u64> {
        self.keys
    }

    /// Keeps the keys that are still wanted and renumbers them, in the same order. Returns the new
    /// number of every old one.
    pub fn retain(&mut self, wanted: impl Fn(u64) -> bool) -> Vec<u32> {
        let old = std::mem::take(self);
        old.keys.iter().map(|&key| self.number(key, || wanted(key))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_share_a_place_in_the_cache_keep_their_numbers() {
        let mut index = DenseIndex::<64>::default();
        let far: Vec<u64> = (0..5000).map(|i| i * 4096).collect();
        let first: Vec<u32> = far.iter().map(|&key| index.number(key, || true)).collect();
        let again: Vec<u32> = far.iter().map(|&key| index.number(key, || false)).collect();
        let found: Vec<Option<u32>> = far.iter().map(|&key| index.find(key)).collect();
        assert_eq!((&first, found), (&again, first.iter().copied().map(Some).collect()));
        assert_eq!((index.find(1), index.known(4096), index.cached(2)), (None, Some(1), None));
    }

    #[test]
    fn kept_keys_have_new_numbers_in_the_same_order() {
        let mut index = DenseIndex::<64>::default();
        for key in [5, 6, 7] {
            index.number(key, || true);
        }
        let unwanted = DenseIndex::<64>::UNWANTED;
        assert_eq!(index.retain(|key| key != 6), [0, unwanted, 1]);
        assert_eq!((index.find(6), index.into_keys()), (None, vec![5, 7]));
    }
}
