//! Finds data races in references that are merged in logical order: accesses to the same bytes by
//! two threads, one of them a write, with no synchronisation between them.
//!
//! Vector clocks order what synchronises; of each eight bytes two of the last writes and of the
//! last reads are kept, as epochs of their threads: Flanagan and Freund, *`FastTrack`*, PLDI 2009;
//! for the cells `ThreadSanitizer` (Serebryany and Iskhodzhanov, WBIA 2009). Deviations: two are
//! kept and not all, and every operation on an object is after all earlier ones on it, so a race
//! may be missed; but what is found is one.

use std::collections::BTreeMap;

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::EventKind;
use rustc_hash::FxHashMap;

use crate::item::DecodedItem;

const PAGE_BITS: u32 = 12;
const CELL_BYTES: u64 = 8;
/// Cells of a page, as a shift.
const CELLS_SHIFT: u32 = PAGE_BITS - CELL_BYTES.trailing_zeros();
const CELLS: usize = 1 << CELLS_SHIFT;
const CACHE_ENTRIES: usize = 256;
/// Stands for the kernel: what a thread sends, another may receive.
const KERNEL: u64 = 0;
/// Places of races that are kept.
const PLACES_MAX: usize = 1000;

/// When an access was: bytes of the cell, thread, and count of the thread's synchronisations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AccessEpoch(u64);

impl AccessEpoch {
    fn new(thread: usize, count: u32, mask: u8) -> Self {
        Self(u64::from(mask) << 56 | (thread as u64 & 0xffff) << 32 | u64::from(count))
    }

    const fn thread(self) -> usize {
        (self.0 >> 32 & 0xffff) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    const fn count(self) -> u32 {
        self.0 as u32
    }

    /// Whether thread and count are those of `other`.
    const fn is_with(self, other: Self) -> bool {
        (self.0 ^ other.0) << 8 == 0
    }

    /// Whether it has all bytes of `other`.
    const fn covers(self, other: Self) -> bool {
        other.0 >> 56 & !(self.0 >> 56) == 0
    }

    /// Whether it is with `other` and has all its bytes.
    const fn includes(self, other: Self) -> bool {
        self.0 | other.0 == self.0 && self.is_with(other)
    }

    const fn overlaps(self, other: Self) -> bool {
        (self.0 & other.0) >> 56 != 0
    }

    const fn with_bytes_of(self, other: Self) -> Self {
        Self(self.0 | (other.0 >> 56) << 56)
    }
}

/// The last accesses to eight bytes.
#[derive(Clone, Copy, Debug, Default)]
struct ShadowCell {
    writes: [AccessEpoch; 2],
    reads: [AccessEpoch; 2],
}

impl ShadowCell {
    /// Whether the same access was noted since the last write.
    #[inline]
    fn has(&self, now: AccessEpoch, write: bool) -> bool {
        let known = if write { &self.writes } else { &self.reads };
        known.iter().any(|then| then.includes(now))
            && (!write || self.reads.iter().all(|read| !read.overlaps(now)))
    }
}

/// What is known of all accesses so far.
#[derive(Debug)]
pub struct RaceDetector {
    /// What each thread knows of the others.
    clocks: Vec<Vec<u32>>,
    objects: FxHashMap<u64, Vec<u32>>,
    pages: FxHashMap<u64, usize>,
    cells: Vec<Box<[ShadowCell; CELLS]>>,
    cache: Vec<(u64, usize)>,
    /// Program counters of accesses that raced with earlier ones.
    places: BTreeMap<u64, u64>,
}

impl Default for RaceDetector {
    fn default() -> Self {
        Self {
            clocks: Vec::new(),
            objects: FxHashMap::default(),
            pages: FxHashMap::default(),
            cells: Vec::new(),
            cache: vec![(u64::MAX, 0); CACHE_ENTRIES],
            places: BTreeMap::new(),
        }
    }
}

impl RaceDetector {
    /// Program counters of accesses that raced with earlier ones, and how often.
    #[must_use]
    pub fn places(&self) -> &BTreeMap<u64, u64> {
        &self.places
    }

