//! Merges the rings of logical order by the clocks of their threads.
//!
//! A thread's clock counts its references. Threads take turns of a quantum of their clocks, and
//! operations that affect other threads happened in the order of these turns, ties by thread
//! number. So the order of turns is a legal one, down to a quantum of a single reference.
//!
//! What comes next is decided only when no thread can still write something earlier: a thread that
//! runs holds the others back at its last record that has been read, a blocked one does not. The
//! runtime says in a ring's line which it is; who wakes a thread says so before it writes on.

use std::collections::VecDeque;

use homenode_trace::EventKind;

use crate::area::SharedArea;
use crate::decode::{Decoder, access};
use crate::item::{DecodedItem, ItemSink};
use crate::races::RaceDetector;
use crate::ring::RingCursor;
use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, ORDERED_BIT, SYNC_BIT, at, code};

/// Records of a thread that are kept waiting for the others before its ring is left full.
const WAITING_MAX: usize = 1 << 17;
/// Passes without progress after which more are kept, at first: somebody may wait, unseen, for who
/// waits for room in a ring.
const PASSES_MAX: u32 = 25;
const OPERATION: u64 = 1 << SYNC_BIT | 1 << ORDERED_BIT;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// Nothing has been read yet, and others may have to wait for it.
    Unknown,
    /// Nothing that the others have to wait for.
    Nothing,
    Reference,
    /// An event, or a reference that is ordered with those of others.
    Operation,
}

/// The records of one thread that have been read and not been merged.
#[derive(Debug)]
struct ThreadStream {
    cursor: RingCursor,
    records: VecDeque<[u64; 2]>,
    decoder: Decoder,
    /// Of the next record.
    clock: u64,
    /// Of what it writes next, at least; `None` while it runs.
    floor: Option<u64>,
    /// The quantum of its clock, and where that ends.
    turn: u64,
    turn_end: u64,
}

impl ThreadStream {
    fn new(ring: u32) -> Self {
        let (clock, turn, turn_end) = (0, 0, 0);
        let (cursor, records) = (RingCursor::new(ring), VecDeque::new());
        Self { cursor, records, decoder: Decoder::default(), clock, floor: None, turn, turn_end }
    }

    /// Reads what has been written, at most one revolution; returns the number of records.
    fn read(&mut self, area: &SharedArea) -> usize {
        let records = &mut self.records;
        self.cursor.read(area, |words| records.push_back(words))
    }

    /// What it does next; brings its clock and turn there. An event is in the turn of what was
    /// before it, unless the clock is told anew.
    #[inline]
    fn look(&mut self, (all, quantum): (bool, u64)) -> NextStep {
        let missing = if all { NextStep::Nothing } else { NextStep::Unknown };
        let Some(&[first, _]) = self.records.front() else {
            let Some(floor) = self.floor else { return missing };
            if all || floor == u64::MAX {
                return NextStep::Nothing;
            }
            self.turn_to(self.clock.max(floor), quantum);
            return NextStep::Unknown;
        };
        if first >> EVENT_BIT == 0 {
            if self.clock >= self.turn_end {
                self.turn_to(self.clock, quantum);
            }
            let operation = first & OPERATION != 0;
            return if operation { NextStep::Operation } else { NextStep::Reference };
        }
        if self.records.len() <= usize::from(byte(first >> EXTRA_SHIFT)) {
            return missing;
        }
        if byte(first >> CODE_SHIFT) & 0x7f == code::CLOCK
            && let Some(&[clock, _]) = self.records.get(1)
        {
            self.turn_to(clock & !(1 << EVENT_BIT), quantum);
        }
        NextStep::Operation
    }

    fn turn_to(&mut self, clock: u64, quantum: u64) {
        self.clock = clock;
        self.turn = clock / quantum;
        self.turn_end = (self.turn + 1).saturating_mul(quantum);
    }

    /// Takes the next item, an event of which all records are there.
    fn take_event(&mut self) -> Option<DecodedItem> {
        let extra = self.records.front().map_or(0, |first| byte(first[0] >> EXTRA_SHIFT));
        let records = self.records.drain(..=usize::from(extra));
        records.map(|words| self.decoder.take(words)).last().flatten()
    }

