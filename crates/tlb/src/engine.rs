//! Counts TLB misses in one pass over the trace.

use homenode_base::{AccessKind, ReferenceRole};
use homenode_trace::{Batch, ThreadTurn};

use crate::layout::{LruStacks, StackLayout, TlbSetup};

/// Marks an empty entry. No page has this number, as pages have at least four bytes.
const EMPTY: u64 = u64::MAX;

/// A share of the processors: those whose number modulo `count` is `index`. TLBs are independent of
/// one another, so that different threads can count the shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorShare {
    /// Index of the share, below `count`.
    pub index: u16,
    /// Number of shares, at least 1.
    pub count: u16,
}

impl ProcessorShare {
    /// All processors.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// Counts the misses of every TLB at every page size, for some of the processors.
///
/// Time: one comparison for a reference to the same smallest page as the processor's last one, else
/// one search for each page size at which the page differs. Memory: the entries of the widest TLBs
/// of each processor that has references.
pub struct TlbCounter {
    layout: StackLayout,
    share: ProcessorShare,
    processors: u16,
    /// By flag bits, whether such references are counted: one load instead of a test of each flag.
    roles: [ReferenceRole; 256],
    tlbs: Vec<ProcessorTlbs>,
    counts: Vec<u64>,
    /// Pages touched beyond the first, at each page size.
    straddles: Vec<u64>,
    references: u64,
}

#[derive(Clone, Default)]
struct ProcessorTlbs {
    /// Page of the last reference at each page size; empty before the first reference.
    last: Vec<u64>,
    /// The LRU stack of each group and set, the most recent page first.
    pages: Vec<u64>,
}

impl TlbCounter {
    /// A counter without references.
    ///
    /// # Panics
    /// When there are no processors, no shares, or no such share.
    #[must_use]
    pub fn new(setup: &TlbSetup, share: ProcessorShare) -> Self {
        assert!(setup.processors > 0, "at least one processor");
        assert!(share.index < share.count, "a share below the number of shares");
        let layout = StackLayout::new(setup);
        Self {
            share,
            processors: setup.processors,
            roles: setup.filter.roles(AccessKind::Read),
            tlbs: Vec::new(),
            counts: vec![0; layout.counts],
            straddles: vec![0; layout.shifts.len()],
            references: 0,
            layout,
        }
    }

    /// Adds the references of a batch. Batches come in Time order.
    pub fn push(&mut self, batch: &Batch) {
        let Some(&shift) = self.layout.shifts.first() else { return };
        let rows = batch.len();
        let (kinds, sizes) = (&batch.kind[..rows], &batch.size[..rows]);
        let (addrs, flags) = (&batch.addr[..rows], batch.flags.get(..rows));
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            let Some(index) = self.index_of(thread) else { continue };
            for row in rows {
                let bits = flags.map_or(0, |f| usize::from(f[row]));
                let role = self.roles[bits];
                if kinds[row] == AccessKind::Fetch.code() || role == ReferenceRole::Excluded {
                    continue;
                }
                self.references += 1;
                let addr = addrs[row];
                let end = addr.saturating_add(u64::from(sizes[row]).saturating_sub(1));
                // A reference within one of the smallest pages is within one page of every size,
                // so this one comparison settles most references.
                let page = addr >> shift;
                if end >> shift != page {
                    self.touch_all(index, addr, end);
                } else if self.tlbs[index].last[0] != page {
                    self.touch(index, addr);
                }
            }
        }
    }

    /// Index in `tlbs` of the thread's processor; `None` if the processor is in another share.
    fn index_of(&mut self, thread: u16) -> Option<usize> {
        let ProcessorShare { index: ours, count } = self.share;
        let processor = thread % self.processors;
        if processor % count != ours {
            return None;
        }
        let index = usize::from(processor / count);
        if index >= self.tlbs.len() {
            self.tlbs.resize_with(index + 1, || ProcessorTlbs {
                last: vec![EMPTY; self.layout.shifts.len()],
                pages: Vec::new(),
            });
        }
        Some(index)
    }

