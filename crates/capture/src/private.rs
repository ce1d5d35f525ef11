//! Classifies references as private: those to the thread's own stack, thread-local storage or a
//! region that it declared private, until another thread has referenced the same 64 bytes.

use rustc_hash::FxHashMap;

const GRANULE_SHIFT: u32 = 6;
/// A mask has a bit for each granule of 4 KB.
const MASK_SHIFT: u32 = 12;
const CACHE_ENTRIES: usize = 64;
const CACHE_SHIFT: u32 = 16;
const NO_RANGE: usize = usize::MAX;

#[derive(Debug)]
struct Range {
    low: u64,
    high: u64,
    owner: u16,
    /// For every 4 KB that another thread has referenced, the mask of the 64-byte granules that it
    /// has referenced.
    shared: FxHashMap<u64, u64>,
}

/// An interval of addresses that all belong to the same range, or to none.
#[derive(Clone, Copy, Debug)]
struct KnownInterval {
    low: u64,
    high: u64,
    range: usize,
}

const UNKNOWN: KnownInterval = KnownInterval { low: 1, high: 0, range: NO_RANGE };

/// The private ranges of all threads.
#[derive(Debug)]
pub struct PrivateRanges {
    /// Ordered by address, without overlaps.
    ranges: Vec<Range>,
    /// Results of earlier look-ups, indexed by a few bits of the address.
    cache: [KnownInterval; CACHE_ENTRIES],
}

impl Default for PrivateRanges {
    fn default() -> Self {
        Self { ranges: Vec::new(), cache: [UNKNOWN; CACHE_ENTRIES] }
    }
}

impl PrivateRanges {
    /// Makes the bytes from `low` up to `high` private to `owner`. Earlier private ranges lose the
    /// overlap, as stacks are reused.
    pub fn claim(&mut self, low: u64, high: u64, owner: u16) {
        if low >= high {
            return;
        }
        let old = std::mem::take(&mut self.ranges);
        for range in old {
            if range.high <= low || range.low >= high {
                self.ranges.push(range);
                continue;
            }
            let (start, end, first_owner) = (range.low, range.high, range.owner);
            for (part_low, part_high) in [(start, low.min(end)), (high.max(start), end)] {
                if part_low < part_high {
                    self.ranges.push(Range {
                        low: part_low,
                        high: part_high,
                        owner: first_owner,
                        shared: range.shared.clone(),
                    });
                }
            }
        }
        self.ranges.push(Range { low, high, owner, shared: FxHashMap::default() });
        self.ranges.sort_by_key(|range| range.low);
        self.cache = [UNKNOWN; CACHE_ENTRIES];
    }

    /// Whether another thread has referenced the 64 bytes of one of the bytes from `first` up to
    /// `end`, which were private.
    #[must_use]
    pub fn is_shared(&self, first: u64, end: u64) -> bool {
        let from = self.ranges.partition_point(|range| range.high <= first);
        let within = self.ranges[from..].iter().take_while(|range| range.low < end);
        within.into_iter().any(|range| range.is_shared(first.max(range.low), end.min(range.high)))
    }

    /// Whether a thread's reference to `size` bytes is private. Marks granules that other threads
    /// reference as shared.
    #[inline(always)]
    pub fn classify(&mut self, thread: u16, addr: u64, size: u8) -> bool {
        let slot = cache_slot(addr);
        // References have locality: mostly the interval of an earlier one contains the address.
        let known = &self.cache[slot];
        let mut range = known.range;
        if addr < known.low || addr >= known.high {
            range = self.look_up_slowly(addr);
        }
        range != NO_RANGE && self.ranges[range].classify(thread, addr, size)
    }

    /// The range of an address that missed the cache.
    #[cold]
    #[inline(never)]
    fn look_up_slowly(&mut self, addr: u64) -> usize {
        let known = self.look_up(addr);
        self.cache[cache_slot(addr)] = known;
        known.range
    }

