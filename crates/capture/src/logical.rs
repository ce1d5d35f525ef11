//! Merges the rings of logical order by the clocks of their threads.
//!
//! A thread's clock counts its references. Threads take turns of a quantum of their clocks, and
//! operations that affect other threads happened in the order of these turns, ties by thread
//! number. So the order of turns is a legal one, down to a quantum of a single reference.
//!
//! The next item is decided only when no thread can still write an earlier one: a thread that runs
//! holds the others back at its last record that has been read, a blocked one does not. The runtime
//! keeps the thread's state in its ring's line; the waker of a thread updates it before it writes
//! its next record.

use homenode_trace::EventKind;

use crate::area::SharedArea;
use crate::decode::access;
use crate::item::{DecodedItem, ItemSink};
use crate::races::RaceDetector;
use crate::thread_stream::{NextStep, ThreadStream};
use crate::wire::{ORDERED_BIT, SYNC_BIT, at};

/// Records of a thread that may wait for others before its ring is left full.
const WAITING_MAX: usize = 1 << 17;
/// Rounds without progress after which more records may wait: a thread that is not seen to be
/// blocked may wait for one whose ring is full.
const PASSES_MAX: u32 = 25;
/// References that are passed on together: few enough to stay in the first-level cache.
const BATCH: usize = 512;

/// When the program ended: its last turn, and the stream of the thread that ended it.
#[derive(Clone, Copy, Debug)]
struct ProgramEnd {
    turn: u64,
    stream: usize,
}

/// Merges the rings, and looks for races in the result.
#[derive(Debug, Default)]
pub struct LogicalMerger {
    quantum: u64,
    streams: Vec<ThreadStream>,
    steps: Vec<NextStep>,
    /// Each stream's place in the order of turns; `u64::MAX` if it has nothing to merge.
    places: Vec<u64>,
    /// Streams that have the turns in [`Self::merge_turns`].
    takers: Vec<usize>,
    /// Plain references that have been merged and not passed on.
    batch: Vec<[u64; 2]>,
    races: RaceDetector,
    forks: u32,
    waiting_least: usize,
    waiting_max: usize,
    passes: u32,
}

impl LogicalMerger {
    /// A merger for turns of `quantum` references.
    #[must_use]
    pub fn new(quantum: u32) -> Self {
        Self {
            quantum: quantum.max(1).into(),
            waiting_least: WAITING_MAX,
            waiting_max: WAITING_MAX,
            ..Self::default()
        }
    }

    /// The races found until now.
    pub fn races(&self) -> &RaceDetector {
        &self.races
    }

    /// Reads all rings once, and merges as far as the order is known; with `all`, nothing more
    /// will be written. Returns the number of records read plus items merged.
    pub fn drain(&mut self, area: &SharedArea, all: bool, sink: &mut impl ItemSink) -> usize {
        self.meet(area);
        let before: Vec<_> = self.streams.iter().map(|stream| area.floor(stream.ring())).collect();
        let mut done = 0;
        for stream in &mut self.streams {
            done += stream.read(area, all, self.waiting_max);
        }
        // Nothing has been read of threads that are new since.
        self.meet(area);
        for (stream, before) in self.streams.iter_mut().zip(before) {
            let after = area.floor(stream.ring());
            stream.set_floor((after == before && after.0 != 0).then_some(after.0));
        }
        let end = match area.get(at::ENDED_BY) {
            0 => None,
            thread => Some(ProgramEnd {
                turn: area.get64(at::ENDS_AT) / self.quantum,
                stream: thread as usize - 1,
            }),
        };
        done += self.merge(all, end, sink);
        self.make_room(done);
        done
    }

    fn meet(&mut self, area: &SharedArea) {
        for ring in u32::try_from(self.streams.len()).unwrap_or(u32::MAX)..area.rings_used() {
            self.streams.push(ThreadStream::new(ring));
        }
    }

    /// Makes more room after rounds without progress: a thread whose ring is full may be what a
    /// thread waits for that is not seen to be blocked, and that the recorder waits for.
    fn make_room(&mut self, done: usize) {
        self.passes = if done == 0 { self.passes + 1 } else { 0 };
        if self.passes > PASSES_MAX {
            self.passes = 0;
            if self.streams.iter().any(|stream| stream.waiting() >= self.waiting_max) {
                self.waiting_max += self.waiting_least;
            }
        }
    }

