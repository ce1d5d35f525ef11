//! The encoder's sites of a thread, and how they are found.

use super::rows::SiteTraits;
use super::site::SitePredictor;

/// Identity of a site: the program counter or its substitute; kind, size and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SiteKey {
    /// Program counter or substitute.
    pub(super) pc: u64,
    /// Kind, flags and size.
    pub(super) traits: SiteTraits,
}

impl SiteKey {
    /// A few bits of it, by which most others are told apart without looking at their sites.
    #[inline(always)]
    pub(super) const fn print(self) -> u32 {
        let [a, b, c, d, ..] = self.pc.to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) ^ (self.traits.0 as u32) << 16
    }

    /// The entry of a site with this key in a table of 2^`bits`, but for the site's number, and its
    /// place there.
    #[inline(always)]
    fn entry(self, bits: u32) -> (u32, usize) {
        let mixed = (self.pc ^ u64::from(self.traits.0) << 44).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [_, _, low, high, ..] = mixed.to_le_bytes();
        let place = usize::try_from(mixed >> (64 - bits)).unwrap_or(0);
        (u32::from_le_bytes([0, 0, low, high]), place)
    }
}

/// A site as the encoder sees it: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct KnownSite {
    pc: u64,
    /// Print of the key of the site that followed it last.
    pub(super) next_print: u32,
    traits: SiteTraits,
    /// Number of the site that followed it last; 0 if none has.
    pub(super) next: u16,
    /// Its predictor.
    pub(super) predictor: SitePredictor,
}

impl KnownSite {
    const fn new(SiteKey { pc, traits }: SiteKey, predictor: SitePredictor) -> Self {
        Self { pc, next_print: 0, traits, next: 0, predictor }
    }

    /// What makes it the site it is.
    #[inline]
    pub(super) const fn key(&self) -> SiteKey {
        SiteKey { pc: self.pc, traits: self.traits }
    }
}

/// The sites of a thread, by number and by key.
pub(super) struct SiteIndex {
    /// Sites 1, 2, ... at 0 stands one that no row has.
    sites: Vec<KnownSite>,
    table: SiteTable,
}

/// Numbers of sites by key.
pub(super) struct SiteTable {
    /// At or after the place of their key, in the lower half; in the upper half bits of the key. 0
    /// is free. At most a quarter of them is taken.
    entries: Vec<u32>,
    bits: u32,
}

/// No row has these.
const NOBODY: SiteKey = SiteKey { pc: 0, traits: SiteTraits::NONE };
const FIRST_BITS: u32 = 5;

impl SiteIndex {
    /// No sites.
    pub(super) fn new() -> Self {
        let nobody = KnownSite::new(NOBODY, SitePredictor::default());
        Self { sites: vec![nobody], table: SiteTable::new(FIRST_BITS) }
    }

    /// Sites there are.
    pub(super) const fn count(&self) -> usize {
        self.sites.len() - 1
    }

    /// All sites by number, and how to find them.
    pub(super) const fn parts(&mut self) -> (&mut [KnownSite], &SiteTable) {
        (self.sites.as_mut_slice(), &self.table)
    }

    /// The predictor of a site.
    pub(super) fn predictor(&self, number: u16) -> SitePredictor {
        self.sites[usize::from(number)].predictor
    }

    /// Adds a site and returns its number. There must be less than 65535.
    pub(super) fn add(&mut self, key: SiteKey, predictor: SitePredictor) -> u16 {
        let number = u16::try_from(self.sites.len()).expect("fewer than 2^16 sites");
        self.sites.push(KnownSite::new(key, predictor));
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

    /// Number of the site with this key, 0 if there is none.
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
    fn every_site_is_found_and_no_other() {
        let mut index = SiteIndex::new();
        let find = |index: &mut SiteIndex, key| {
            let (sites, table) = index.parts();
            table.find(sites, key)
        };
        let key = |i: u16| SiteKey { pc: u64::from(i / 2) * 64, traits: SiteTraits(1 + i % 2) };
        for i in 0..2000 {
            assert_eq!(find(&mut index, key(i)), 0);
            assert_eq!(index.add(key(i), SitePredictor::default()), i + 1);
            assert!((0..=i).step_by(97).all(|i| find(&mut index, key(i)) == i + 1));
        }
        assert_eq!((index.count(), find(&mut index, NOBODY)), (2000, 0));
    }

    #[test]
    fn a_site_is_a_cache_line() {
        assert_eq!(size_of::<KnownSite>(), 64);
    }
}
