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
use crate::wire::{ORDERED_BIT, SYNC_BIT, WITHIN_BIT, at, is_transfer};

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
                let marks = if is_transfer(first) { 0 } else { 1 << ORDERED_BIT | 1 << WITHIN_BIT };
                Some(DecodedItem::Access(access([first & !marks, second])))
            }
            None => stream.take_event(),
        };
        let Some(mut found) = found else { return };
        if let DecodedItem::Event(_, EventKind::Fork { pid }) = &mut found {
            self.forks += 1;
            *pid = self.forks;
        }
        // An atomic operation that synchronises nothing does not race either.
        let may_race = |first: u64| first >> SYNC_BIT & 1 != 0 || is_transfer(first);
        if words.is_none_or(|[first, _]| may_race(first)) {
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
mod tests;
