//! Maps block numbers to dense indices.

use rustc_hash::FxHashMap;

/// Entries of the cache in front of the map; programs reuse few blocks at a time.
const CACHE_ENTRIES: usize = 1024;

/// No block has this number: block sizes are at least four bytes.
const NO_BLOCK: u64 = u64::MAX;

/// Index of a block that belongs to another shard.
pub(crate) const ELSEWHERE: u32 = u32::MAX;

/// Dense index of every block, in order of first reference.
pub(crate) struct BlockMap {
    cache: Box<[(u64, u32); CACHE_ENTRIES]>,
    indices: FxHashMap<u64, u32>,
    /// Block number of each index.
    pub(crate) numbers: Vec<u64>,
}

impl BlockMap {
    pub(crate) fn new() -> Self {
        Self {
            cache: Box::new([(NO_BLOCK, 0); CACHE_ENTRIES]),
            indices: FxHashMap::default(),
            numbers: Vec::new(),
        }
    }

    /// Index of the block, or [`ELSEWHERE`]; `belongs` is called for new blocks only.
    #[inline]
    pub(crate) fn index(&mut self, number: u64, belongs: impl Fn(u64) -> bool) -> u32 {
        // A direct-mapped cache of the map: most references are to a recent block, and one
        // comparison is cheaper than a hash.
        let slot = &mut self.cache[slot(number) % CACHE_ENTRIES];
        if slot.0 == number {
            return slot.1;
        }
        let index = match self.indices.get(&number) {
            Some(&index) => index,
            None if belongs(number) => {
                let index = u32::try_from(self.numbers.len()).unwrap_or(ELSEWHERE);
                assert!(index != ELSEWHERE, "a shard holds fewer than 2^32 - 1 blocks");
                self.numbers.push(number);
                self.indices.insert(number, index);
                index
            }
            None => ELSEWHERE,
        };
        *slot = (number, index);
        index
    }

    /// Keeps the blocks that still belong and renumbers them, in the same order. Returns the new
    /// index of every old one.
    pub(crate) fn retain(&mut self, belongs: impl Fn(u64) -> bool) -> Vec<u32> {
        let old = std::mem::replace(self, Self::new());
        old.numbers.iter().map(|&number| self.index(number, &belongs)).collect()
    }
}

/// Neighbouring blocks get different slots, and so do blocks at the same offset of large arrays,
/// because higher bits are folded in.
fn slot(number: u64) -> usize {
    let folded = number ^ (number >> 10) ^ (number >> 20);
    usize::from(u16::try_from(folded & 1023).unwrap_or(0))
}