    /// Its place in the order of turns, which ends with its number.
    fn place(&self) -> u64 {
        self.turn.min((1 << 48) - 1) << 16 | u64::from(self.cursor.ring())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
const fn byte(word: u64) -> u8 {
    word as u8
}

/// Merges the rings, and looks for races in the result.
#[derive(Debug)]
pub struct LogicalMerger {
    quantum: u64,
    streams: Vec<ThreadStream>,
    steps: Vec<NextStep>,
    /// Of each stream its place in the order of turns; `u64::MAX` of those that have nothing.
    places: Vec<u64>,
    races: RaceDetector,
    forks: u32,
    waiting_least: usize,
    waiting_max: usize,
    passes: u32,
}

impl LogicalMerger {
    /// Merges in turns of `quantum` references.
    #[must_use]
    pub fn new(quantum: u32) -> Self {
        Self {
            quantum: quantum.max(1).into(),
            streams: Vec::new(),
            steps: Vec::new(),
            places: Vec::new(),
            races: RaceDetector::default(),
            forks: 0,
            waiting_least: WAITING_MAX,
            waiting_max: WAITING_MAX,
            passes: 0,
        }
    }

    /// The races found until now.
    pub fn races(&self) -> &RaceDetector {
        &self.races
    }

    /// Reads all rings once, and merges as far as the order is known; with `all`, nothing more
    /// will be written. Returns how many records were read and items merged.
    pub fn drain(&mut self, area: &SharedArea, all: bool, sink: &mut impl ItemSink) -> usize {
        self.meet(area);
        let before: Vec<_> =
            self.streams.iter().map(|stream| area.floor(stream.cursor.ring())).collect();
        let mut done = 0;
        for stream in &mut self.streams {
            if all || stream.records.len() < self.waiting_max {
                done += stream.read(area);
            }
        }
        // A thread that is new since then has written nothing that was read.
        self.meet(area);
        for (stream, before) in self.streams.iter_mut().zip(before) {
            let after = area.floor(stream.cursor.ring());
            stream.floor = (after == before && after.0 != 0).then_some(after.0);
        }
        let end = match area.get(at::ENDED_BY) {
            0 => None,
            thread => Some((area.get64(at::ENDS_AT) / self.quantum, thread as usize - 1)),
        };
        done += self.merge((all, end), sink);
        self.mind_room(done);
        done
    }

    fn meet(&mut self, area: &SharedArea) {
        for ring in u32::try_from(self.streams.len()).unwrap_or(u32::MAX)..area.rings_used() {
            self.streams.push(ThreadStream::new(ring));
        }
    }

    /// A thread whose ring is full may be what another waits for in a way that nobody sees, and the
    /// recorder waits for that one: in the end, more room is made.
    fn mind_room(&mut self, done: usize) {
        self.passes = if done == 0 { self.passes + 1 } else { 0 };
        if self.passes > PASSES_MAX {
            self.passes = 0;
            if self.streams.iter().any(|stream| stream.records.len() >= self.waiting_max) {
                self.waiting_max += self.waiting_least;
            }
        }
    }

    /// Merges until it is unknown what comes next.
    fn merge(
        &mut self,
        (all, end): (bool, Option<(u64, usize)>),
        sink: &mut impl ItemSink,
    ) -> usize {
        let mut done = 0;
        let known = self.streams.len();
        self.steps.resize(known, NextStep::Nothing);
        self.places.resize(known, u64::MAX);
        for place in 0..known {
            self.step(place, all, end);
        }
        while let Some(place) = least(&self.places) {
            let turn = self.places[place];
            while self.places[place] == turn {
                match self.steps[place] {
                    NextStep::Unknown | NextStep::Nothing => return done,
                    NextStep::Reference => self.reference(place, sink),
                    NextStep::Operation => self.operation(place, sink),
                }
                self.step(place, all, end);
                done += 1;
            }
        }
        done
    }

    #[inline]
    fn step(&mut self, place: usize, all: bool, end: Option<(u64, usize)>) {
        let stream = &mut self.streams[place];
        let step = match (stream.look((all, self.quantum)), end) {
            // What others did after the program had ended is not part of it.
            (_, Some((last, by))) if (stream.turn, place) > (last, by) && by != place => {
                NextStep::Nothing
            }
            (step, _) => step,
        };
        self.steps[place] = step;
        self.places[place] = if step == NextStep::Nothing { u64::MAX } else { stream.place() };
    }

    #[inline]
    fn reference(&mut self, place: usize, sink: &mut impl ItemSink) {
        let stream = &mut self.streams[place];
        let Some(words) = stream.records.pop_front() else { return };
        stream.clock += 1;
        let access = access(words);
        self.races.access(&access);
        sink.access(access);
    }

    fn operation(&mut self, place: usize, sink: &mut impl ItemSink) {
        let stream = &mut self.streams[place];
        let Some(&[first, second]) = stream.records.front() else { return };
        let found = if first >> EVENT_BIT == 0 {
            stream.records.pop_front();
            stream.clock += 1;
            Some(DecodedItem::Access(access([first & !(1 << ORDERED_BIT), second])))
        } else {
            stream.take_event()
        };
        let Some(mut found) = found else { return };
        if let DecodedItem::Event(_, EventKind::Fork { pid }) = &mut found {
            self.forks += 1;
            *pid = self.forks;
        }
        // An atomic operation that synchronises nothing is no race either.
        if first >> EVENT_BIT != 0 || first >> SYNC_BIT & 1 != 0 {
            self.races.take(&found);
        }
        sink.item(found);
    }
}

/// The stream with the least place, which ends with the stream's number.
fn least(places: &[u64]) -> Option<usize> {
    let least = places.iter().copied().min().filter(|least| *least != u64::MAX)?;
    usize::try_from(least & 0xffff).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::RingGeometry;
    use crate::wire::{SIZE_SHIFT, THREAD_SHIFT};

    const SMALL: RingGeometry =
        RingGeometry { rings: 3, ring_blocks: 4, block_records: 8, stack_words: 0 };

    /// What threads write, as their runtime would.
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

        /// References; their addresses tell the thread and how many it had made.
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

        /// The thread is blocked until this clock, or runs again: 0.
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
        // It goes on at clock 6; what comes after is not known yet.
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
    fn what_others_do_after_the_end_is_left_out() {
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
    fn more_is_kept_when_nothing_moves() {
        let mut rings = WrittenRings::new();
        let mut merger =
            LogicalMerger { waiting_least: 8, waiting_max: 8, ..LogicalMerger::new(1) };
        rings.block(0, 0);
        rings.refer(1, 32);
        assert_eq!(merged(&rings, &mut merger, false), "");
        rings.written[1] = 0;
        rings.refer(1, 1);
        for _ in 0..12 * PASSES_MAX {
            assert_eq!(merged(&rings, &mut merger, false), "");
        }
        assert_eq!(merger.streams[1].records.len(), 33);
    }
}
