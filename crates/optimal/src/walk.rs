//! A placement found by the recurrence, replayed change by change.

use homenode_base::ProcId;
use homenode_placement::Run;

use crate::copy_plan::{CopyPlan, DividedReads, PlanPrices, ReadSegment};
use crate::cycles::{WriteCycles, steps};
use crate::general::{Choice, Solution};
use crate::place_costs::ProcIndex;
use crate::wide::RecurrenceValue;

/// Receives the places of a block, in order.
pub(crate) trait PlaceSink {
    /// From this reference of the history on the block is at these processors, ascending, and, if
    /// `global` is set, in global memory. Successive calls may repeat the places or the reference;
    /// the last for a reference counts.
    fn set(&mut self, reference: u64, places: &[ProcId], global: bool);
}

/// A change within a read-run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReadRunEvent {
    AddGlobal,
    AddCopy(ProcIndex),
    DropGlobal,
}

/// Replays a solution and hands every change of place to a sink.
pub(crate) struct SolutionWalk<'a, S> {
    pub(crate) prices: &'a PlanPrices,
    pub(crate) active: &'a [ProcId],
    pub(crate) sink: &'a mut S,
    segments: Vec<ReadSegment>,
    events: Vec<(u64, ReadRunEvent)>,
    /// Each reader, the position of its first read, and its reads.
    readers: Vec<(ProcIndex, u64, DividedReads)>,
    /// By processor index, the position in `readers`; one past the end or another's if it reads
    /// nothing.
    known: Vec<usize>,
    places: Vec<ProcId>,
    global: bool,
}