    /// Takes the next item.
    #[inline]
    pub fn take(&mut self, item: &DecodedItem) {
        match item {
            DecodedItem::Access(access) if access.flags.contains(Flags::SYNC) => {
                self.synchronise(access.thread.into(), access.addr);
            }
            DecodedItem::Access(access) => self.access(access),
            DecodedItem::Event(thread, what) => self.event((*thread).into(), what),
            DecodedItem::Clock { thread, waker: Some(waker), .. } => {
                self.follow((*thread).into(), (*waker).into());
            }
            DecodedItem::Sync(thread, addr) => self.synchronise((*thread).into(), *addr),
            DecodedItem::Alloc { block: (addr, size, _), .. } => self.forget(*addr, *size),
            DecodedItem::Start { stack, tls, .. } => {
                for (low, high) in [stack, tls] {
                    self.forget(*low, high - low);
                }
            }
            DecodedItem::Map { what: EventKind::Map { addr, size, .. }, .. } => {
                self.forget(*addr, *size);
            }
            DecodedItem::Map { .. }
            | DecodedItem::Clock { .. }
            | DecodedItem::Private { .. }
            | DecodedItem::Fact(..)
            | DecodedItem::System(..)
            | DecodedItem::Stamp(_) => {}
        }
    }

    fn event(&mut self, thread: usize, what: &EventKind) {
        match what {
            EventKind::LockAcquire { addr }
            | EventKind::LockRelease { addr }
            | EventKind::BarrierEnter { addr }
            | EventKind::BarrierLeave { addr }
            | EventKind::ConditionWait { addr }
            | EventKind::ConditionWake { addr } => self.synchronise(thread, *addr),
            EventKind::SyscallEnter { .. } | EventKind::SyscallExit { .. } => {
                self.synchronise(thread, KERNEL);
            }
            EventKind::ThreadCreate { child } => self.follow((*child).into(), thread),
            EventKind::ThreadJoin { child } => self.follow(thread, (*child).into()),
            EventKind::ThreadStart { .. }
            | EventKind::ThreadExit
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::Unmap { .. }
            | EventKind::Fork { .. }
            | EventKind::InitDone
            | EventKind::Phase { .. }
            | EventKind::Marker { .. } => {}
        }
    }

    fn clock(&mut self, thread: usize) -> &mut Vec<u32> {
        if self.clocks.len() <= thread {
            self.clocks.resize_with(thread + 1, Vec::new);
        }
        let clock = &mut self.clocks[thread];
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] = clock[thread].max(1);
        clock
    }

    /// What `thread` does from here on is after what `other` has done.
    fn follow(&mut self, thread: usize, other: usize) {
        let known = self.clock(other).clone();
        self.clock(other)[other] += 1;
        join(self.clock(thread), &known);
    }

    /// A thread operates on an object: after all who did before.
    fn synchronise(&mut self, thread: usize, object: u64) {
        let mut known = self.objects.remove(&object).unwrap_or_default();
        let clock = self.clock(thread);
        join(clock, &known);
        known.clone_from(clock);
        clock[thread] += 1;
        self.objects.insert(object, known);
    }

    /// Takes the next reference that synchronises nothing.
    #[inline]
    pub fn access(&mut self, access: &Access) {
        let thread = usize::from(access.thread);
        let count = match self.clocks.get(thread).and_then(|clock| clock.get(thread)) {
            Some(&count) if count != 0 => count,
            _ => self.clock(thread)[thread],
        };
        let end = access.addr.saturating_add(access.size.into());
        let mut at = access.addr;
        while at < end {
            let cell = at / CELL_BYTES;
            let next = ((cell + 1) * CELL_BYTES).min(end);
            let bytes = u32::try_from(next - at).unwrap_or(8);
            let mask = (0xff_u16 >> (8 - bytes)) << (at % CELL_BYTES);
            let now = AccessEpoch::new(thread, count, byte(mask));
            if self.touch(cell, now, access.kind == AccessKind::Write) {
                self.note(access.pc);
            }
            at = next;
        }
    }

