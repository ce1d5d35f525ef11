//! Decodes the records of one ring to references and events.

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::{EventKind, LiveFact};

use crate::item::{Allocation, DecodedItem, ItemSink, SystemFact};
use crate::wire::{
    CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, GAP_BITS, GAP_SHIFT, KIND_SHIFT, SIZE_SHIFT, SYNC_BIT,
    THREAD_SHIFT, code, is_transfer,
};

/// The bits of a word that are an address.
pub const ADDRESS: u64 = (1 << 48) - 1;
const KERNEL_HALF: u64 = 1 << 47;

#[derive(Debug)]
struct PendingRecord {
    code: u8,
    thread: u16,
    first: u64,
    second: u64,
    missing: u8,
    words: Vec<u64>,
}

/// Decodes the records of one ring, in order.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Option<PendingRecord>,
    forks: u32,
    /// Gap of the next reference, if its record has too few bits for it; else 0.
    gap: u32,
    /// Of a whole system, the process that each processor runs; else empty.
    processes: Vec<u32>,
}

impl Decoder {
    /// Decodes records into `sink`.
    pub fn take_all(&mut self, mut records: &[[u64; 2]], sink: &mut impl ItemSink) {
        while let Some(&words) = records.first() {
            let plain = self.plain(records);
            if plain > 0 {
                sink.accesses(&records[..plain]);
                records = &records[plain..];
                continue;
            }
            records = &records[1..];
            match self.take(words) {
                Some(DecodedItem::Access(access)) => sink.access(access),
                Some(item) => sink.other(item),
                None => {}
            }
        }
    }

    /// Number of leading records that are complete references.
    fn plain(&self, records: &[[u64; 2]]) -> usize {
        if self.pending.is_some() || self.gap != 0 || !self.processes.is_empty() {
            return 0;
        }
        records.iter().take_while(|words| words[0] >> EVENT_BIT == 0).count()
    }

    /// Decodes the next record; `None` if it completes no item. Most records are an item each.
    #[inline]
    pub fn take(&mut self, words: [u64; 2]) -> Option<DecodedItem> {
        match self.reference(words) {
            Some(access) => Some(DecodedItem::Access(access)),
            None => self.event(words),
        }
    }

    /// Decodes the next record if it is a reference.
    #[inline(always)]
    pub fn reference(&mut self, words: [u64; 2]) -> Option<Access> {
        // Nearly all records are references, which one test of the top bit distinguishes.
        if self.pending.is_some() || words[0] >> EVENT_BIT != 0 {
            return None;
        }
        let mut access = access(words);
        if self.gap != 0 {
            access.gap = std::mem::take(&mut self.gap);
        }
        if !self.processes.is_empty() {
            self.place(&mut access);
        }
        Some(access)
    }

    /// Sets the process and the kernel flag of a reference.
    fn place(&self, access: &mut Access) {
        access.pid = self.process_of(access.thread);
        access.pc = whole_address(access.pc);
        if access.pc & KERNEL_HALF != 0 {
            access.flags = access.flags.union(Flags::KERNEL);
        }
    }

    fn process_of(&self, thread: u16) -> u32 {
        self.processes.get(usize::from(thread)).copied().unwrap_or(0)
    }

    /// Decodes the next record, which is not a reference.
    #[inline(never)]
    pub fn event(&mut self, words: [u64; 2]) -> Option<DecodedItem> {
        let mut pending = if let Some(mut pending) = self.pending.take() {
            pending.words.extend([words[0] & !(1 << EVENT_BIT), words[1]]);
            pending.missing -= 1;
            pending
        } else {
            PendingRecord {
                code: low_byte(words[0] >> CODE_SHIFT) & 0x7f,
                thread: thread_of(words[1]),
                first: words[0] & ADDRESS,
                second: words[1] & ADDRESS,
                missing: low_byte(words[0] >> EXTRA_SHIFT),
                words: Vec::new(),
            }
        };
        if pending.missing > 0 {
            self.pending = Some(pending);
            return None;
        }
        if let code::ASKS..=code::RESUMES = pending.code {
            return Some(DecodedItem::Fact(pending.thread, live_fact(&pending)));
        }
        // A missing payload reads as zeros; only a runtime of another version leaves it out.
        pending.words.resize(pending.words.len().max(2), 0);
        self.item(&pending)
    }

