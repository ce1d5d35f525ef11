//! Sets of users, each stored once, however many words have it.

use homenode_base::ProcId;
use rustc_hash::FxHashMap;

pub(crate) const EMPTY: u32 = 0;

/// The set of all processors, reading and writing. Stands for every further set once the memory is
/// used up.
const ALL_USERS: u32 = 1;

/// Bytes that sets may take. Programs have few sets; a contrived trace must not exhaust memory.
const BYTES_MAX: usize = 64 << 20;

/// Entries of the cache in front of the table of transitions.
const CACHE_ENTRIES: usize = 1024;

#[derive(Clone, Debug)]
pub(crate) struct UserSets {
    width: usize,
    bits: Vec<u64>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    transitions: FxHashMap<(u32, u32), u32>,
    cache: Box<[(u32, u32, u32); CACHE_ENTRIES]>,
}

impl UserSets {
    pub(crate) fn new(processors: u16) -> Self {
        let width = (2 * usize::from(processors)).div_ceil(64);
        let mut uses = Self {
            width,
            bits: Vec::new(),
            numbers: FxHashMap::default(),
            transitions: FxHashMap::default(),
            cache: Box::new([(u32::MAX, 0, 0); CACHE_ENTRIES]),
        };
        uses.number(vec![0; width].into());
        let mut all = vec![0; width];
        for bit in 0..2 * usize::from(processors) {
            all[bit / 64] |= 1 << (bit % 64);
        }
        uses.number(all.into());
        uses
    }

    fn set(&self, id: u32) -> &[u64] {
        let from = id as usize * self.width;
        &self.bits[from..from + self.width]
    }

    /// The set with a use added. Usually the use is in it already, which the first test finds.
    #[inline]
    pub(crate) fn with(&mut self, id: u32, processor: ProcId, write: bool) -> u32 {
        let bit = 2 * u32::from(processor) + u32::from(write);
        if self.bits[id as usize * self.width + bit as usize / 64] >> (bit % 64) & 1 == 1 {
            return id;
        }
        let slot = (id.wrapping_mul(31) ^ bit) as usize % CACHE_ENTRIES;
        let (known, by, next) = self.cache[slot];
        if (known, by) == (id, bit) {
            return next;
        }
        let next = self.transition(id, bit);
        self.cache[slot] = (id, bit, next);
        next
    }

    fn transition(&mut self, id: u32, bit: u32) -> u32 {
        if let Some(&next) = self.transitions.get(&(id, bit)) {
            return next;
        }
        let mut set: Box<[u64]> = self.set(id).into();
        set[bit as usize / 64] |= 1 << (bit % 64);
        let next = self.number(set);
        // Remembering transitions pays only while sets are few.
        if self.transitions.len() < BYTES_MAX / 64 {
            self.transitions.insert((id, bit), next);
        }
        next
    }

    fn number(&mut self, set: Box<[u64]>) -> u32 {
        if let Some(&id) = self.numbers.get(&set) {
            return id;
        }
        let next = self.bits.len() / self.width;
        // Twice, as each set is in the table of numbers too.
        if next > 1 && 2 * (self.bits.len() + self.width) * 8 > BYTES_MAX {
            return ALL_USERS;
        }
        let id = u32::try_from(next).unwrap_or(ALL_USERS);
        self.bits.extend_from_slice(&set);
        self.numbers.insert(set, id);
        id
    }

    pub(crate) fn users(&self, id: u32) -> impl Iterator<Item = ProcId> + '_ {
        let set = self.set(id);
        (0..ProcId::MAX).take(set.len() * 32).filter(move |&processor| {
            let bit = 2 * usize::from(processor);
            set[bit / 64] >> (bit % 64) & 3 != 0
        })
    }

    pub(crate) fn writer(&self, id: u32) -> Option<ProcId> {
        let set = self.set(id);
        let writes = set.iter().map(|bits| (bits & 0xaaaa_aaaa_aaaa_aaaa).count_ones());
        if writes.sum::<u32>() != 1 {
            return None;
        }
        let at = set.iter().position(|bits| bits & 0xaaaa_aaaa_aaaa_aaaa != 0)?;
        let bit = (set[at] & 0xaaaa_aaaa_aaaa_aaaa).trailing_zeros();
        Some(ProcId::try_from(at).ok()? * 32 + ProcId::try_from(bit / 2).ok()?)
    }

    pub(crate) fn written(&self, id: u32) -> bool {
        self.set(id).iter().any(|bits| bits & 0xaaaa_aaaa_aaaa_aaaa != 0)
    }

    /// For each set, the set in which its users read and write.
    pub(crate) fn users_only(&mut self) -> Vec<u32> {
        let sets = self.bits.len() / self.width;
        let mut number = |i: usize| {
            let set = self.bits[i * self.width..(i + 1) * self.width].iter();
            let both = set.map(|bits| {
                let users = (bits | bits >> 1) & 0x5555_5555_5555_5555;
                users | users << 1
            });
            let both = both.collect();
            self.number(both)
        };
        (0..sets).map(&mut number).collect()
    }

    /// The set in which one processor reads and writes.
    pub(crate) fn single_user(&mut self, processor: ProcId) -> u32 {
        let reads = self.with(EMPTY, processor, false);
        self.with(reads, processor, true)
    }

    pub(crate) fn writers(&self, id: u32) -> u32 {
        self.set(id).iter().map(|bits| (bits & 0xaaaa_aaaa_aaaa_aaaa).count_ones()).sum()
    }

    pub(crate) fn count(&self, id: u32) -> u32 {
        let either = |bits: &u64| ((bits | bits >> 1) & 0x5555_5555_5555_5555).count_ones();
        self.set(id).iter().map(either).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_added_in_any_order() {
        let mut uses = UserSets::new(70);
        let a = uses.with(EMPTY, 69, true);
        let a = uses.with(a, 3, false);
        let b = uses.with(EMPTY, 3, false);
        let b = uses.with(b, 69, true);
        assert_eq!(a, b);
        assert_eq!(uses.with(a, 3, false), a);
        assert_eq!(uses.users(a).collect::<Vec<_>>(), [3, 69]);
        assert_eq!((uses.count(a), uses.written(a)), (2, true));
        let read = uses.with(EMPTY, 5, false);
        assert!(!uses.written(read) && !uses.written(EMPTY));
        assert_eq!([a, read, ALL_USERS].map(|id| uses.writer(id)), [Some(69), None, None]);
        assert_eq!(uses.count(ALL_USERS), 70);
        assert_eq!(uses.with(ALL_USERS, 0, true), ALL_USERS);
    }

    #[test]
    fn memory_is_bounded() {
        let mut uses = UserSets::new(1024);
        let mut id = EMPTY;
        for round in 0..600_000u32 {
            let processor = ProcId::try_from(round.wrapping_mul(2_654_435_761) >> 22).unwrap();
            id = uses.with(id, processor, round & 1 == 1);
            if round % 40 == 0 {
                id = EMPTY;
            }
        }
        assert!(uses.bits.len() * 8 <= BYTES_MAX);
    }
}