    fn look_up(&self, addr: u64) -> KnownInterval {
        let after = self.ranges.partition_point(|range| range.low <= addr);
        let next = self.ranges.get(after).map_or(u64::MAX, |range| range.low);
        let Some(before) = after.checked_sub(1) else {
            return KnownInterval { low: 0, high: next, range: NO_RANGE };
        };
        let range = &self.ranges[before];
        if addr < range.high {
            return KnownInterval { low: range.low, high: range.high, range: before };
        }
        KnownInterval { low: range.high, high: next, range: NO_RANGE }
    }
}

const fn cache_slot(addr: u64) -> usize {
    (addr >> CACHE_SHIFT) as usize % CACHE_ENTRIES
}

impl Range {
    fn is_shared(&self, first: u64, end: u64) -> bool {
        let granules = first >> GRANULE_SHIFT..=(end - 1) >> GRANULE_SHIFT;
        // Shared granules are few compared with those of the interval, such as a large array.
        self.shared.iter().any(|(page, mask)| {
            let first = page << (MASK_SHIFT - GRANULE_SHIFT);
            (0..64).any(|bit| mask & (1 << bit) != 0 && granules.contains(&(first + bit)))
        })
    }

    fn classify(&mut self, thread: u16, addr: u64, size: u8) -> bool {
        let first = addr >> GRANULE_SHIFT;
        let last = (addr + u64::from(size) - 1) >> GRANULE_SHIFT;
        let own = thread == self.owner;
        // Most stacks are never referenced by another thread, which saves the map look-up.
        if own && self.shared.is_empty() {
            return true;
        }
        let mut private = own;
        for granule in [first, last] {
            let page = granule >> (MASK_SHIFT - GRANULE_SHIFT);
            let bit = 1 << (granule & 63);
            if own {
                private &= self.shared.get(&page).is_none_or(|mask| mask & bit == 0);
            } else {
                *self.shared.entry(page).or_default() |= bit;
            }
        }
        private
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_private(ranges: &mut PrivateRanges, thread: u16, addr: u64) -> bool {
        ranges.classify(thread, addr, 8)
    }

    #[test]
    fn own_stack_is_private_until_another_thread_touches_the_granule() {
        let mut ranges = PrivateRanges::default();
        ranges.claim(0x1000, 0x3000, 1);
        assert!(is_private(&mut ranges, 1, 0x2000));
        assert!(!is_private(&mut ranges, 2, 0x2010));
        assert!(!is_private(&mut ranges, 1, 0x2000));
        // Other granules, of the same page and of others, stay private.
        assert!(is_private(&mut ranges, 1, 0x2040));
        assert!(is_private(&mut ranges, 1, 0x1000));
        // Half in the shared granule, half behind it.
        assert!(!is_private(&mut ranges, 1, 0x203c));
        assert!(ranges.is_shared(0x2000, 0x2001) && ranges.is_shared(0x203f, 0x9000));
        assert!(ranges.is_shared(0, u64::MAX));
        assert!(!ranges.is_shared(0x1fc0, 0x2000) && !ranges.is_shared(0x2040, 0x9000));
        assert!(!ranges.is_shared(0x8000, 0x9000));
    }

    #[test]
    fn outside_of_ranges_nothing_is_private() {
        let mut ranges = PrivateRanges::default();
        assert!(!is_private(&mut ranges, 0, 0x10));
        ranges.claim(0x1000, 0x2000, 0);
        assert!(!is_private(&mut ranges, 0, 0xff0));
        assert!(is_private(&mut ranges, 0, 0x1000));
        assert!(!is_private(&mut ranges, 0, 0x2000));
    }

    #[test]
    fn a_reused_stack_belongs_to_the_new_thread() {
        let mut ranges = PrivateRanges::default();
        ranges.claim(0x1000, 0x4000, 1);
        assert!(!is_private(&mut ranges, 2, 0x1000));
        ranges.claim(0x2000, 0x3000, 2);
        assert!(is_private(&mut ranges, 2, 0x2000));
        assert!(is_private(&mut ranges, 1, 0x3000));
        // What was shared before the split still is.
        assert!(!is_private(&mut ranges, 1, 0x1000));
        ranges.claim(0x1000, 0x4000, 3);
        assert!(is_private(&mut ranges, 3, 0x1000));
        assert!(!is_private(&mut ranges, 1, 0x3000));
    }
}
