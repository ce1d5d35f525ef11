//! The sites of rows without program counters, made up while the rows come.
//!
//! Which site a row is a use of only decides how many bytes it takes: the decoder is told. A row
//! belongs to the site that followed the last one last time, if that predicts it: so the references
//! of a loop get a site each, as they would by program counter. If not, then to the site of its
//! distance to the thread's previous address, where that distance is frequent, as that of fields of
//! an object is; else to the site that followed last time, if its last address is near, as where a
//! loop goes on in the next row of a matrix; else to that of the part of memory, which tells the
//! arrays of a new loop apart. Where all that failed for nearly all rows of a block, it is not
//! tried for some blocks.

use super::index::SiteKey;
use super::rows::SiteTraits;
use super::thread::ThreadCoder;

/// Counters of distances. That some share a counter only costs some bytes.
const COUNTERS: usize = 1 << 15;
/// A distance that was not predicted so often in a chunk becomes a site.
const FREQUENT_MIN: u8 = 250;
/// Bytes within which the site that followed last time is near.
const REACH: u64 = 1 << 14;
/// Parts of memory have this many bytes, as a power of two.
const PART_BITS: u32 = 20;
/// A thread with so many sites gets none for further parts of memory: a byte holds their numbers.
const SITES_OF_PARTS_MAX: usize = 200;
/// Added to the number of a part of memory.
const PART: u64 = 1 << 63;
/// Name of the sites of all further parts, and of rows that nothing predicts.
pub(super) const ELSEWHERE: u64 = u64::MAX;

/// How often each distance to a thread's previous address was not predicted, by a hash.
#[derive(Default)]
pub(super) struct UnpredictedOffsets(Vec<u8>);

impl UnpredictedOffsets {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Counts a row with this offset; returns whether the offset is frequent.
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

    /// The site of a row that is not predicted: its number, or its key if it is new to the thread.
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
