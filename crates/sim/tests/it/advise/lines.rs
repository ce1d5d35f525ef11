//! Advice on the lines of a machine with a clock.

use homenode_base::{Access, AccessKind, Rng};
use homenode_trace::{AddressRange, Columns, Event, EventKind, Metadata, RangeKind};

use super::{only, symbol, write_all};
use crate::made;

fn heap(start: u64, size: u64) -> AddressRange {
    AddressRange { start, size, kind: RangeKind::Heap, site: 0x40, ..AddressRange::default() }
}

/// Two matrices from one call, whose rows of 64 bytes go to four threads in turn, and which begin
/// within a line.
#[test]
fn all_heap_blocks_of_a_call_are_aligned() {
    let starts = [0x1_0010, 0x2_0010];
    let mut accesses = Vec::new();
    for _ in 0..20 {
        for row in 0..64u64 {
            let thread = u16::try_from(row % 4).unwrap();
            for start in starts {
                let word =
                    |i: u64| Access::new(thread, AccessKind::Atomic, start + 64 * row + 8 * i, 8);
                accesses.extend((0..8).map(word));
            }
        }
    }
    let trace = write_all(&accesses, starts.map(|start| heap(start, 64 * 64)).to_vec());
    let point = only(&trace, "spr-2s-lines", "mesi", 64);
    assert_eq!((point.advice[0].kind, point.advice[0].ranges), ("align", 2));
    assert!(point.advice[0].sentence.starts_with("The 2 heap blocks"), "{:?}", point.advice[0]);
    assert!(point.advice[0].hint.contains("aligned_alloc(64"));
    let after = point.lines.expect("a clock").after;
    assert_eq!(after.waits.false_sharing.transactions, 0);
}

/// A lock with its data, of less than a line: it takes one line or two.
#[test]
fn a_small_object_that_lies_in_two_lines_is_aligned() {
    let found = |start: u64| {
        let mut accesses = Vec::new();
        for turn in 0..400u64 {
            let thread = u16::try_from(turn % 4).unwrap();
            for offset in [0, 40, 48] {
                accesses.push(Access::new(thread, AccessKind::Write, start + offset, 8));
            }
        }
        let trace = write_all(&accesses, vec![symbol(start, 56, "account")]);
        only(&trace, "spr-2s-lines", "mesi", 64)
    };
    let point = found(0x1020);
    assert_eq!(point.advice.len(), 1);
    let advice = &point.advice[0];
    assert_eq!((advice.kind, advice.object.as_str()), ("align", "account"));
    assert!(advice.sentence.contains("32 bytes after the beginning"), "{}", advice.sentence);
    assert!(advice.sentence.contains("lies in two"), "{}", advice.sentence);
    assert!(point.speed_up.unwrap() > 1.5);
    assert!(found(0x1000).advice.is_empty(), "it lies in one");
}

/// Two threads change a word; one of them then reads some objects, each in two lines, and a page,
/// which a thread on the other socket reaches after `lead` references. Aligned objects are read in
/// less time, which changes who touches the page first; any other delay does the same.
#[test]
fn savings_from_page_placement_are_not_attributed_to_a_layout() {
    let starts = [0u64, 1, 2, 3, 4].map(|i| 0x1020 + 128 * i);
    let objects = starts.map(|start| heap(start, 64)).to_vec();
    for lead in (55_000..65_000).step_by(500) {
        let mut accesses = Vec::new();
        let mut put = |thread, kind, addr| accesses.push(Access::new(thread, kind, addr, 8));
        for turn in 0..400 {
            put(2 + turn % 2, AccessKind::Atomic, 0x1040);
        }
        for start in starts {
            put(3, AccessKind::Read, start);
            put(3, AccessKind::Read, start + 32);
        }
        for _ in 0..lead {
            put(0, AccessKind::Read, 0x8_0000);
        }
        put(0, AccessKind::Read, 0x9_0fc0);
        for line in 0..60 {
            put(3, AccessKind::Read, 0x9_0000 + 64 * line);
        }
        let point = only(&write_all(&accesses, objects.clone()), "spr-2s-lines", "mesi", 64);
        assert!(point.advice.is_empty(), "after {lead} references: {:?}", point.advice);
    }
}

