//! The LRU stacks that the TLBs and page sizes of a study need.

use homenode_base::{BlockSize, ReferenceFilter};

use crate::design::TlbGeometry;

/// The TLBs and page sizes to count misses for.
#[derive(Clone, Debug)]
pub struct TlbSetup {
    /// The TLBs.
    pub tlbs: Vec<TlbGeometry>,
    /// The page sizes.
    pub page_sizes: Vec<BlockSize>,
    /// Thread i runs on processor i modulo this; at least 1.
    pub processors: u16,
    /// Which data references need a translation. The thesis counts private ones, as a TLB does not
    /// distinguish them (§6.3.2); its traces lack those to synchronisation variables.
    pub filter: ReferenceFilter,
}

/// LRU stacks, one for each set, at one page size: they serve all TLBs with this number of sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LruStacks {
    /// Position of the page size in [`StackLayout::shifts`].
    pub(crate) size: usize,
    /// Bits of the page number that choose the set.
    pub(crate) mask: u64,
    /// Depth of each stack: the ways of the widest TLB.
    pub(crate) depth: usize,
    /// Index of its stacks in the memory of a processor.
    pub(crate) offset: usize,
    /// Index of its counts: one for each depth, and one for pages that are not in the stack.
    pub(crate) counts: usize,
}

/// The arrangement of stacks and counts in the arrays of the counter.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackLayout {
    /// Binary logarithms of the page sizes, ascending; twice the page size where entries are pairs.
    pub(crate) shifts: Vec<u32>,
    /// Ordered by page size.
    pub(crate) groups: Vec<LruStacks>,
    /// First group of each page size, and their number at the end.
    pub(crate) first_group: Vec<usize>,
    /// Entries of all stacks of a processor.
    pub(crate) pages: usize,
    pub(crate) counts: usize,
    /// For each TLB and page size, the group that counts it.
    pub(crate) group_of: Vec<Vec<usize>>,
    /// Entries of a set of each TLB.
    pub(crate) ways: Vec<usize>,
}

impl StackLayout {
    pub(crate) fn new(setup: &TlbSetup) -> Self {
        let shift = |tlb: &TlbGeometry, page: &BlockSize| {
            page.bytes().trailing_zeros() + u32::from(tlb.paired)
        };
        let mut wanted: Vec<(u32, u32, u32)> = Vec::new();
        for tlb in &setup.tlbs {
            for page in &setup.page_sizes {
                wanted.push((shift(tlb, page), tlb.sets(), tlb.ways));
            }
        }
        // The widest for each page size and number of sets comes last and is kept.
        wanted.sort_unstable();
        let mut layout = Self { ..Self::default() };
        for (i, &(shift, sets, ways)) in wanted.iter().enumerate() {
            let next = wanted.get(i + 1).map(|&(shift, sets, _)| (shift, sets));
            if next != Some((shift, sets)) {
                layout.add(shift, sets, ways);
            }
        }
        layout.first_group.push(layout.groups.len());
        let group = |tlb: &TlbGeometry, page: &BlockSize| {
            let mask = u64::from(tlb.sets() - 1);
            let same = |g: &LruStacks| layout.shifts[g.size] == shift(tlb, page) && g.mask == mask;
            layout.groups.iter().position(same).unwrap_or(usize::MAX)
        };
        let row =
            |tlb: &TlbGeometry| setup.page_sizes.iter().map(|page| group(tlb, page)).collect();
        layout.group_of = setup.tlbs.iter().map(row).collect();
        layout.ways = setup.tlbs.iter().map(|tlb| count(tlb.ways)).collect();
        layout
    }

    fn add(&mut self, shift: u32, sets: u32, ways: u32) {
        if self.shifts.last() != Some(&shift) {
            self.shifts.push(shift);
            self.first_group.push(self.groups.len());
        }
        self.groups.push(LruStacks {
            size: self.shifts.len() - 1,
            mask: u64::from(sets - 1),
            depth: count(ways),
            offset: self.pages,
            counts: self.counts,
        });
        self.pages += count(sets) * count(ways);
        self.counts += count(ways) + 1;
    }
}

/// A number of entries, which is at most 2^16.
fn count(entries: u32) -> usize {
    usize::try_from(entries).unwrap_or(usize::MAX)
}

impl TlbSetup {
    /// Bytes that one processor's TLBs take.
    #[must_use]
    pub fn bytes_per_processor(&self) -> u64 {
        u64::try_from(StackLayout::new(self).pages)
            .map_or(u64::MAX, |pages| pages.saturating_mul(8))
    }
}