    /// Notes an access to a cell; whether it races with an earlier one.
    fn touch(&mut self, cell: u64, now: AccessEpoch, write: bool) -> bool {
        let page = self.page(cell >> CELLS_SHIFT);
        let seen = self.clocks[now.thread()].as_slice();
        let at = &mut self.cells[page][usize::try_from(cell).unwrap_or(0) % CELLS];
        if at.has(now, write) {
            return false;
        }
        let before = |then: AccessEpoch| {
            seen.get(then.thread()).copied().unwrap_or(0) >= then.count()
                || then.thread() == now.thread()
        };
        let races = |then: &AccessEpoch| then.overlaps(now) && !before(*then);
        let found = at.writes.iter().any(races) || write && at.reads.iter().any(races);
        let kept = if write { &mut at.writes } else { &mut at.reads };
        if let Some(same) = kept.iter_mut().find(|then| then.is_with(now)) {
            *same = same.with_bytes_of(now);
        } else {
            // One of the same bytes, or none at all; else one that whoever races with it is likely
            // to race with this, too.
            let place = kept
                .iter()
                .position(|then| now.covers(*then))
                .or_else(|| kept.iter().position(|then| before(*then)))
                .unwrap_or(now.thread() & 1);
            kept[place] = now;
        }
        if write {
            for read in at.reads.iter_mut().filter(|read| now.covers(**read)) {
                *read = AccessEpoch::default();
            }
        }
        found
    }

    /// The shadow of a page.
    #[inline]
    fn page(&mut self, page: u64) -> usize {
        let slot = usize::try_from(page).unwrap_or(0) % CACHE_ENTRIES;
        if self.cache[slot].0 == page {
            return self.cache[slot].1;
        }
        let cells = &mut self.cells;
        let index = *self.pages.entry(page).or_insert_with(|| {
            cells.push(Box::new([ShadowCell::default(); CELLS]));
            cells.len() - 1
        });
        self.cache[slot] = (page, index);
        index
    }

    /// Memory is used for something else from here on.
    fn forget(&mut self, addr: u64, size: u64) {
        if size == 0 {
            return;
        }
        let (first, last) = (addr / CELL_BYTES, addr.saturating_add(size - 1) / CELL_BYTES);
        let (low, high) = (first >> CELLS_SHIFT, last >> CELLS_SHIFT);
        let known: Vec<(u64, usize)> = if high - low < self.pages.len() as u64 {
            (low..=high).filter_map(|page| Some((page, *self.pages.get(&page)?))).collect()
        } else {
            let inside = |(page, _): &(&u64, &usize)| (low..=high).contains(*page);
            self.pages.iter().filter(inside).map(|(page, index)| (*page, *index)).collect()
        };
        for (page, index) in known {
            let begin = page << CELLS_SHIFT;
            let from = usize::try_from(first.saturating_sub(begin)).unwrap_or(CELLS);
            let to = usize::try_from(last - begin).unwrap_or(CELLS).min(CELLS - 1);
            self.cells[index][from..=to].fill(ShadowCell::default());
        }
    }