impl<'a, S: PlaceSink> SolutionWalk<'a, S> {
    pub(crate) fn new(prices: &'a PlanPrices, active: &'a [ProcId], sink: &'a mut S) -> Self {
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

    pub(crate) fn run(
        mut self,
        runs: &[Run],
        solution: &Solution,
        proc_of: impl Fn(ProcId) -> ProcIndex,
    ) {
        let mut path = solution.path.iter().copied();
        let Some(mut here) = path.next() else { return };
        self.only(0, here.start);
        let mut position = 0;
        for &run in runs {
            let proc = proc_of(run.processor());
            for step in steps(run, self.prices.splits()) {
                if step.writes > 0 {
                    let next = path.next().unwrap_or(here);
                    self.reads(position, here, Some(next.start));
                    self.writes(position, proc, step, next.start);
                    self.segments.clear();
                    here = next;
                }
                position += (step.writes + step.reads) * step.repeats;
                self.read(proc, step.reads);
            }
        }
        self.reads(position, here, None);
    }

    /// The block is at one place only.
    fn only(&mut self, reference: u64, proc: ProcIndex) {
        self.places.clear();
        self.places.extend(self.active.get(usize::from(proc)));
        self.global = self.places.is_empty();
        self.sink.set(reference, &self.places, self.global);
    }

    fn add(&mut self, proc: ProcIndex) {
        let Some(&processor) = self.active.get(usize::from(proc)) else { return };
        if let Err(at) = self.places.binary_search(&processor) {
            self.places.insert(at, processor);
        }
    }

    fn read(&mut self, proc: ProcIndex, reads: u64) {
        let at = self.segments.last().map_or(0, |s| s.at + s.reads);
        match self.segments.last_mut() {
            _ if reads == 0 => {}
            Some(last) if last.proc == proc => last.reads += reads,
            Some(_) | None => self.segments.push(ReadSegment { proc, at, reads }),
        }
    }

    /// The reads that end before this position of the history, and the place at the write there.
    fn reads(&mut self, end_at: u64, choice: Choice, end: Option<ProcIndex>) {
        let reads = self.segments.last().map_or(0, |s| s.at + s.reads);
        self.events.clear();
        self.global_copy(choice.plan, reads);
        self.copies(choice, end);
        // A change that a plan makes at the end of the reads belongs to the write there.
        self.events.retain(|e| e.0 < reads);
        self.events.sort_unstable();
        for i in 0..self.events.len() {
            let (at, event) = self.events[i];
            match event {
                ReadRunEvent::AddGlobal => self.global = true,
                ReadRunEvent::DropGlobal => self.global = false,
                ReadRunEvent::AddCopy(proc) => self.add(proc),
            }
            if self.events.get(i + 1).is_none_or(|next| next.0 > at) {
                self.sink.set(end_at - reads + at, &self.places, self.global);
            }
        }
    }

    fn global_copy(&mut self, plan: CopyPlan, reads: u64) {
        let events: &[(u64, ReadRunEvent)] = &match plan {
            CopyPlan::NoGlobal | CopyPlan::KeepGlobal => [(reads, ReadRunEvent::AddGlobal); 2],
            CopyPlan::AddGlobal => [(0, ReadRunEvent::AddGlobal), (reads, ReadRunEvent::AddGlobal)],
            CopyPlan::AddGlobalLate => {
                [(1, ReadRunEvent::AddGlobal), (reads, ReadRunEvent::AddGlobal)]
            }
            CopyPlan::AddGlobalUntil(at) => {
                [(0, ReadRunEvent::AddGlobal), (at, ReadRunEvent::DropGlobal)]
            }
            CopyPlan::KeepGlobalUntil(at) => {
                [(at, ReadRunEvent::DropGlobal), (reads, ReadRunEvent::AddGlobal)]
            }
            CopyPlan::KeepGlobalExcept(at) => {
                [(at, ReadRunEvent::DropGlobal), (at + 2, ReadRunEvent::AddGlobal)]
            }
            CopyPlan::GlobalAt(at) => {
                [(at, ReadRunEvent::AddGlobal), (at + 1, ReadRunEvent::DropGlobal)]
            }
        };
        self.events.extend(events);
    }

    /// Finds the readers, with their reads divided at position `at`; `others`, the ending place and
    /// the holder, are among them even if they read nothing.
    fn divide_reads(&mut self, at: u64, others: [Option<ProcIndex>; 2]) {
        self.readers.clear();
        let segments = self.segments.iter().map(|s| (s.proc, s.at, s.reads));
        let others = others.into_iter().flatten().map(|proc| (proc, u64::MAX, 0));
        for (proc, first, reads) in segments.chain(others) {
            let Some(known) = self.known.get_mut(usize::from(proc)) else { continue };
            if self.readers.get(*known).is_none_or(|r| r.0 != proc) {
                *known = self.readers.len();
                let view =
                    DividedReads { first: self.readers.is_empty(), ..DividedReads::default() };
                self.readers.push((proc, first, view));
            }
            let view = &mut self.readers[*known].2;
            view.reads += reads;
            view.before += at.saturating_sub(first).min(reads);
            let has = |at: u64| reads > 0 && (first..first + reads).contains(&at);
            view.at = [view.at[0] || has(at), view.at[1] || has(at + 1)];
        }
    }

    /// Copies by the first read that uses them, where their price allows.
    fn copies(&mut self, choice: Choice, end: Option<ProcIndex>) {
        let at = choice.plan.position();
        let holder = choice.plan.needs_holder().then_some(choice.holder);
        self.divide_reads(at, [end, holder]);
        for &(proc, first, view) in &self.readers {
            let extra = self.prices.extra(choice.plan, view);
            let early = Some(proc) == holder;
            let pays = view.reads > 0 && extra.free == extra.held;
            if proc == choice.start || !(early || pays || Some(proc) == end) {
                continue;
            }
            let global_price = early || self.prices.at_global_price(choice.plan, view);
            let when = match choice.plan {
                CopyPlan::NoGlobal | CopyPlan::AddGlobal | CopyPlan::KeepGlobal => first,
                CopyPlan::AddGlobalLate => 0,
                CopyPlan::GlobalAt(_) => {
                    if global_price {
                        at
                    } else {
                        first
                    }
                }
                CopyPlan::AddGlobalUntil(_)
                | CopyPlan::KeepGlobalUntil(_)
                | CopyPlan::KeepGlobalExcept(_) => {
                    if global_price {
                        first.min(at)
                    } else {
                        at + 1
                    }
                }
            };
            self.events.push((when, ReadRunEvent::AddCopy(proc)));
        }
    }

    /// Writes, and repetitions of reads and writes, by one processor.
    fn writes(&mut self, at: u64, writer: ProcIndex, step: WriteCycles, home: ProcIndex) {
        self.only(at, home);
        if writer == home {
            return;
        }
        let in_global = self.global;
        let (_, joins) = self.prices.reads_between_writes(step.reads);
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