    /// A reference that touches several of the smallest pages. A larger page that it touches more
    /// than once is the last page at the second touch, so it counts once.
    #[cold]
    fn touch_all(&mut self, index: usize, addr: u64, end: u64) {
        for (straddles, &shift) in self.straddles.iter_mut().zip(&self.layout.shifts) {
            *straddles += (end >> shift) - (addr >> shift);
        }
        let shift = self.layout.shifts[0];
        for page in addr >> shift..=end >> shift {
            self.touch(index, page << shift);
        }
    }

    /// Looks up the address at every page size at which its page is not the last one.
    fn touch(&mut self, index: usize, addr: u64) {
        let layout = &self.layout;
        let own = &mut self.tlbs[index];
        if own.pages.is_empty() {
            own.pages = vec![EMPTY; layout.pages];
        }
        for (size, &shift) in layout.shifts.iter().enumerate() {
            let page = addr >> shift;
            if own.last[size] == page {
                // Then it is the last page at every larger page size, too, and on top of their
                // stacks: nothing would change.
                return;
            }
            own.last[size] = page;
            let groups = layout.first_group[size]..layout.first_group[size + 1];
            for group in &layout.groups[groups] {
                let depth = look_up(group, &mut own.pages, page);
                self.counts[group.counts + depth] += 1;
            }
        }
    }

    /// The counts.
    #[must_use]
    pub fn finish(self) -> TlbCounts {
        TlbCounts {
            layout: self.layout,
            counts: self.counts,
            straddles: self.straddles,
            references: self.references,
        }
    }
}

/// Moves the page to the top of its stack and returns the depth at which it was found. If it was
/// not found, the depth is the stack's size, and the page at the bottom is dropped.
fn look_up(group: &LruStacks, pages: &mut [u64], page: u64) -> usize {
    // A mask is below 2^16.
    let set = usize::try_from(page & group.mask).unwrap_or(0);
    let begin = group.offset + set * group.depth;
    let mut carried = page;
    for (depth, slot) in pages[begin..begin + group.depth].iter_mut().enumerate() {
        // Pages above the one that is found move down by one.
        let here = std::mem::replace(slot, carried);
        if here == page {
            return depth;
        }
        carried = here;
    }
    group.depth
}

/// The counts for all TLBs and page sizes of a [`TlbSetup`].
#[derive(Clone, Debug)]
pub struct TlbCounts {
    layout: StackLayout,
    /// How often a page was found at each stack depth, by group. Repeated references to the last
    /// page, which are hits at depth 0, are not counted here.
    counts: Vec<u64>,
    straddles: Vec<u64>,
    references: u64,
}

impl TlbCounts {
    /// Data references that were counted.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references
    }

    /// Lookups in the TLB and at the page size with these positions in the setup: a reference that
    /// straddles pages looks up each page.
    ///
    /// # Panics
    /// When there is no such TLB or page size.
    #[must_use]
    pub fn lookups(&self, tlb: usize, page_size: usize) -> u64 {
        let group = &self.layout.groups[self.layout.group_of[tlb][page_size]];
        self.references + self.straddles[group.size]
    }

    /// Lookups that missed, including first references to pages. By the inclusion property these
    /// are the lookups that found the page at a stack depth of at least the TLB's ways.
    ///
    /// # Panics
    /// When there is no such TLB or page size.
    #[must_use]
    pub fn misses(&self, tlb: usize, page_size: usize) -> u64 {
        let group = &self.layout.groups[self.layout.group_of[tlb][page_size]];
        let ways = self.layout.ways[tlb];
        self.counts[group.counts + ways..=group.counts + group.depth].iter().sum()
    }

    /// Adds another share's counts of the same setup.
    pub fn add(&mut self, other: &Self) {
        let sums = self.counts.iter_mut().zip(&other.counts);
        sums.chain(self.straddles.iter_mut().zip(&other.straddles)).for_each(|(a, b)| *a += b);
        self.references += other.references;
    }
}
