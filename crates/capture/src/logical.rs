//! Merges the rings of logical order by the clocks of their threads.
//!
//! A thread's clock counts its references; operations that affect other threads happened in the order
//! of (clock, thread). With a quantum of one so are all references merged. With a larger one
//! threads take turns of that many references of their clocks, as long as their operations stay
//! in order: one that is not the first of all threads yet ends the turn. What the program does
//! does not depend on the quantum.
//!
//! What comes next is decided only when no thread can still write something earlier: a thread that
//! runs holds the others back at its last record that has been read, a blocked one does not. The
//! runtime says in a ring's line which it is; who wakes a thread says so before it writes on.

use std::collections::VecDeque;

use homenode_trace::EventKind;

use crate::area::SharedArea;
use crate::decode::{DecodedItem, Decoder};
use crate::races::RaceDetector;
use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, ORDERED_BIT, SYNC_BIT, at, code};

/// Records of a thread that are kept waiting for the others before its ring is left full.
const WAITING_MAX: usize = 1 << 17;
/// Passes without progress after which more are kept: somebody waits unseen for room in a ring.
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
    ring: u32,
    next: usize,
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
        let (next, clock, turn, turn_end) = (0, 0, 0, 0);
        let records = VecDeque::new();
        Self {
            ring,
            next,
            records,
            decoder: Decoder::default(),
            clock,
            floor: None,
            turn,
            turn_end,
        }
    }

    /// Reads what has been written, at most one revolution; returns the number of records.
    fn read(&mut self, area: &SharedArea) -> usize {
        let block = area.geometry().block_records as usize;
        let size = area.geometry().ring_records();
        let mut taken = 0;
        while taken < size {
            let Some(words) = area.take(self.ring, self.next) else { break };
            self.records.push_back(words);
            taken += 1;
            self.next += 1;
            if self.next.is_multiple_of(block) {
                area.give_back(self.ring);
                self.next %= size;
            }
        }
        taken
    }

    /// What it does next; brings its clock there.
    fn look(&mut self, (all, quantum): (bool, u64)) -> NextStep {
        let step = self.peek(all);
        if self.clock >= self.turn_end || self.clock < self.turn_end - quantum {
            self.turn = self.clock / quantum;
            self.turn_end = (self.turn + 1).saturating_mul(quantum);
        }
        step
    }

    fn peek(&mut self, all: bool) -> NextStep {
        let missing = if all { NextStep::Nothing } else { NextStep::Unknown };
        let Some(&[first, _]) = self.records.front() else {
            let Some(floor) = self.floor else { return missing };
            if all || floor == u64::MAX {
                return NextStep::Nothing;
            }
            self.clock = self.clock.max(floor);
            return NextStep::Unknown;
        };
        if first >> EVENT_BIT == 0 {
            let operation = first & OPERATION != 0;
            return if operation { NextStep::Operation } else { NextStep::Reference };
        }
        if self.records.len() <= usize::from(byte(first >> EXTRA_SHIFT)) {
            return missing;
        }
        if byte(first >> CODE_SHIFT) & 0x7f == code::CLOCK
            && let Some(&[clock, _]) = self.records.get(1)
        {
            self.clock = clock & !(1 << EVENT_BIT);
        }
        NextStep::Operation
    }

    /// Takes the next item, of which all records are there; whether it was an ordered reference that
    /// the trace does not call a synchronisation.
    fn take(&mut self) -> (Option<DecodedItem>, bool) {
        let mut item = None;
        let mut relaxed = false;
        while item.is_none() {
            let Some(mut words) = self.records.pop_front() else { break };
            if words[0] >> EVENT_BIT == 0 {
                relaxed = words[0] & OPERATION == 1 << ORDERED_BIT;
                words[0] &= !(1 << ORDERED_BIT);
                self.clock += 1;
            }
            item = self.decoder.take(words);
        }
        (item, relaxed)
    }

    /// Its place in the order of clocks.
    fn place(&self) -> u64 {
        self.clock.min((1 << 48) - 1) << 16 | u64::from(self.ring)
    }

    /// Its place in the order of turns.
    fn turn_place(&self) -> u64 {
        self.turn.min((1 << 48) - 1) << 16 | u64::from(self.ring)
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
    /// Whose turn has begun, and which it is.
    current: Option<(usize, u64)>,
    races: RaceDetector,
    forks: u32,
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
            current: None,
            races: RaceDetector::default(),
            forks: 0,
            waiting_max: WAITING_MAX,
            passes: 0,
        }
    }

    /// The races found until now.
    pub fn races(&self) -> &RaceDetector {
        &self.races
    }

    /// Reads all rings once, and merges as far as the order is known; with `all`, nothing more will be
    /// written. Returns how many records were read and items merged.
    pub fn drain(
        &mut self,
        area: &SharedArea,
        all: bool,
        mut item: impl FnMut(DecodedItem),
    ) -> usize {
        self.meet(area);
        let before: Vec<_> = self.streams.iter().map(|stream| area.floor(stream.ring)).collect();
        let mut done = 0;
        for stream in &mut self.streams {
            if all || stream.records.len() < self.waiting_max {
                done += stream.read(area);
            }
        }
        // A thread that is new since then has written nothing that was read.
        self.meet(area);
        for (stream, before) in self.streams.iter_mut().zip(before) {
            let after = area.floor(stream.ring);
            stream.floor = (after == before && after.0 != 0).then_some(after.0);
        }
        let end = match area.get(at::ENDED_BY) {
            0 => None,
            thread => Some((area.get64(at::ENDS_AT), thread as usize - 1)),
        };
        done += self.merge((all, end), &mut item);
        self.mind_room(done);
        done
    }

    fn meet(&mut self, area: &SharedArea) {
        let used = area.get(at::RINGS_USED).min(area.geometry().rings);
        for ring in u32::try_from(self.streams.len()).unwrap_or(u32::MAX)..used {
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
                self.waiting_max *= 2;
            }
        }
    }

    /// Merges until it is unknown what comes next.
    fn merge(
        &mut self,
        (all, end): (bool, Option<(u64, usize)>),
        item: &mut impl FnMut(DecodedItem),
    ) -> usize {
        let mut done = 0;
        self.steps.clear();
        for place in 0..self.streams.len() {
            let step = self.step(place, all, end);
            self.steps.push(step);
        }
        loop {
            let mut begun = self.current.take();
            let Some(place) = begun.map(|(place, _)| place).or_else(|| self.choose()) else {
                break;
            };
            let turn = begun.map_or(self.streams[place].turn, |(_, turn)| turn);
            while self.steps[place] == NextStep::Reference && self.streams[place].turn == turn {
                self.emit(place, item);
                self.steps[place] = self.step(place, all, end);
                begun = Some((place, turn));
                done += 1;
            }
            match self.steps[place] {
                NextStep::Unknown => {
                    self.current = begun;
                    break;
                }
                NextStep::Operation if self.is_first(place) => {
                    self.emit(place, item);
                    self.steps[place] = self.step(place, all, end);
                    done += 1;
                }
                NextStep::Operation | NextStep::Reference | NextStep::Nothing => {}
            }
        }
        done
    }

    fn step(&mut self, place: usize, all: bool, end: Option<(u64, usize)>) -> NextStep {
        let stream = &mut self.streams[place];
        let step = stream.look((all, self.quantum));
        match end {
            // What others did after the program had ended is not part of it.
            Some((clock, by)) if by != place && stream.clock >= clock => NextStep::Nothing,
            _ => step,
        }
    }

    /// Who is next in the order of turns, of those whose next operation may happen; `None` if nobody
    /// does anything more.
    fn choose(&self) -> Option<usize> {
        let mut first: Option<(u64, usize)> = None;
        let mut next: Option<(u64, usize)> = None;
        for (place, (stream, step)) in self.streams.iter().zip(&self.steps).enumerate() {
            if *step == NextStep::Nothing {
                continue;
            }
            let at = (stream.place(), place);
            if first.is_none_or(|other| at < other) {
                first = Some(at);
            }
            let turn = (stream.turn_place(), place);
            if *step != NextStep::Operation && next.is_none_or(|other| turn < other) {
                next = Some(turn);
            }
        }
        let (_, first) = first?;
        let turn = (self.streams[first].turn_place(), first);
        Some(next.map_or(first, |next| if turn < next { first } else { next.1 }))
    }

    /// Whether no thread can do anything before this one's operation.
    fn is_first(&self, place: usize) -> bool {
        let own = self.streams[place].place();
        let mut others = self.streams.iter().zip(&self.steps).enumerate();
        others.all(|(other, (stream, step))| {
            other == place || *step == NextStep::Nothing || own < stream.place()
        })
    }

    fn emit(&mut self, place: usize, item: &mut impl FnMut(DecodedItem)) {
        let (Some(mut found), relaxed) = self.streams[place].take() else { return };
        if let DecodedItem::Event(_, EventKind::Fork { pid }) = &mut found {
            self.forks += 1;
            *pid = self.forks;
        }
        if !relaxed {
            self.races.take(&found);
        }
        item(found);
    }
}
