//! Finds data races in references that are merged in logical order: accesses to the same bytes by two
//! threads, one of them a write, with no synchronisation between them.
//!
//! Vector clocks order what synchronises; of each eight bytes the last write and two of the last reads
//! are kept, as an epoch of their thread: Flanagan and Freund, *`FastTrack`*, PLDI 2009, and for the
//! cells `ThreadSanitizer` (Serebryany and Iskhodzhanov, WBIA 2009). Deviations: two reads are
//! kept and not all, and of writes to different bytes of a cell the last, so a race may be
//! missed, but what is found is one. Every operation on an object is after all earlier operations on it.

use std::collections::BTreeMap;

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::EventKind;
use rustc_hash::FxHashMap;

use crate::decode::DecodedItem;

const PAGE_BITS: u32 = 12;
const CELL_BYTES: u64 = 8;
const CELLS: usize = 1 << (PAGE_BITS - 3);
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
    write: AccessEpoch,
    reads: [AccessEpoch; 2],
}

impl ShadowCell {
    /// Whether the same access was noted since the last write.
    #[inline]
    fn has(&self, now: AccessEpoch, write: bool) -> bool {
        let none = AccessEpoch::default();
        if write {
            return self.write.includes(now) && self.reads == [none; 2];
        }
        self.reads.iter().any(|read| read.includes(now))
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
        let page = self.page(cell >> (PAGE_BITS - 3));
        let seen = self.clocks[now.thread()].as_slice();
        let at = &mut self.cells[page][usize::try_from(cell).unwrap_or(0) % CELLS];
        if at.has(now, write) {
            return false;
        }
        let races = |then: AccessEpoch| {
            then.overlaps(now)
                && then.thread() != now.thread()
                && seen.get(then.thread()).copied().unwrap_or(0) < then.count()
        };
        if write {
            let found = races(at.write) || at.reads.iter().any(|read| races(*read));
            let same = at.write.is_with(now);
            at.write = if same { at.write.with_bytes_of(now) } else { now };
            at.reads = Default::default();
            return found;
        }
        let found = races(at.write);
        let old = |read: AccessEpoch| {
            read.thread() == now.thread()
                || seen.get(read.thread()).copied().unwrap_or(0) >= read.count()
        };
        let reads = &mut at.reads;
        if let Some(read) = reads.iter_mut().find(|read| read.is_with(now)) {
            *read = read.with_bytes_of(now);
        } else if let Some(read) = reads.iter_mut().find(|read| old(**read)) {
            *read = now;
        } else {
            reads[now.thread() & 1] = now;
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
        let (low, high) = (first >> (PAGE_BITS - 3), last >> (PAGE_BITS - 3));
        let known: Vec<(u64, usize)> = if high - low < self.pages.len() as u64 {
            (low..=high).filter_map(|page| Some((page, *self.pages.get(&page)?))).collect()
        } else {
            let inside = |(page, _): &(&u64, &usize)| (low..=high).contains(*page);
            self.pages.iter().filter(inside).map(|(page, index)| (*page, *index)).collect()
        };
        for (page, index) in known {
            let begin = page << (PAGE_BITS - 3);
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