    fn system_fact(&self, p: &PendingRecord) -> SystemFact {
        let pid = self.process_of(p.thread);
        match p.code {
            code::PROCESS => {
                let pid = u32::try_from(p.first).unwrap_or(u32::MAX);
                SystemFact::Process { pid, name: text(&p.words, p.second) }
            }
            code::REPORT => SystemFact::Report(bytes(&p.words, p.second)),
            code::CODE => SystemFact::Code { pid, pc: whole_address(p.first) },
            // A page's number was cut to 48 bits, as an address is.
            _ => SystemFact::Page { pid, frame: p.first, page: whole_address(p.second) },
        }
    }

    fn item(&mut self, p: &PendingRecord) -> Option<DecodedItem> {
        let addr = p.first;
        let number = u32::try_from(p.first).unwrap_or(u32::MAX);
        let child = u16::try_from(p.first).unwrap_or(u16::MAX - 1);
        let kind = match p.code {
            code::THREAD_START => {
                return Some(DecodedItem::Start {
                    thread: p.thread,
                    stack: p.first..p.second.max(p.first),
                    tls: p.words[0]..p.words[1].max(p.words[0]),
                });
            }
            code::PRIVATE => {
                let region = addr..addr.saturating_add(p.words[0]);
                return Some(DecodedItem::Private { thread: p.thread, region });
            }
            code::ALLOC => return Some(DecodedItem::Alloc(allocation(p))),
            code::STAMP => return Some(DecodedItem::Stamp(p.words[0])),
            code::CLOCK | code::SYNC => return Some(of_logical_order(p)),
            code::CONTEXT => {
                let processor = usize::from(p.thread);
                if self.processes.len() <= processor {
                    self.processes.resize(processor + 1, 0);
                }
                self.processes[processor] = number;
                return None;
            }
            code::GAP => {
                self.gap = number;
                return None;
            }
            code::PROCESS | code::REPORT | code::CODE | code::PAGE => {
                return Some(DecodedItem::System(p.thread, self.system_fact(p)));
            }
            code::THREAD_EXIT => EventKind::ThreadExit,
            code::THREAD_CREATE => EventKind::ThreadCreate { child },
            code::THREAD_JOIN => EventKind::ThreadJoin { child },
            code::LOCK_ACQUIRE => EventKind::LockAcquire { addr },
            code::LOCK_RELEASE => EventKind::LockRelease { addr },
            code::BARRIER_ENTER => EventKind::BarrierEnter { addr },
            code::BARRIER_LEAVE => EventKind::BarrierLeave { addr },
            code::CONDITION_WAIT => EventKind::ConditionWait { addr },
            code::CONDITION_WAKE => EventKind::ConditionWake { addr },
            code::FREE => EventKind::Free { addr },
            code::MAP => {
                let stack = position(p.second >> 1);
                return Some(DecodedItem::Map { thread: p.thread, what: mapping(p), stack });
            }
            code::UNMAP => EventKind::Unmap { addr, size: p.words[0] },
            code::SYSCALL_ENTER => EventKind::SyscallEnter { number },
            code::SYSCALL_EXIT => EventKind::SyscallExit { number },
            // Children are numbered in order, as process numbers differ from run to run.
            code::FORK => {
                self.forks += 1;
                EventKind::Fork { pid: self.forks }
            }
            code::INIT_DONE => EventKind::InitDone,
            code::PHASE => EventKind::Phase { id: number },
            code::MARKER => EventKind::Marker { text: text(&p.words, p.first) },
            _ => return None,
        };
        Some(DecodedItem::Event(p.thread, kind))
    }
}

fn live_fact(p: &PendingRecord) -> LiveFact {
    let thread = u16::try_from(p.first).unwrap_or(u16::MAX);
    let limit_ns = p.second;
    match p.code {
        code::ASKS => LiveFact::Asks { lock: p.first, limit_ns },
        code::LEAVES => {
            let count = u32::try_from(p.second).unwrap_or(u32::MAX - 1);
            LiveFact::Leaves { barrier: p.first, count }
        }
        code::JOINS => LiveFact::Joins { child: thread, limit_ns },
        code::WAITS => LiveFact::Waits { limit_ns },
        code::ENDS => LiveFact::Ends { thread },
        code::GIVES_UP => LiveFact::GivesUp,
        code::PAUSES => LiveFact::Pauses { limit_ns },
        _ => LiveFact::Resumes { thread },
    }
}

/// An item that only rings of logical order have.
fn of_logical_order(p: &PendingRecord) -> DecodedItem {
    if p.code == code::SYNC {
        return DecodedItem::Sync(p.thread, p.first);
    }
    let waker = p.first.checked_sub(1).and_then(|waker| u16::try_from(waker).ok());
    DecodedItem::Clock { thread: p.thread, waker, clock: p.words[0] }
}

fn allocation(p: &PendingRecord) -> Allocation {
    Allocation {
        addr: p.first,
        size: p.words[0],
        site: p.second,
        stack: position(p.words[1]),
        thread: p.thread,
    }
}

