//! Finds data races in references that are merged in logical order: accesses to the same bytes by
//! two threads, one of them a write, with no synchronisation between them.
//!
//! Vector clocks order synchronisation; for each eight bytes two of the last writes and two of the
//! last reads are kept, as epochs of their threads. Source: Flanagan and Freund, *`FastTrack`*,
//! PLDI 2009; the cells are those of `ThreadSanitizer` (Serebryany and Iskhodzhanov, WBIA 2009).
//! Deviations: two accesses are kept and not all, and each operation on an object is ordered after
//! all earlier ones on it. So races may be missed, but each reported race is real.

use std::collections::BTreeMap;

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::EventKind;
use rustc_hash::FxHashMap;

use crate::decode::{ADDRESS, access, thread_of};
use crate::item::DecodedItem;
use crate::shadow::{AccessEpoch, CELL_BYTES, ShadowCell};
use crate::wire::{KIND_SHIFT, SIZE_SHIFT};

const PAGE_BITS: u32 = 12;
const CELLS_SHIFT: u32 = PAGE_BITS - CELL_BYTES.trailing_zeros();
const CELLS: usize = 1 << CELLS_SHIFT;
const CACHE_ENTRIES: usize = 256;
/// The kernel as an object that synchronises: what a thread sends, another may receive.
const KERNEL: u64 = 0;
/// Limit of the program counters kept.
const PLACES_MAX: usize = 1000;

/// Vector clocks of the threads, and the shadow of the memory that they have accessed.
#[derive(Debug)]
pub struct RaceDetector {
    /// Vector clock of each thread.
    clocks: Vec<Vec<u32>>,
    /// Epoch of each thread's next access; 0 if the thread has no clock yet.
    epochs: Vec<AccessEpoch>,
    objects: FxHashMap<u64, Vec<u32>>,
    pages: FxHashMap<u64, usize>,
    cells: Vec<Box<[ShadowCell; CELLS]>>,
    /// Recent pages, indexed by a few bits of their numbers.
    cache: Box<[(u64, usize); CACHE_ENTRIES]>,
    /// By program counter, how often its accesses raced with earlier ones.
    places: BTreeMap<u64, u64>,
}

