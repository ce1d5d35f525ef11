//! A placement found by the recurrence, spelled out change by change.

use homenode_base::ProcId;
use homenode_placement::Run;

use crate::cycles::{Cycles, steps};
use crate::general::{Choice, Solution};
use crate::lanes::Lane;
use crate::way::{Segment, View, Way, WayPrices};
use crate::wide::Value;

/// Receives the places of a block, in order.
pub(crate) trait Sink {
    /// From this reference of the history on the block is at these processors, ascending, and, if
    /// so said, in global memory. Successive calls may repeat the places or the reference; the last
    /// for a reference counts.
    fn set(&mut self, reference: u64, places: &[ProcId], global: bool);
}

/// A change within a read-run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Join,
    Copy(Lane),
    Drop,
}

/// Walks a solution.
pub(crate) struct Walk<'a, S> {
    pub(crate) prices: &'a WayPrices,
    /// Processors that refer to the block, ascending.
    pub(crate) active: &'a [ProcId],
    pub(crate) sink: &'a mut S,
    segments: Vec<Segment>,
    events: Vec<(u64, Event)>,
    /// Who reads, the position of the first read, and all of them.
    readers: Vec<(Lane, u64, View)>,
    /// By lane, the position in `readers`; one past the end or another's if it reads nothing.
    known: Vec<usize>,
    places: Vec<ProcId>,
    global: bool,
}

impl<'a, S: Sink> Walk<'a, S> {
    pub(crate) fn new(prices: &'a WayPrices, active: &'a [ProcId], sink: &'a mut S) -> Self {
        Self {
            prices,
            active,
            sink,
            segments: Vec::new(),
            events: Vec::new(),
            readers: Vec::new(),
            known: vec![0; active.len()],
            places: Vec::new(),
            global: false,
        }
    }

    /// Tells the sink every change.
    pub(crate) fn run(
        mut self,
        runs: &[Run],
        solution: &Solution,
        lane_of: impl Fn(ProcId) -> Lane,
    ) {
        let mut path = solution.path.iter().copied();
        let Some(mut here) = path.next() else { return };
        self.only(0, here.start);
        let mut position = 0;
        for &run in runs {
            let lane = lane_of(run.processor());
            for step in steps(run, self.prices.splits()) {
                if step.writes > 0 {
                    let next = path.next().unwrap_or(here);
                    self.reads(position, here, Some(next.start));
                    self.writes(position, (lane, step), next.start);
                    self.segments.clear();
                    here = next;
                }
                position += (step.writes + step.reads) * step.repeats;
                self.read(lane, step.reads);
            }
        }
        self.reads(position, here, None);
    }

    /// The block is at one place only.
    fn only(&mut self, reference: u64, lane: Lane) {
        self.places.clear();
        self.places.extend(self.active.get(usize::from(lane)));
        self.global = self.places.is_empty();
        self.sink.set(reference, &self.places, self.global);
    }

    fn add(&mut self, lane: Lane) {
        let Some(&processor) = self.active.get(usize::from(lane)) else { return };
        if let Err(at) = self.places.binary_search(&processor) {
            self.places.insert(at, processor);
        }
    }

    fn read(&mut self, lane: Lane, reads: u64) {
        let at = self.segments.last().map_or(0, |s| s.at + s.reads);
        match self.segments.last_mut() {
            _ if reads == 0 => {}
            Some(last) if last.lane == lane => last.reads += reads,
            Some(_) | None => self.segments.push(Segment { lane, at, reads }),
        }
    }

    /// The reads that end before this position of the history, and the place at the write there.
    fn reads(&mut self, end_at: u64, choice: Choice, end: Option<Lane>) {
        let reads = self.segments.last().map_or(0, |s| s.at + s.reads);
        self.events.clear();
        self.global_copy(choice.way, reads);
        self.copies(choice, end);
        self.events.retain(|e| e.0 < reads);
        self.events.sort_unstable();
        for i in 0..self.events.len() {
            let (at, event) = self.events[i];
            match event {
                Event::Join => self.global = true,
                Event::Drop => self.global = false,
                Event::Copy(lane) => self.add(lane),
            }
            if self.events.get(i + 1).is_none_or(|next| next.0 > at) {
                self.sink.set(end_at - reads + at, &self.places, self.global);
            }
        }
    }