fn mapping(p: &PendingRecord) -> EventKind {
    EventKind::Map {
        addr: p.first,
        size: p.words[0],
        shared: p.second & 1 != 0,
        object: text(&p.words[2..], p.words[1]),
    }
}

/// The position of a call stack; 0 if the word cannot be one.
fn position(word: u64) -> u32 {
    u32::try_from(word).unwrap_or(0)
}

/// Extends the sign bit of the 48 bits that a record holds: kernels are in the upper half.
const fn whole_address(low: u64) -> u64 {
    if low & KERNEL_HALF == 0 { low } else { low | !ADDRESS }
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
pub const fn low_byte(word: u64) -> u8 {
    word as u8
}

/// The thread of a record, by its second word.
pub const fn thread_of(word: u64) -> u16 {
    (word >> THREAD_SHIFT) as u16
}

#[inline(always)]
pub fn access(words: [u64; 2]) -> Access {
    let kind = match (words[0] >> KIND_SHIFT) & 3 {
        0 => AccessKind::Read,
        1 => AccessKind::Write,
        2 => AccessKind::Atomic,
        _ => AccessKind::Fetch,
    };
    let sync = Flags(low_byte(words[0] >> SYNC_BIT & 1) * Flags::SYNC.0);
    let gap = u32::from(low_byte(words[0] >> GAP_SHIFT)) & ((1 << GAP_BITS) - 1);
    let transfers = is_transfer(words[0]);
    Access {
        thread: thread_of(words[1]),
        kind,
        size: low_byte(words[0] >> SIZE_SHIFT) & 0x7f,
        flags: sync.union(Flags(u8::from(transfers) * Flags::TRANSFER.0)),
        addr: words[0] & ADDRESS,
        pc: words[1] & ADDRESS,
        gap: if transfers { 0 } else { gap },
        pid: 0,
    }
}

/// `length` bytes, packed seven to a word.
fn bytes(words: &[u64], length: u64) -> Vec<u8> {
    words
        .iter()
        .flat_map(|word| word.to_le_bytes().into_iter().take(7))
        .take(usize::try_from(length).unwrap_or(usize::MAX))
        .collect()
}

fn text(words: &[u64], length: u64) -> String {
    String::from_utf8_lossy(&bytes(words, length)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::TRANSFERS;

    const EVENT: u64 = 1 << EVENT_BIT;

    #[test]
    fn a_reference_has_all_its_parts() {
        let word0 = 0x7fff_1234_5678 | (8 << SIZE_SHIFT) | (2 << KIND_SHIFT) | (1 << SYNC_BIT);
        let word1 = 0x5555_5555_1000 | (513 << THREAD_SHIFT);
        let expected = Access {
            flags: Flags::SYNC,
            pc: 0x5555_5555_1000,
            ..Access::new(513, AccessKind::Atomic, 0x7fff_1234_5678, 8)
        };
        assert_eq!(Decoder::default().take([word0, word1]), Some(DecodedItem::Access(expected)));
    }

    #[test]
    fn a_64_byte_reference_fits() {
        let Some(DecodedItem::Access(a)) = Decoder::default().take([(64 << SIZE_SHIFT) | 0x40, 0])
        else {
            panic!("a reference");
        };
        assert_eq!((a.size, a.kind, a.addr), (64, AccessKind::Read, 0x40));
    }

    #[test]
    fn a_transfer_has_a_mark_and_no_gap() {
        let word0 = 0x1000 | 64 << SIZE_SHIFT | 1 << KIND_SHIFT | u64::from(TRANSFERS) << GAP_SHIFT;
        let expected =
            Access { flags: Flags::TRANSFER, ..Access::new(3, AccessKind::Write, 0x1000, 64) };
        let taken = Decoder::default().take([word0, 3 << THREAD_SHIFT]);
        assert_eq!(taken, Some(DecodedItem::Access(expected)));
    }

    #[test]
    fn a_gap_is_in_the_reference_or_before_it() {
        let mut decoder = Decoder::default();
        let reference = [0x1000 | (8 << SIZE_SHIFT) | (30 << GAP_SHIFT), 0];
        let long = [EVENT | (u64::from(code::GAP) << CODE_SHIFT) | 1_000_000, 0];
        let mut gaps = Vec::new();
        for words in [reference, long, [reference[0] & !(31 << GAP_SHIFT), 0], reference] {
            if let Some(DecodedItem::Access(access)) = decoder.take(words) {
                gaps.push(access.gap);
            }
        }
        assert_eq!(gaps, [30, 1_000_000, 30]);
    }

    #[test]
    fn an_event_waits_for_its_payload() {
        let mut decoder = Decoder::default();
        let head = EVENT | (u64::from(code::ALLOC) << CODE_SHIFT) | (1 << EXTRA_SHIFT) | 0x1000;
        assert_eq!(decoder.take([head, 0x40_0000 | (3 << THREAD_SHIFT)]), None);
        let made = DecodedItem::Alloc(Allocation {
            addr: 0x1000,
            size: 24,
            site: 0x40_0000,
            stack: 17,
            thread: 3,
        });
        assert_eq!(decoder.take([EVENT | 24, 17]), Some(made));
    }

    #[test]
    fn text_is_seven_bytes_a_word() {
        let mut decoder = Decoder::default();
        let head = EVENT | (u64::from(code::MARKER) << CODE_SHIFT) | (1 << EXTRA_SHIFT) | 9;
        assert_eq!(decoder.take([head, 0]), None);
        let first = u64::from_le_bytes(*b"phase a\0");
        let second = u64::from_le_bytes(*b"bc\0\0\0\0\0\0");
        let event = EventKind::Marker { text: "phase abc".to_owned() };
        assert_eq!(decoder.take([EVENT | first, second]), Some(DecodedItem::Event(0, event)));
    }

    #[test]
    fn children_are_numbered_in_order() {
        let mut decoder = Decoder::default();
        let head = EVENT | (u64::from(code::FORK) << CODE_SHIFT) | 4711;
        for pid in 1..3 {
            assert_eq!(
                decoder.take([head, 0]),
                Some(DecodedItem::Event(0, EventKind::Fork { pid }))
            );
        }
    }

    #[test]
    fn references_of_a_whole_system_have_process_and_kernel_flag() {
        let mut decoder = Decoder::default();
        let context = EVENT | (u64::from(code::CONTEXT) << CODE_SHIFT) | 77;
        assert_eq!(decoder.take([context, 3 << THREAD_SHIFT]), None);
        let mut take = |thread: u64, pc| match decoder
            .take([0x1000 | 8 << SIZE_SHIFT, thread << THREAD_SHIFT | pc])
        {
            Some(DecodedItem::Access(a)) => (a.pid, a.pc, a.flags),
            other => panic!("{other:?}"),
        };
        assert_eq!(take(3, 0xffff_8100_0010), (77, 0xffff_ffff_8100_0010, Flags::KERNEL));
        assert_eq!(take(3, 0x40_0000), (77, 0x40_0000, Flags::default()));
        assert_eq!(take(1, 0x40_0000), (0, 0x40_0000, Flags::default()));
    }

    #[test]
    fn a_process_has_a_number_and_a_name() {
        let mut decoder = Decoder::default();
        let head = EVENT | (u64::from(code::PROCESS) << CODE_SHIFT) | (1 << EXTRA_SHIFT) | 124;
        assert_eq!(decoder.take([head, 2 << THREAD_SHIFT | 8]), None);
        let words = [u64::from_le_bytes(*b"postgre\0"), u64::from(b's')];
        let system_fact = SystemFact::Process { pid: 124, name: "postgres".to_owned() };
        assert_eq!(
            decoder.take([EVENT | words[0], words[1]]),
            Some(DecodedItem::System(2, system_fact))
        );
    }

    #[test]
    fn a_system_tells_of_code_and_pages_by_process() {
        let mut decoder = Decoder::default();
        let event = |code: u8, first: u64| EVENT | (u64::from(code) << CODE_SHIFT) | first;
        decoder.take([event(code::CONTEXT, 9), 1 << THREAD_SHIFT]);
        let system_fact = decoder.take([event(code::CODE, 0xffff_8100_0010), 1 << THREAD_SHIFT]);
        let code = SystemFact::Code { pid: 9, pc: 0xffff_ffff_8100_0010 };
        assert_eq!(system_fact, Some(DecodedItem::System(1, code)));
        let low = 0xffff_ea00_0000_0000_u64 >> 12;
        let system_fact = decoder.take([event(code::PAGE, 5), 1 << THREAD_SHIFT | low & ADDRESS]);
        let page = SystemFact::Page { pid: 9, frame: 5, page: low };
        let Some(DecodedItem::System(1, SystemFact::Page { pid, frame, page: found })) =
            system_fact
        else {
            panic!("{page:?}");
        };
        assert_eq!((pid, frame, found << 12), (9, 5, 0xffff_ea00_0000_0000));
    }

    #[test]
    fn an_unknown_event_is_passed_over() {
        assert_eq!(Decoder::default().take([EVENT | (99 << CODE_SHIFT), 0]), None);
    }
}