/// Pieces of a heap block in no order, each used by a different one of four threads in this run,
/// belong to an allocator; those of a symbol may be the program's own division.
#[test]
fn pieces_from_an_allocator_belong_to_no_thread() {
    let mut rng = Rng::new(7);
    let owners: Vec<u16> = (0..400).map(|_| u16::try_from(rng.below(4)).unwrap()).collect();
    let mut accesses = Vec::new();
    for _ in 0..20 {
        for (piece, &owner) in (0..).zip(&owners) {
            accesses.push(Access::new(owner, AccessKind::Atomic, 0x1_0000 + 16 * piece, 8));
            accesses.push(Access::new(owner, AccessKind::Atomic, 0x1_0008 + 16 * piece, 8));
        }
    }
    let kinds = |range: AddressRange| {
        let point = only(&write_all(&accesses, vec![range]), "spr-2s-lines", "mesi", 64);
        point.advice.iter().map(|row| row.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(symbol(0x1_0000, 6400, "pieces")), ["group"]);
    assert!(!kinds(heap(0x1_0000, 6400)).contains(&"group"));
}

/// Four threads in turn, each at data of its own and then, as `step` says, at a word or two.
fn shared_word(
    step: impl Fn(u16, &mut Vec<Access>),
    events: bool,
    name: &str,
) -> Vec<homenode_sim::LineFinding> {
    let ranges = vec![symbol(0x1_0000, 8, name), symbol(0x2_0000, 40, "guard")];
    let metadata = Metadata { ranges, ..Metadata::default() };
    let lock = |thread, what| Event { thread, what };
    let trace = made::written(Columns::default(), 1 << 16, metadata, |writer| {
        for turn in 0..2000u64 {
            let thread = u16::try_from(turn % 4).unwrap();
            let own = 0x9_0000 + 0x1000 * u64::from(thread);
            writer.push(&Access::new(thread, AccessKind::Read, own, 8)).unwrap();
            let mut accesses = Vec::new();
            step(thread, &mut accesses);
            if events {
                writer.event(lock(thread, EventKind::LockAcquire { addr: 0x2_0000 })).unwrap();
            }
            accesses.iter().for_each(|access| writer.push(access).unwrap());
            if events {
                writer.event(lock(thread, EventKind::LockRelease { addr: 0x2_0000 })).unwrap();
            }
        }
    });
    only(&trace, "spr-2s-lines", "mesi", 64).lines.expect("a clock").findings
}

#[test]
fn counts_and_locks_of_many_threads_are_findings() {
    let atomic = |thread, list: &mut Vec<Access>| {
        list.push(Access::new(thread, AccessKind::Atomic, 0x1_0000, 8));
    };
    let plain = |thread, list: &mut Vec<Access>| {
        list.push(Access::new(thread, AccessKind::Read, 0x1_0000, 8));
        list.push(Access::new(thread, AccessKind::Write, 0x1_0000, 8));
    };
    for found in [shared_word(atomic, false, "hits"), shared_word(plain, false, "hits")] {
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kind, found[0].threads, found[0].count), ("count", 4, 1));
        assert!(found[0].sentence.starts_with("4 threads update `hits` in place, and "));
    }
    // Data guarded by a lock belong to the lock, which is named if its line is waited for.
    let locked = |thread, list: &mut Vec<Access>| {
        let sync = homenode_base::Flags::SYNC;
        let lock = Access::new(thread, AccessKind::Atomic, 0x2_0000, 4);
        list.push(Access { flags: sync, ..lock });
        plain(thread, list);
    };
    let found = shared_word(locked, true, "hits");
    assert_eq!(found.iter().map(|f| (f.kind, &*f.object)).collect::<Vec<_>>(), [("lock", "guard")]);
    // Written without reading the old value, or by a single thread.
    let stored = |thread, list: &mut Vec<Access>| {
        list.push(Access::new(thread, AccessKind::Write, 0x1_0000, 8));
    };
    assert_eq!(shared_word(stored, false, "hits"), []);
    let one_writer = |thread, list: &mut Vec<Access>| {
        let kind = if thread == 0 { AccessKind::Atomic } else { AccessKind::Read };
        list.push(Access::new(thread, kind, 0x1_0000, 8));
    };
    assert_eq!(shared_word(one_writer, false, "hits"), []);
}

/// Four threads that add to neighbouring words of a line.
fn neighbours(start: u64) -> Vec<Access> {
    let add = |turn: u64| {
        let thread = u16::try_from(turn % 4).unwrap();
        Access::new(thread, AccessKind::Atomic, start + 8 * (turn % 4), 8)
    };
    (0..2000).map(add).collect()
}

#[test]
fn hot_lines_of_a_large_mapping_are_advised_by_address() {
    let mapping = AddressRange::new(RangeKind::Mapping, 0x1000_0000, 256 << 20, "arena");
    let trace = write_all(&neighbours(0x1000_4000), vec![mapping]);
    let point = only(&trace, "spr-2s-lines", "mesi", 64);
    let [row] = &point.advice[..] else { panic!("{:?}", point.advice) };
    assert_eq!((row.kind, &row.object[..]), ("pad", "memory at 0x10004000 in arena"));
    assert_eq!((&row.address[..], row.size, row.words), ("0x10004000", 32, 8));
    let lines = point.lines.expect("a clock");
    assert_eq!(lines.after.waits.false_sharing.transactions, 0);
    assert_eq!(lines.findings, []);
}

#[test]
fn what_no_layout_was_tried_for_is_said() {
    let own = AddressRange::new(RangeKind::ThreadLocal, 0x1_0000, 64, "");
    let trace = write_all(&neighbours(0x1_0000), vec![own]);
    let point = only(&trace, "spr-2s-lines", "mesi", 64);
    assert_eq!((point.advice.len(), point.tried), (0, 0));
    let findings = point.lines.expect("a clock").findings;
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.threads), ("untried", 4));
    let reason = "a program does not choose where thread-local storage lies";
    assert!(finding.sentence.contains(reason), "{}", finding.sentence);
}
