//! Dense numbers for sparse keys.

use rustc_hash::FxHashMap;

/// Entries of the cache in front of the map; programs reuse few places at a time.
const CACHE_ENTRIES: usize = 4096;

/// Marks an empty cache entry: no region, page or program counter has this key.
const NO_KEY: u64 = u64::MAX;

/// In place of a number: the caller rejected the key.
const UNWANTED: u32 = u32::MAX;

/// Dense numbers for sparse keys, in order of first use. The cache answers most look-ups without
/// hashing.
pub(super) struct DenseIndex {
    cache: Box<[(u64, u32)]>,
    numbers: FxHashMap<u64, u32>,
    keys: Vec<u64>,
}

impl DenseIndex {
    pub(super) fn new() -> Self {
        Self {
            cache: vec![(NO_KEY, 0); CACHE_ENTRIES].into(),
            numbers: FxHashMap::default(),
            keys: Vec::new(),
        }
    }

    #[inline]
    fn slot(key: u64) -> usize {
        let folded = key ^ (key >> 12) ^ (key >> 24);
        usize::try_from(folded % CACHE_ENTRIES as u64).unwrap_or(0)
    }

    /// The number of a recently used key; [`UNWANTED`] if the key was rejected.
    #[inline]
    pub(super) fn cached(&self, key: u64) -> Option<u32> {
        let (cached, number) = self.cache[Self::slot(key)];
        (cached == key).then_some(number)
    }

    /// The number of a key; [`UNWANTED`] if it is new and `wanted` rejects it.
    #[inline]
    pub(super) fn number(&mut self, key: u64, wanted: impl FnOnce() -> Option<()>) -> u32 {
        if let Some(number) = self.cached(key) {
            return number;
        }
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if wanted().is_some() => {
                let number = u32::try_from(self.keys.len()).unwrap_or(UNWANTED);
                assert!(number != UNWANTED, "fewer than 2^32 - 1 regions, pages and sites");
                self.keys.push(key);
                self.numbers.insert(key, number);
                number
            }
            None => UNWANTED,
        };
        self.cache[Self::slot(key)] = (key, number);
        number
    }

    pub(super) fn known(&self, key: u64) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    pub(super) fn into_keys(self) -> std::vec::IntoIter<u64> {
        self.keys.into_iter()
    }
}
