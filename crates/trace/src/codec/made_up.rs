//! Sites of rows without program counters, chosen row by row.
//!
//! The choice of a row's site only affects the number of bytes, as the file contains it. A row uses
//! the first of these sites: the one that followed the previous row's site last time, if it
//! predicts the row, so each reference of a loop gets its own site, as with program counters; the
//! site of the distance to the thread's previous address, if that distance is frequent, as between
//! fields of an object; the site that followed last time, if its last address is near, as when a
//! loop continues in the next row of a matrix; the site of the part of memory, which separates the
//! arrays of a new loop. If this fails for nearly all rows of a block, the next blocks skip it.

use super::index::SiteKey;
use super::rows::SiteTraits;
use super::thread::ThreadCoder;

/// Counters of distances. A collision only costs some bytes.
const COUNTERS: usize = 1 << 15;
/// Unpredicted occurrences in a chunk that make a distance a site.
const FREQUENT_MIN: u8 = 250;
/// Distance in bytes below which the last address of a site is near.
const REACH: u64 = 1 << 14;
/// Size of a part of memory, as a power of two.
const PART_BITS: u32 = 20;
/// Sites of a thread above which further parts of memory share one, so that site numbers fit a
/// byte.
const SITES_OF_PARTS_MAX: usize = 200;
/// Set in the key of a site of a part of memory.
const PART: u64 = 1 << 63;
/// Key of the site of all further parts, and of unpredictable rows.
pub(super) const ELSEWHERE: u64 = u64::MAX;

/// Unpredicted occurrences of each distance to a thread's previous address, by a hash.
#[derive(Default)]
pub(super) struct UnpredictedOffsets(Vec<u8>);

impl UnpredictedOffsets {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Counts a row with this offset and returns whether the offset is frequent.
    #[inline(always)]
    fn is_frequent(&mut self, offset: u64, traits: SiteTraits) -> bool {
        if self.0.is_empty() {
            self.0.resize(COUNTERS, 0);
        }
        let mixed = (offset ^ u64::from(traits.0) << 44).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let count = &mut self.0[usize::try_from(mixed >> 49).unwrap_or(0) % COUNTERS];
        *count = count.saturating_add(1);
        *count >= FREQUENT_MIN
    }

    /// The site of an unpredicted row: its number, or its key if it is new to the thread.
    #[inline(always)]
    pub(super) fn choose(
        &mut self,
        thread: &ThreadCoder,
        addr: u64,
        traits: SiteTraits,
    ) -> Result<u16, SiteKey> {
        let offset = thread.offset(addr);
        let mut key = SiteKey { pc: offset, traits };
        if !self.is_frequent(offset, traits) {
            if let Some(next) = thread.next_nearby(addr, traits, REACH) {
                return Ok(next);
            }
            key.pc = PART | addr >> PART_BITS;
            if thread.sites.count() >= SITES_OF_PARTS_MAX && thread.sites.find(key) == 0 {
                key.pc = ELSEWHERE;
            }
        }
        match thread.sites.find(key) {
            0 => Err(key),
            number => Ok(number),
        }
    }
}
