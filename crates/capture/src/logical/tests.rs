//! The order of merged records, from rings as the runtime would write them.

use super::*;
use crate::area::RingGeometry;
use crate::wire::{
    CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, GAP_SHIFT, KIND_SHIFT, SIZE_SHIFT, THREAD_SHIFT, TRANSFERS,
    code,
};
use homenode_base::Rng;

const SMALL: RingGeometry =
    RingGeometry { rings: 3, ring_blocks: 4, block_records: 8, stack_words: 0 };

/// Rings as the runtime would write them.
struct WrittenRings {
    area: SharedArea,
    written: [usize; 3],
}

impl WrittenRings {
    fn new() -> Self {
        let area = SharedArea::new(SMALL).unwrap();
        area.set(at::RINGS_USED, 3);
        let mut made = Self { area, written: [0; 3] };
        for ring in 0..3 {
            made.block(ring, u64::MAX);
        }
        made
    }

    fn put(&mut self, ring: u32, words: [u64; 2]) {
        let at = &mut self.written[ring as usize];
        self.area.put(ring, *at, words);
        *at += 1;
    }

    /// References; an address is the thread and its number of earlier records.
    fn refer(&mut self, ring: u32, count: u64) {
        for _ in 0..count {
            let addr = u64::from(ring) << 8 | self.written[ring as usize] as u64;
            let thread = u64::from(ring) << THREAD_SHIFT;
            self.put(ring, [addr | 4 << SIZE_SHIFT, thread]);
        }
    }

    fn event(&mut self, ring: u32, code: u8, extra: u64, first: u64) {
        let head = 1 << EVENT_BIT | u64::from(code) << CODE_SHIFT | extra << EXTRA_SHIFT;
        self.put(ring, [head | first, u64::from(ring) << THREAD_SHIFT]);
    }

    fn clock(&mut self, ring: u32, clock: u64) {
        self.event(ring, code::CLOCK, 1, 0);
        self.put(ring, [1 << EVENT_BIT | clock, 0]);
    }

    /// Blocks the thread until this clock; with 0 it runs again.
    fn block(&mut self, ring: u32, floor: u64) {
        self.area.set_floor(ring, floor);
    }
}

/// The threads of the references and `thread!` of the events, in the merged order.
fn merged(rings: &WrittenRings, merger: &mut LogicalMerger, all: bool) -> String {
    let mut seen = String::new();
    merger.drain(&rings.area, all, &mut |item| {
        if let DecodedItem::Access(access) = item {
            seen.push_str(&access.thread.to_string());
        } else if let DecodedItem::Event(thread, _) = item {
            seen.push_str(&format!("{thread}!"));
        }
    });
    seen
}

#[test]
fn turns_are_of_a_quantum() {
    for (quantum, expected) in [(1, "0101011"), (2, "0011011"), (3, "0001111")] {
        let mut rings = WrittenRings::new();
        rings.refer(1, 4);
        rings.refer(0, 3);
        let mut merger = LogicalMerger::new(quantum);
        assert_eq!(merged(&rings, &mut merger, false), expected, "quantum {quantum}");
    }
}

#[test]
fn a_thread_that_runs_holds_the_others_back_and_a_blocked_one_does_not() {
    let mut rings = WrittenRings::new();
    let mut merger = LogicalMerger::new(1);
    rings.block(0, 0);
    rings.refer(0, 2);
    rings.refer(1, 4);
    // An event of the turn that it has had may follow.
    assert_eq!(merged(&rings, &mut merger, false), "010");
    rings.block(0, u64::MAX);
    assert_eq!(merged(&rings, &mut merger, false), "111");
    rings.block(0, 0);
    rings.block(1, 0);
    rings.clock(0, 6);
    rings.refer(0, 1);
    rings.refer(1, 4);
    // It continues at clock 6; what comes after is not known yet.
    assert_eq!(merged(&rings, &mut merger, false), "110");
    assert_eq!(merged(&rings, &mut merger, true), "11");
}

#[test]
fn a_timed_wait_holds_others_back_from_its_deadline_on() {
    let mut rings = WrittenRings::new();
    let mut merger = LogicalMerger::new(1);
    rings.block(0, 2);
    rings.refer(1, 4);
    assert_eq!(merged(&rings, &mut merger, false), "11");
    rings.block(0, 0);
    rings.clock(0, 2);
    rings.refer(0, 1);
    rings.block(0, u64::MAX);
    assert_eq!(merged(&rings, &mut merger, false), "011");
}

#[test]
fn the_transfers_of_a_call_are_in_its_turn() {
    let mut rings = WrittenRings::new();
    rings.refer(0, 1);
    rings.refer(1, 3);
    rings.event(0, code::SYSCALL_ENTER, 0, 0);
    for line in 0..3 {
        let what = 64 << SIZE_SHIFT | 1 << KIND_SHIFT | u64::from(TRANSFERS) << GAP_SHIFT;
        rings.put(0, [(0x1000 + 64 * line) | what, 0]);
    }
    rings.refer(0, 2);
    let mut flags = Vec::new();
    let mut threads = String::new();
    LogicalMerger::new(1).drain(&rings.area, true, &mut |item| {
        if let DecodedItem::Access(access) = item {
            threads.push_str(&access.thread.to_string());
            flags.push(access.flags.0);
        }
    });
    assert_eq!(threads, "000010101");
    assert_eq!(flags, [0, 8, 8, 8, 0, 0, 0, 0, 0]);
}