    #[cold]
    fn note(&mut self, pc: u64) {
        if self.places.len() < PLACES_MAX || self.places.contains_key(&pc) {
            *self.places.entry(pc).or_default() += 1;
        }
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, theirs) in clock.iter_mut().zip(other) {
        *own = (*own).max(*theirs);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a mask of eight bytes has eight bits")]
const fn byte(mask: u16) -> u8 {
    mask as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(thread: u16, kind: AccessKind, addr: u64, size: u8) -> DecodedItem {
        let pc = u64::from(thread) << 8 | addr & 0xff;
        let flags = Flags::default();
        DecodedItem::Access(Access { thread, kind, size, flags, addr, pc, gap: 0, pid: 0 })
    }

    fn sync(thread: u16, addr: u64) -> DecodedItem {
        DecodedItem::Sync(thread, addr)
    }

    fn races(items: &[DecodedItem]) -> Vec<u64> {
        let mut detector = RaceDetector::default();
        items.iter().for_each(|item| detector.take(item));
        detector.places().keys().copied().collect()
    }

    const READ: AccessKind = AccessKind::Read;
    const WRITE: AccessKind = AccessKind::Write;

    #[test]
    fn two_threads_and_a_write_make_a_race() {
        let (own, other) = (access(1, WRITE, 0x1000, 8), access(2, WRITE, 0x1000, 8));
        let read = access(2, READ, 0x1004, 4);
        assert_eq!(races(&[own.clone(), other.clone()]), [0x200]);
        assert_eq!(races(&[own.clone(), read.clone()]), [0x204]);
        assert_eq!(races(&[read.clone(), own.clone()]), [0x100]);
        assert!(races(&[own.clone(), own]).is_empty());
        assert!(races(&[access(1, READ, 0x1000, 8), read]).is_empty());
    }

    #[test]
    fn other_bytes_of_a_word_are_no_race() {
        let bytes: Vec<_> = (0..8).map(|i| access(i, WRITE, 0x1000 + u64::from(i), 1)).collect();
        assert!(races(&bytes).is_empty());
        // A reference over two cells races in the second.
        let halves = [access(1, WRITE, 0x1000, 4), access(2, WRITE, 0x1004, 4)];
        let long = access(9, WRITE, 0x0ffc, 8);
        assert_eq!(races(&[halves.to_vec(), vec![long]].concat()), [9 << 8 | 0xfc]);
    }

    #[test]
    fn what_synchronises_is_ordered() {
        let (first, second) = (access(1, WRITE, 0x1000, 8), access(2, READ, 0x1000, 8));
        let between = |items: &[DecodedItem]| {
            races(&[vec![first.clone()], items.to_vec(), vec![second.clone()]].concat())
        };
        assert!(between(&[sync(1, 0x2000), sync(2, 0x2000)]).is_empty());
        assert_eq!(between(&[sync(2, 0x2000), sync(1, 0x2000)]), [0x200], "the wrong way round");
        assert_eq!(between(&[sync(1, 0x2000), sync(2, 0x3000)]), [0x200], "another object");
        let create = DecodedItem::Event(1, EventKind::ThreadCreate { child: 2 });
        assert!(between(&[create]).is_empty());
        let join = DecodedItem::Event(2, EventKind::ThreadJoin { child: 1 });
        assert!(between(&[join]).is_empty());
        let woken = |waker| DecodedItem::Clock { thread: 2, waker, clock: 7 };
        assert!(between(&[woken(Some(1))]).is_empty());
        assert_eq!(between(&[woken(None)]), [0x200]);
    }

    #[test]
    fn what_comes_after_a_release_is_not_ordered_by_it() {
        let items = [
            sync(1, 0x2000),
            access(1, WRITE, 0x1000, 8),
            sync(2, 0x2000),
            access(2, WRITE, 0x1000, 8),
        ];
        assert_eq!(races(&items), [0x200]);
    }

    #[test]
    fn memory_that_is_allocated_again_is_new() {
        let (first, second) = (access(1, WRITE, 0x1008, 8), access(2, WRITE, 0x1008, 8));
        let alloc = |addr, size| DecodedItem::Alloc { thread: 2, block: (addr, size, 0), stack: 0 };
        for (block, expected) in [((0x1000, 16), 0), ((0x1010, 16), 1), ((0x0800, 0x9000), 0)] {
            let found = races(&[first.clone(), alloc(block.0, block.1), second.clone()]);
            assert_eq!(found.len(), expected, "{block:x?}");
        }
    }
}