    /// Merges until the next item is not known yet.
    fn merge(&mut self, all: bool, end: Option<ProgramEnd>, sink: &mut impl ItemSink) -> usize {
        let mut done = 0;
        let known = self.streams.len();
        self.steps.resize(known, NextStep::Nothing);
        self.places.resize(known, u64::MAX);
        for place in 0..known {
            self.step(place, all, end);
        }
        'merging: while let Some(place) = least(&self.places) {
            let turns = self.common_turns(place, end);
            if turns > 0 {
                done += self.merge_turns(turns, sink);
                for at in 0..self.takers.len() {
                    self.step(self.takers[at], all, end);
                }
                continue;
            }
            let turn = self.places[place];
            while self.places[place] == turn {
                match self.steps[place] {
                    NextStep::Unknown | NextStep::Nothing => break 'merging,
                    NextStep::Reference => {
                        let references = self.streams[place].take_turn();
                        self.batch.extend_from_slice(references);
                        done += references.len();
                        self.pass_full_batch(sink);
                    }
                    NextStep::Operation => {
                        self.operation(place, sink);
                        done += 1;
                    }
                }
                self.step(place, all, end);
            }
        }
        self.pass_batch(sink);
        done
    }

    /// The number of next turns that are known to consist of plain references. Sets `takers` to the
    /// streams that have these turns; `first` is the first of them.
    fn common_turns(&mut self, first: usize, end: Option<ProgramEnd>) -> u64 {
        let turn = self.streams[first].turn();
        let mut turns = end.map_or(u64::MAX, |end| end.turn.saturating_sub(turn));
        self.takers.clear();
        for (place, stream) in self.streams.iter_mut().enumerate() {
            if self.places[place] == u64::MAX {
                continue;
            }
            let most = match (stream.turn() - turn, self.steps[place]) {
                (0, NextStep::Reference) => {
                    self.takers.push(place);
                    stream.whole_turns(self.quantum)
                }
                (behind, _) => behind,
            };
            turns = turns.min(most);
            if turns == 0 {
                break;
            }
        }
        turns
    }

    /// Merges turns of the `takers`; returns the number of references.
    fn merge_turns(&mut self, turns: u64, sink: &mut impl ItemSink) -> usize {
        let takers = self.takers.len();
        let quantum = usize::try_from(self.quantum).unwrap_or(usize::MAX);
        let most = (BATCH / takers / quantum).max(1) as u64;
        let mut left = turns;
        while left > 0 {
            let now = left.min(most);
            left -= now;
            let begin = self.batch.len();
            let count = usize::try_from(now).unwrap_or(0) * takers * quantum;
            self.batch.resize(begin + count, [0; 2]);
            for (first, &place) in self.takers.iter().enumerate() {
                let records = self.streams[place].take_whole_turns(now, self.quantum);
                scatter(records, quantum, &mut self.batch[begin..], first, takers);
            }
            self.pass_full_batch(sink);
        }
        usize::try_from(turns).unwrap_or(0) * takers * quantum
    }

    #[inline]
    fn pass_full_batch(&mut self, sink: &mut impl ItemSink) {
        if self.batch.len() >= BATCH {
            self.pass_batch(sink);
        }
    }

    /// Passes the plain references that have been merged on to the race detector and the sink.
    #[inline(never)]
    fn pass_batch(&mut self, sink: &mut impl ItemSink) {
        self.races.take_plain(&self.batch);
        sink.accesses(&self.batch);
        self.batch.clear();
    }

    #[inline]
    fn step(&mut self, place: usize, all: bool, end: Option<ProgramEnd>) {
        let stream = &mut self.streams[place];
        let mut step = stream.look(all, self.quantum);
        // What other threads did after the program had ended is not part of it.
        if let Some(end) = end
            && end.stream != place
            && (stream.turn(), place) > (end.turn, end.stream)
        {
            step = NextStep::Nothing;
        }
        self.steps[place] = step;
        self.places[place] = if step == NextStep::Nothing { u64::MAX } else { stream.place() };
    }

    fn operation(&mut self, place: usize, sink: &mut impl ItemSink) {
        self.pass_batch(sink);
        let stream = &mut self.streams[place];
        let words = stream.take_reference();
        let found = match words {
            Some([first, second]) => {
                Some(DecodedItem::Access(access([first & !(1 << ORDERED_BIT), second])))
            }
            None => stream.take_event(),
        };
        let Some(mut found) = found else { return };
        if let DecodedItem::Event(_, EventKind::Fork { pid }) = &mut found {
            self.forks += 1;
            *pid = self.forks;
        }
        // An atomic operation that synchronises nothing does not race either.
        if words.is_none_or(|[first, _]| first >> SYNC_BIT & 1 != 0) {
            self.races.take(&found);
        }
        sink.item(found);
    }
}

/// Copies the turns of one thread to their places among those of all: from turn `first` on, every
/// `takers`-th turn.
#[inline]
fn scatter(
    records: &[[u64; 2]],
    quantum: usize,
    merged: &mut [[u64; 2]],
    first: usize,
    takers: usize,
) {
    if quantum == 1 {
        let places = merged[first..].iter_mut().step_by(takers);
        places.zip(records).for_each(|(place, words)| *place = *words);
        return;
    }
    let places = merged.chunks_exact_mut(quantum).skip(first).step_by(takers);
    places.zip(records.chunks_exact(quantum)).for_each(|(place, turn)| place.copy_from_slice(turn));
}

/// The stream with the least place; the low bits of a place are the stream's number.
fn least(places: &[u64]) -> Option<usize> {
    let least = places.iter().copied().min().filter(|least| *least != u64::MAX)?;
    usize::try_from(least & 0xffff).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::RingGeometry;
    use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, SIZE_SHIFT, THREAD_SHIFT, code};
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
        assert_eq!(merger.streams[1].waiting(), 33);
    }

    #[test]
    fn records_that_were_merged_do_not_count_as_waiting() {
        let mut rings = WrittenRings::new();
        let mut merger =
            LogicalMerger { waiting_least: 8, waiting_max: 16, ..LogicalMerger::new(1) };
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
}