    fn global_copy(&mut self, way: Way, reads: u64) {
        let events: &[(u64, Event)] = &match way {
            Way::Remote | Way::Global => [(reads, Event::Join); 2],
            Way::Joined => [(0, Event::Join), (reads, Event::Join)],
            Way::Late => [(1, Event::Join), (reads, Event::Join)],
            Way::JoinedUntil(at) => [(0, Event::Join), (at, Event::Drop)],
            Way::Until(at) => [(at, Event::Drop), (reads, Event::Join)],
            Way::Except(at) => [(at, Event::Drop), (at + 2, Event::Join)],
            Way::Stage(at) => [(at, Event::Join), (at + 1, Event::Drop)],
        };
        self.events.extend(events);
    }

    /// Finds the readers as a way sees them, and the end and the witness if they read nothing.
    fn meet(&mut self, at: u64, others: [Option<Lane>; 2]) {
        self.readers.clear();
        let segments = self.segments.iter().map(|s| (s.lane, s.at, s.reads));
        let others = others.into_iter().flatten().map(|lane| (lane, u64::MAX, 0));
        for (lane, first, reads) in segments.chain(others) {
            let Some(known) = self.known.get_mut(usize::from(lane)) else { continue };
            if self.readers.get(*known).is_none_or(|r| r.0 != lane) {
                *known = self.readers.len();
                let view = View { first: self.readers.is_empty(), ..View::default() };
                self.readers.push((lane, first, view));
            }
            let view = &mut self.readers[*known].2;
            view.reads += reads;
            view.before += at.saturating_sub(first).min(reads);
            let has = |at: u64| reads > 0 && (first..first + reads).contains(&at);
            view.at = [view.at[0] || has(at), view.at[1] || has(at + 1)];
        }
    }

    /// Copies by the first read that uses them, where their price allows.
    fn copies(&mut self, choice: Choice, end: Option<Lane>) {
        let at = choice.way.position();
        let witness = choice.way.needs_witness().then_some(choice.witness);
        self.meet(at, [end, witness]);
        for &(lane, first, view) in &self.readers {
            let extra = self.prices.extra(choice.way, view);
            let early = Some(lane) == witness;
            let pays = view.reads > 0 && extra.free == extra.held;
            if lane == choice.start || !(early || pays || Some(lane) == end) {
                continue;
            }
            let global_price = early || self.prices.at_global_price(choice.way, view);
            let when = match choice.way {
                Way::Remote | Way::Joined | Way::Global => first,
                Way::Late => 0,
                Way::Stage(_) => {
                    if global_price {
                        at
                    } else {
                        first
                    }
                }
                Way::JoinedUntil(_) | Way::Until(_) | Way::Except(_) => {
                    if global_price {
                        first.min(at)
                    } else {
                        at + 1
                    }
                }
            };
            self.events.push((when, Event::Copy(lane)));
        }
    }

    /// Writes, and repetitions of reads and writes, by one processor.
    fn writes(&mut self, at: u64, (writer, step): (Lane, Cycles), home: Lane) {
        self.only(at, home);
        if writer == home {
            return;
        }
        let in_global = self.global;
        let (_, joins) = self.prices.visit(step.reads);
        let joins = joins && !in_global;
        let (each, moved) = if in_global || joins {
            (self.prices.global, self.prices.global_move)
        } else {
            (self.prices.remote, self.prices.remote_move)
        };
        let copies = step.reads > 0 && moved < each.times(step.reads);
        if !joins && !copies {
            return;
        }
        let length = step.writes + step.reads;
        for again in 1..step.repeats {
            self.global = in_global || joins;
            if copies {
                self.add(writer);
            }
            self.sink.set(at + again * length - step.reads, &self.places, self.global);
            self.only(at + again * length, home);
        }
    }
}
