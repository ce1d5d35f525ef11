//! The encoder's sites of a thread, and the hash table to find them.

use super::rows::{SiteTraits, Traits};
use super::site::SitePredictor;

/// Identity of a site: the program counter or its substitute; kind, size and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SiteKey {
    pub(super) pc: u64,
    pub(super) traits: SiteTraits,
}

impl SiteKey {
    /// The entry of a site with this key in a table of 2^`bits` entries, without the site's number,
    /// and its index.
    #[inline(always)]
    fn entry(self, bits: u32) -> (u32, usize) {
        let mixed = (self.pc ^ u64::from(self.traits.0) << 44).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [_, _, low, high, ..] = mixed.to_le_bytes();
        let place = usize::try_from(mixed >> (64 - bits)).unwrap_or(0);
        (u32::from_le_bytes([0, 0, low, high]), place)
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct KnownSite {
    /// Program counter or substitute.
    name: u64,
    traits: Traits,
    /// Number of the site that followed it last; 0 if none.
    pub(super) next: u16,
    pub(super) predictor: SitePredictor,
}

impl KnownSite {
    #[inline]
    pub(super) const fn key(&self) -> SiteKey {
        SiteKey { pc: self.name, traits: self.traits.of_site() }
    }

    #[inline(always)]
    pub(super) fn has(&self, traits: Traits) -> bool {
        self.traits == traits
    }

    #[inline(always)]
    pub(super) fn is(&self, pc: u64, traits: Traits) -> bool {
        self.name == pc && self.has(traits)
    }
}

/// The sites of a thread, by number and by key.
pub(super) struct SiteIndex {
    /// Sites 1, 2, ...; the one at 0 matches no row.
    sites: Vec<KnownSite>,
    table: SiteTable,
    thread: u16,
}

pub(super) struct SiteTable {
    /// Open addressing: number of the site in the lower half, bits of its key in the upper half; 0
    /// is free. At most a quarter is occupied.
    entries: Vec<u32>,
    bits: u32,
}

const FIRST_BITS: u32 = 5;

impl SiteIndex {
    pub(super) fn new(thread: u16) -> Self {
        let (name, next) = (0, 0);
        let predictor = SitePredictor::default();
        let unmatched = KnownSite { name, traits: Traits::NONE, next, predictor };
        Self { sites: vec![unmatched], table: SiteTable::new(FIRST_BITS), thread }
    }

    /// Removes the keys of all sites: no row matches them any more.
    pub(super) fn forget_names(&mut self) {
        self.sites.iter_mut().for_each(|site| site.traits = Traits::NONE);
        self.table = SiteTable::new(self.table.bits);
    }

    #[inline(always)]
    pub(super) fn find(&self, key: SiteKey) -> u16 {
        self.table.find(&self.sites, key)
    }

    pub(super) const fn count(&self) -> usize {
        self.sites.len() - 1
    }

    pub(super) const fn parts(&mut self) -> (&mut [KnownSite], &SiteTable) {
        (self.sites.as_mut_slice(), &self.table)
    }

    #[inline(always)]
    pub(super) fn site(&self, number: u16) -> &KnownSite {
        &self.sites[usize::from(number)]
    }

    /// Adds a site and returns its number. There must be fewer than 65535.
    pub(super) fn add(&mut self, key: SiteKey, predictor: SitePredictor) -> u16 {
        let number = u16::try_from(self.sites.len()).expect("fewer than 2^16 sites");
        let traits = key.traits.of_thread(self.thread);
        self.sites.push(KnownSite { name: key.pc, traits, next: 0, predictor });
        if 4 * self.sites.len() > self.table.entries.len() {
            self.table = SiteTable::new(self.table.bits + 2);
            for number in 1..=number {
                self.table.put(&self.sites, number);
            }
        } else {
            self.table.put(&self.sites, number);
        }
        number
    }
}

impl SiteTable {
    fn new(bits: u32) -> Self {
        Self { entries: vec![0; 1 << bits], bits }
    }

    #[inline(always)]
    pub(super) fn find(&self, sites: &[KnownSite], key: SiteKey) -> u16 {
        let mask = self.entries.len() - 1;
        let (wanted, mut at) = key.entry(self.bits);
        loop {
            let entry = self.entries[at & mask];
            let [low, high, ..] = entry.to_le_bytes();
            let number = u16::from_le_bytes([low, high]);
            let may_be = (entry ^ wanted).leading_zeros() >= 16;
            if number == 0 || (may_be && sites[usize::from(number)].key() == key) {
                return number;
            }
            at += 1;
        }
    }

    fn put(&mut self, sites: &[KnownSite], number: u16) {
        let mask = self.entries.len() - 1;
        let (entry, mut at) = sites[usize::from(number)].key().entry(self.bits);
        while self.entries[at & mask] != 0 {
            at += 1;
        }
        self.entries[at & mask] = entry | u32::from(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_added_sites_are_found() {
        let mut index = SiteIndex::new(7);
        let key = |i: u16| SiteKey { pc: u64::from(i / 2) * 64, traits: SiteTraits(1 + i % 2) };
        for i in 0..2000 {
            assert_eq!(index.find(key(i)), 0);
            assert_eq!(index.add(key(i), SitePredictor::default()), i + 1);
            assert!((0..=i).step_by(97).all(|i| index.find(key(i)) == i + 1));
        }
        assert_eq!(index.count(), 2000);
        index.forget_names();
        assert!((0..2000).all(|i| index.find(key(i)) == 0));
        assert_eq!((index.add(key(3), SitePredictor::default()), index.find(key(3))), (2001, 2001));
    }

    #[test]
    fn a_site_is_a_cache_line() {
        assert_eq!(size_of::<KnownSite>(), 64);
    }
}