impl Default for RaceDetector {
    fn default() -> Self {
        Self {
            clocks: Vec::new(),
            epochs: Vec::new(),
            objects: FxHashMap::default(),
            pages: FxHashMap::default(),
            cells: Vec::new(),
            cache: Box::new([(u64::MAX, 0); CACHE_ENTRIES]),
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
            DecodedItem::Access(access) => self.access(*access),
            DecodedItem::Event(thread, what) => self.event((*thread).into(), what),
            DecodedItem::Clock { thread, waker: Some(waker), .. } => {
                self.follow((*thread).into(), (*waker).into());
            }
            DecodedItem::Sync(thread, addr) => self.synchronise((*thread).into(), *addr),
            DecodedItem::Alloc(made) => self.forget(made.addr, made.size),
            DecodedItem::Start { stack, tls, .. } => {
                for range in [stack, tls] {
                    self.forget(range.start, range.end - range.start);
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
            self.epochs.resize(thread + 1, AccessEpoch::default());
        }
        let clock = &mut self.clocks[thread];
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] = clock[thread].max(1);
        clock
    }

    /// Separates the next accesses of `thread` from its earlier ones.
    fn begin_epoch(&mut self, thread: usize) {
        let clock = self.clock(thread);
        clock[thread] += 1;
        let count = clock[thread];
        self.epochs[thread] = AccessEpoch::new(thread, count);
    }

    /// Orders the next accesses of `thread` after the earlier ones of `other`.
    fn follow(&mut self, thread: usize, other: usize) {
        let known = self.clock(other).clone();
        self.begin_epoch(other);
        join(self.clock(thread), &known);
    }

    /// A thread operates on an object: this is ordered after all earlier operations on it.
    fn synchronise(&mut self, thread: usize, object: u64) {
        let mut known = self.objects.remove(&object).unwrap_or_default();
        let clock = self.clock(thread);
        join(clock, &known);
        known.clone_from(clock);
        self.begin_epoch(thread);
        self.objects.insert(object, known);
    }

    /// Takes the next references, as records of a ring; they synchronise nothing.
    pub fn take_plain(&mut self, records: &[[u64; 2]]) {
        for &words in records {
            // Decoding the whole record would take as long as the rest of this loop.
            let addr = words[0] & ADDRESS;
            let (first, size) = (addr % CELL_BYTES, words[0] >> SIZE_SHIFT & 0x7f);
            if size == 0 || first + size > CELL_BYTES {
                self.access(access(words));
                continue;
            }
            let write = words[0] >> KIND_SHIFT & 3 == u64::from(AccessKind::Write.code());
            let now = self.epoch(thread_of(words[1]).into()).with_bytes(first, size);
            if self.touch(addr / CELL_BYTES, now, write) {
                self.note(words[1] & ADDRESS);
            }
        }
    }

    /// Notes an access to a cell; returns whether it races with an earlier one.
    #[inline(always)]
    fn touch(&mut self, cell: u64, now: AccessEpoch, write: bool) -> bool {
        let page = self.page(cell >> CELLS_SHIFT);
        let known = &mut self.cells[page][index_in_page(cell)];
        !known.has(now, write) && known.touch(now, write, &self.clocks[now.thread()])
    }

    /// Takes a reference that synchronises nothing and may span several cells.
    #[inline(never)]
    fn access(&mut self, access: Access) {
        let write = access.kind == AccessKind::Write;
        let epoch = self.epoch(access.thread.into());
        let end = access.addr.saturating_add(access.size.into());
        let mut at = access.addr;
        while at < end {
            let cell = at / CELL_BYTES;
            let next = ((cell + 1) * CELL_BYTES).min(end);
            let now = epoch.with_bytes(at % CELL_BYTES, next - at);
            if self.touch(cell, now, write) {
                self.note(access.pc);
            }
            at = next;
        }
    }

    /// The epoch of a thread's next access.
    #[inline(always)]
    fn epoch(&mut self, thread: usize) -> AccessEpoch {
        match self.epochs.get(thread) {
            Some(&known) if known.count() != 0 => known,
            _ => self.first_epoch(thread),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_epoch(&mut self, thread: usize) -> AccessEpoch {
        let count = self.clock(thread)[thread];
        self.epochs[thread] = AccessEpoch::new(thread, count);
        self.epochs[thread]
    }

    /// Index of the page's cells.
    #[inline(always)]
    fn page(&mut self, page: u64) -> usize {
        let (known, index) = self.cache[slot_of(page)];
        if known == page { index } else { self.look_up(page) }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, page: u64) -> usize {
        let cells = &mut self.cells;
        let index = *self.pages.entry(page).or_insert_with(|| {
            cells.push(Box::new([ShadowCell::default(); CELLS]));
            cells.len() - 1
        });
        self.cache[slot_of(page)] = (page, index);
        index
    }

    /// Forgets the accesses to memory that is reused.
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
    #[inline(never)]
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

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
const fn index_in_page(cell: u64) -> usize {
    cell as usize % CELLS
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
const fn slot_of(page: u64) -> usize {
    page as usize % CACHE_ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;
    use crate::item::Allocation;
    use crate::wire::THREAD_SHIFT;
    use homenode_base::Rng;

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
    fn synchronised_accesses_do_not_race() {
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
    fn accesses_after_a_release_are_not_ordered_by_it() {
        let items = [
            sync(1, 0x2000),
            access(1, WRITE, 0x1000, 8),
            sync(2, 0x2000),
            access(2, WRITE, 0x1000, 8),
        ];
        assert_eq!(races(&items), [0x200]);
    }

    #[test]
    fn reallocated_memory_is_new() {
        let (first, second) = (access(1, WRITE, 0x1008, 8), access(2, WRITE, 0x1008, 8));
        let alloc = |addr, size| {
            DecodedItem::Alloc(Allocation { addr, size, thread: 2, ..Allocation::default() })
        };
        for (block, expected) in [((0x1000, 16), 0), ((0x1010, 16), 1), ((0x0800, 0x9000), 0)] {
            let found = races(&[first.clone(), alloc(block.0, block.1), second.clone()]);
            assert_eq!(found.len(), expected, "{block:x?}");
        }
    }

    #[test]
    fn records_race_as_their_decoded_items() {
        let mut random = Rng::new(5);
        let [mut by_items, mut by_records] = [(); 2].map(|()| RaceDetector::default());
        for step in 0..20_000 {
            let thread = random.below(3);
            if random.below(40) == 0 {
                let sync = DecodedItem::Sync(u16::try_from(thread).unwrap(), random.below(2));
                by_items.take(&sync);
                by_records.take(&sync);
            }
            let addr = 0x1000 + random.below(400);
            let what = random.below(17) << SIZE_SHIFT | random.below(2) << KIND_SHIFT;
            let record = [addr | what, (thread << THREAD_SHIFT) | (step % 500)];
            by_items.take(&DecodedItem::Access(decode::access(record)));
            by_records.take_plain(&[record]);
        }
        assert!(by_items.places().len() > 100);
        assert_eq!(by_items.places(), by_records.places());
    }
}
