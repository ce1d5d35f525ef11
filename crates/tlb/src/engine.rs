//! From references to misses, in one pass over the trace.

use homenode_base::{AccessKind, Flags};
use homenode_trace::Batch;

use crate::layout::{Group, Layout, Setup};

/// No page has this number: pages have at least four bytes.
const EMPTY: u64 = u64::MAX;

/// A share of the processors: those whose number modulo `count` is `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which share, below `count`.
    pub index: u16,
    /// Number of shares, at least 1.
    pub count: u16,
}

impl Part {
    /// All processors.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// Counts the misses of every TLB at every page size, for some of the processors.
///
/// Time: one comparison for a reference to the same smallest page as the processor's last one, else
/// one search for each page size at which the page differs. Memory: the entries of the widest TLBs
/// of each processor that has references.
pub struct Counter {
    layout: Layout,
    part: Part,
    processors: u16,
    /// Whether references with these flags are counted.
    takes: [bool; 256],
    /// Place in `states` of each thread met so far; `None` if it is another part's.
    place: Vec<Option<usize>>,
    states: Vec<State>,
    counts: Vec<u64>,
    /// Pages touched beyond the first, at each page size.
    straddles: Vec<u64>,
    references: u64,
}

/// The TLBs of one processor.
#[derive(Clone, Default)]
struct State {
    /// Page of the last reference at each page size; empty before the first reference.
    last: Vec<u64>,
    /// Recent pages of each group and set, the last one first.
    pages: Vec<u64>,
}

impl Counter {
    /// A counter without references.
    ///
    /// # Panics
    /// When there are no processors, no parts, or no such part.
    #[must_use]
    pub fn new(setup: &Setup, part: Part) -> Self {
        assert!(setup.processors > 0, "at least one processor");
        assert!(part.index < part.count, "a part below the number of parts");
        let layout = Layout::new(setup);
        let mut takes = [false; 256];
        for (bits, takes) in (0..=u8::MAX).zip(takes.iter_mut()) {
            *takes = setup.filter.takes(Flags(bits));
        }
        Self {
            part,
            processors: setup.processors,
            takes,
            place: Vec::new(),
            states: Vec::new(),
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
        let (addrs, threads) = (&batch.addr[..rows], &batch.thread[..rows]);
        let flags = batch.flags.get(..rows);
        for row in 0..rows {
            let bits = flags.map_or(0, |f| usize::from(f[row]));
            if kinds[row] == AccessKind::Fetch.code() || !self.takes[bits] {
                continue;
            }
            let Some(place) = self.place(threads[row]) else { continue };
            self.references += 1;
            let addr = addrs[row];
            let end = addr.saturating_add(u64::from(sizes[row]).saturating_sub(1));
            let page = addr >> shift;
            if end >> shift != page {
                self.touch_all(place, (addr, end));
            } else if self.states[place].last[0] != page {
                self.touch(place, addr);
            }
        }
    }

    /// Where the TLBs of a thread's processor are, unless it is another part's.
    #[inline]
    fn place(&mut self, thread: u16) -> Option<usize> {
        match self.place.get(usize::from(thread)) {
            Some(Some(place)) if *place < self.states.len() => Some(*place),
            Some(None) => None,
            Some(Some(_)) | None => self.new_place(thread),
        }
    }

    #[cold]
    fn new_place(&mut self, thread: u16) -> Option<usize> {
        for t in self.place.len()..=usize::from(thread) {
            let processor = t % usize::from(self.processors);
            let count = usize::from(self.part.count);
            let ours = processor % count == usize::from(self.part.index);
            self.place.push(ours.then_some(processor / count));
        }
        let place = self.place[usize::from(thread)]?;
        if place >= self.states.len() {
            self.states.resize_with(place + 1, || State {
                last: vec![EMPTY; self.layout.shifts.len()],
                pages: Vec::new(),
            });
        }
        Some(place)
    }

    /// A reference that touches several of the smallest pages. Larger pages that it touches more
    /// than once are found again at once, so they count once.
    #[cold]
    fn touch_all(&mut self, place: usize, (addr, end): (u64, u64)) {
        for (straddles, &shift) in self.straddles.iter_mut().zip(&self.layout.shifts) {
            *straddles += (end >> shift) - (addr >> shift);
        }
        let shift = self.layout.shifts[0];
        for page in addr >> shift..=end >> shift {
            self.touch(place, page << shift);
        }
    }

    /// Looks up the page at every page size at which it is not the last one.
    fn touch(&mut self, place: usize, addr: u64) {
        let layout = &self.layout;
        let state = &mut self.states[place];
        if state.pages.is_empty() {
            state.pages = vec![EMPTY; layout.pages];
        }
        for (size, &shift) in layout.shifts.iter().enumerate() {
            let page = addr >> shift;
            if state.last[size] == page {
                // So it is at every larger page size, and it is the first of its list everywhere.
                return;
            }
            state.last[size] = page;
            let groups = layout.first_group[size]..layout.first_group[size + 1];
            for group in &layout.groups[groups] {
                let depth = look_up(group, &mut state.pages, page);
                self.counts[group.counts + depth] += 1;
            }
        }
    }

    /// What was counted.
    #[must_use]
    pub fn finish(self) -> Counts {
        Counts {
            layout: self.layout,
            counts: self.counts,
            straddles: self.straddles,
            references: self.references,
        }
    }
}

/// Moves the page to the front of its list and says how deep it was; the list's length if it was
/// not there, and then the page at the end is forgotten.
#[inline]
fn look_up(group: &Group, pages: &mut [u64], page: u64) -> usize {
    // A mask is below 2^16.
    let set = usize::try_from(page & group.mask).unwrap_or(0);
    let begin = group.offset + set * group.depth;
    let mut carried = page;
    for (depth, slot) in pages[begin..begin + group.depth].iter_mut().enumerate() {
        let here = std::mem::replace(slot, carried);
        if here == page {
            return depth;
        }
        carried = here;
    }
    group.depth
}

/// What was counted, for all TLBs and page sizes of a [`Setup`].
#[derive(Clone, Debug)]
pub struct Counts {
    layout: Layout,
    /// How often a page was found at each depth but the first, by group.
    counts: Vec<u64>,
    straddles: Vec<u64>,
    references: u64,
}

impl Counts {
    /// Data references that were counted.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references
    }

    /// Translations looked up in the TLB with this position in the setup at the page size with that
    /// position: a reference that straddles pages looks up each.
    ///
    /// # Panics
    /// When there is no such TLB or page size.
    #[must_use]
    pub fn lookups(&self, tlb: usize, page_size: usize) -> u64 {
        let group = &self.layout.groups[self.layout.group_of[tlb][page_size]];
        self.references + self.straddles[group.size]
    }

    /// Lookups that found nothing. First references to a page are among them.
    ///
    /// # Panics
    /// When there is no such TLB or page size.
    #[must_use]
    pub fn misses(&self, tlb: usize, page_size: usize) -> u64 {
        let group = &self.layout.groups[self.layout.group_of[tlb][page_size]];
        let ways = self.layout.ways[tlb];
        self.counts[group.counts + ways..=group.counts + group.depth].iter().sum()
    }

    /// Adds another part's counts of the same setup.
    pub fn add(&mut self, other: &Self) {
        let sums = self.counts.iter_mut().zip(&other.counts);
        sums.chain(self.straddles.iter_mut().zip(&other.straddles)).for_each(|(a, b)| *a += b);
        self.references += other.references;
    }
}
