//! Finds what processes wait for before the trace shows it.
//!
//! A trace has a join, the continuation of a wait, and the end and creation of a process at the
//! time when they are over. A simulation that does not know that a process is only waiting needs
//! its next operation, which may be at the end of the trace: everything before would have to be
//! kept. So a first pass over the order of rows and events finds the waits.

use std::collections::VecDeque;

use homenode_trace::{BatchPart, ChunkOutline, Event, EventKind, ThreadTurn};
use rustc_hash::FxHashMap;

use super::events::makes_operation;
use super::generations::ProcessGenerations;

/// A join that a process will execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeseenJoin {
    /// Rows of the trace after which the process does nothing else before the join.
    pub(super) after: u64,
    /// The process that it waits for.
    pub(super) child: u16,
    /// The generation of the child that has to end.
    pub(super) generation: u32,
}

/// A wait for a condition, after the release of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeseenWait {
    /// Rows of the trace after which the process does nothing else before the wait ends.
    pub(super) after: u64,
    /// Wakes in the trace before the process continues.
    pub(super) wakes: u32,
}

/// A process in the middle of a wait for a condition.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    addr: u64,
    /// The row of the lock's release; `None` before it.
    after: Option<u64>,
}

/// The future waits and the end of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessForecast {
    /// Rows of the trace after which the process has neither rows nor events.
    pub(super) last: u64,
    pub(super) joins: VecDeque<ForeseenJoin>,
    /// The end of each wait for a condition or semaphore, if known.
    pub(super) waits: VecDeque<Option<ForeseenWait>>,
    /// For each exit, whether the process is created again before it does anything.
    pub(super) created_again: VecDeque<bool>,
    /// Whether its creation comes before anything else of it in the trace.
    pub(super) created_first: bool,
    /// Whether the trace has had a row or event of it so far.
    seen: bool,
    waiting: Option<Waiting>,
    /// Whether it has ended and done nothing since.
    over: bool,
}

/// The forecast of all processes, from the outlines of all chunks in order.
#[derive(Debug)]
pub struct StreamForecast {
    /// Whether the trace is of a whole system, whose processors do not wait for each other.
    system: bool,
    rows: u64,
    generations: ProcessGenerations,
    /// Wakes of each condition so far.
    wakes: FxHashMap<u64, u32>,
    pub(super) processes: Vec<ProcessForecast>,
}

impl StreamForecast {
    /// For a number of processes, or of processors of a whole system.
    #[must_use]
    pub fn new(processes: usize, system: bool) -> Self {
        Self {
            system,
            rows: 0,
            generations: ProcessGenerations::new(processes),
            wakes: FxHashMap::default(),
            processes: vec![ProcessForecast::default(); processes],
        }
    }

    /// Adds the next chunk.
    pub fn add(&mut self, outline: &ChunkOutline) {
        if self.system {
            self.rows += outline.turns.rows() as u64;
            for turn in outline.turns.iter() {
                if let Some(process) = self.processes.get_mut(usize::from(turn.thread)) {
                    process.last = self.rows;
                }
            }
            return;
        }
        for part in outline.turns.with_events(&outline.events) {
            match part {
                BatchPart::Event(event) => self.event(event),
                BatchPart::Turn(ThreadTurn { thread, rows }) => {
                    self.rows += rows.len() as u64;
                    self.act(usize::from(thread), self.rows);
                }
            }
        }
    }

    /// A process does something that lies within the first `rows` rows.
    fn act(&mut self, process: usize, rows: u64) {
        let Some(process) = self.processes.get_mut(process) else { return };
        process.last = process.last.max(rows);
        process.seen = true;
        if std::mem::take(&mut process.over) {
            process.created_again.push_back(false);
        }
        // A reference before the lock is released may belong to the release: the wait goes on.
        if let Some(Waiting { addr, after: Some(after) }) = process.waiting {
            let wakes = self.wakes.get(&addr).copied().unwrap_or(0);
            process.waits.push_back(Some(ForeseenWait { after, wakes }));
            process.waiting = None;
        }
    }

    fn event(&mut self, event: &Event) {
        let process = usize::from(event.thread);
        let after = self.rows + 1;
        let before = self.processes.get(process).map_or(0, |process| process.last);
        if makes_operation(&event.what) {
            self.act(process, after);
        }
        if let Some(process) = self.processes.get_mut(process) {
            process.seen = true;
        }
        match event.what {
            EventKind::ThreadJoin { child } => {
                self.end(usize::from(child), after);
                let generation = self.generations.current(usize::from(child));
                let join = ForeseenJoin { after: before, child, generation };
                if let Some(process) = self.processes.get_mut(process) {
                    process.joins.push_back(join);
                }
            }
            EventKind::ThreadExit => self.end(process, after),
            EventKind::ThreadCreate { child } => {
                let child = usize::from(child);
                let again = self.generations.create(child);
                if let Some(child) = self.processes.get_mut(child) {
                    child.last = child.last.max(after);
                    child.created_first |= !std::mem::replace(&mut child.seen, true);
                    if std::mem::take(&mut child.over) {
                        child.created_again.push_back(again);
                    }
                }
            }
            EventKind::ConditionWake { addr } => *self.wakes.entry(addr).or_default() += 1,
            EventKind::ConditionWait { addr } => {
                if let Some(process) = self.processes.get_mut(process) {
                    process.last = process.last.max(after);
                    let before = process.waiting.replace(Waiting { addr, after: None });
                    before.into_iter().for_each(|_| process.waits.push_back(None));
                }
            }
            EventKind::LockRelease { .. } => {
                let process = self.processes.get_mut(process);
                if let Some(waiting) = process.and_then(|process| process.waiting.as_mut()) {
                    waiting.after = Some(after);
                }
            }
            EventKind::ThreadStart { .. }
            | EventKind::LockAcquire { .. }
            | EventKind::BarrierEnter { .. }
            | EventKind::BarrierLeave { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::Unmap { .. }
            | EventKind::SyscallEnter { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Fork { .. }
            | EventKind::InitDone
            | EventKind::Phase { .. }
            | EventKind::Marker { .. } => {}
        }
    }

    fn end(&mut self, process: usize, after: u64) {
        if self.generations.end(process)
            && let Some(process) = self.processes.get_mut(process)
        {
            process.last = process.last.max(after);
            (process.over, process.seen) = (true, true);
        }
    }
}