#[test]
fn an_event_is_in_the_turn_of_what_was_before() {
    let mut rings = WrittenRings::new();
    rings.refer(1, 1);
    rings.event(1, code::PHASE, 0, 1);
    rings.refer(0, 3);
    let mut merger = LogicalMerger::new(1);
    assert_eq!(merged(&rings, &mut merger, false), "011!00");
    // Unless its ring says that it is in the next one.
    let mut rings = WrittenRings::new();
    rings.refer(1, 1);
    rings.clock(1, 1);
    rings.event(1, code::PHASE, 0, 1);
    rings.refer(0, 3);
    let mut merger = LogicalMerger::new(1);
    assert_eq!(merged(&rings, &mut merger, false), "0101!0");
}

#[test]
fn references_of_others_after_the_end_are_left_out() {
    let mut rings = WrittenRings::new();
    rings.refer(0, 6);
    rings.refer(1, 4);
    rings.refer(2, 6);
    rings.area.swap64(at::ENDS_AT, 4);
    rings.area.set(at::ENDED_BY, 2);
    let mut merger = LogicalMerger::new(2);
    // Thread 1 ends it in turn 2, which thread 0 has had by then.
    assert_eq!(merged(&rings, &mut merger, true), "00112200112200");
}

#[test]
fn half_an_event_of_a_killed_program_is_left_out() {
    let mut rings = WrittenRings::new();
    rings.refer(0, 1);
    rings.event(0, code::ALLOC, 1, 0x1000);
    let mut merger = LogicalMerger::new(1);
    assert_eq!(merged(&rings, &mut merger, true), "0");
}

#[test]
fn more_records_may_wait_when_there_is_no_progress() {
    let mut rings = WrittenRings::new();
    let mut merger = LogicalMerger { waiting_least: 8, waiting_max: 8, ..LogicalMerger::new(1) };
    rings.block(0, 0);
    rings.refer(1, 32);
    assert_eq!(merged(&rings, &mut merger, false), "");
    rings.written[1] = 0;
    rings.refer(1, 1);
    for _ in 0..12 * PASSES_MAX {
        assert_eq!(merged(&rings, &mut merger, false), "");
    }
    assert_eq!(merger.streams[1].waiting(), 33);
}

#[test]
fn records_that_were_merged_do_not_count_as_waiting() {
    let mut rings = WrittenRings::new();
    let mut merger = LogicalMerger { waiting_least: 8, waiting_max: 16, ..LogicalMerger::new(1) };
    rings.block(0, 0);
    rings.refer(0, 3);
    rings.refer(1, 32);
    // Less than half of the first block, which therefore stays in the queue.
    assert_eq!(merged(&rings, &mut merger, false), "01010");
    for _ in 0..12 * PASSES_MAX {
        assert_eq!(merged(&rings, &mut merger, false), "");
    }
    assert_eq!(merger.streams[1].waiting(), 30);
}

#[test]
fn a_floor_is_ignored_while_records_are_unread() {
    let mut rings = WrittenRings::new();
    rings.refer(0, 12);
    rings.refer(1, 24);
    let mut merger = LogicalMerger::new(1);
    // The first block of each, up to where thread 0 may have done something else.
    assert_eq!(merged(&rings, &mut merger, false), "01".repeat(7) + "0");
    assert_eq!(merged(&rings, &mut merger, false), "1".to_owned() + &"01".repeat(4) + "1111");
    assert_eq!(merged(&rings, &mut merger, false), "1".repeat(8));
}

/// Turns merged one by one, turns merged together, and events between them.
#[test]
fn the_order_is_that_of_turns_then_of_threads() {
    let mut random = Rng::new(7);
    for quantum in [1, 2, 3, 5, 40].repeat(20) {
        let mut rings = WrittenRings::new();
        let mut expected = Vec::new();
        for ring in 0..3 {
            let (mut turn, rarely) = (0, 2 + random.below(12));
            let mut clock = 0;
            for _ in 0..random.below(32) {
                let thread = ring.to_string();
                if random.below(rarely) == 0 {
                    rings.event(ring, code::PHASE, 0, 1);
                    expected.push((turn, ring, thread + "!"));
                } else {
                    rings.refer(ring, 1);
                    turn = clock / u64::from(quantum);
                    clock += 1;
                    expected.push((turn, ring, thread));
                }
            }
        }
        expected.sort_by_key(|(turn, ring, _)| (*turn, *ring));
        let expected: String = expected.into_iter().map(|(_, _, item)| item).collect();
        let mut merger = LogicalMerger::new(quantum);
        assert_eq!(merged(&rings, &mut merger, true), expected, "quantum {quantum}");
    }
}
