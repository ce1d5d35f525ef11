//! What processes wait for, known before the trace says so.
//!
//! A trace has a join, the continuation of a wait, and the end and the creation of a process when
//! they are over. A simulation that does not know that a process only waits cannot go on without
//! its next operation, which may be at the end of the trace: all up to there would have to be kept.
//! So that is found beforehand, from the order of rows and events.

use std::collections::VecDeque;

use homenode_trace::{ChunkOutline, Event, EventKind};
use rustc_hash::FxHashMap;

use super::events::makes_operation;
use super::lives::ProcessLives;

/// A process waits for another one's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeseenJoin {
    /// The number of rows of the trace among which all is that the process does before.
    pub(super) after: u64,
    /// The process that it waits for, and the life of it that has to end.
    pub(super) child: u16,
    pub(super) life: u32,
}

/// A process waits for a condition, and has released the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeseenWait {
    /// The number of rows of the trace among which all is that the process does before.
    pub(super) after: u64,
    /// Wakes that the trace has before the process goes on.
    pub(super) wakes: u32,
}

/// A process in the middle of a wait for a condition.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    addr: u64,
    /// Set when the lock is released.
    after: Option<u64>,
}

/// What a process does next, as far as it takes long.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessForecast {
    /// The number of rows among which its last one, or last event, is.
    pub(super) last: u64,
    pub(super) joins: VecDeque<ForeseenJoin>,
    /// For each wait for a condition or semaphore, what is known of its end.
    pub(super) waits: VecDeque<Option<ForeseenWait>>,
    /// For each end of a life, whether the process is created again before it does anything.
    pub(super) created_again: VecDeque<bool>,
    /// Whether its creation is the first that the trace has of it.
    pub(super) created_first: bool,
    /// Whether the trace has had anything of it.
    seen: bool,
    waiting: Option<Waiting>,
    /// Whether nothing has happened since its life ended.
    over: bool,
}

/// Looks ahead, given the outlines of all chunks in order.
#[derive(Debug)]
pub struct StreamForecast {
    /// Whether the trace is of a whole system, whose processes do not wait for each other.
    system: bool,
    /// Rows of the chunks so far.
    rows: u64,
    lives: ProcessLives,
    /// Wakes of each condition so far.
    wakes: FxHashMap<u64, u32>,
    pub(super) processes: Vec<ProcessForecast>,
}

impl StreamForecast {
    /// For so many processes, or processors of a whole system.
    #[must_use]
    pub fn new(processes: usize, system: bool) -> Self {
        Self {
            system,
            rows: 0,
            lives: ProcessLives::new(processes),
            wakes: FxHashMap::default(),
            processes: vec![ProcessForecast::default(); processes],
        }
    }

    /// Adds the next chunk.
    pub fn add(&mut self, outline: &ChunkOutline) {
        if self.system {
            self.rows += outline.turns.iter().map(|&(_, rows)| u64::from(rows)).sum::<u64>();
            for &(thread, _) in &outline.turns {
                if let Some(process) = self.processes.get_mut(usize::from(thread)) {
                    process.last = self.rows;
                }
            }
            return;
        }
        let mut turns = outline.turns.iter().copied();
        let mut turn: Option<(u16, u32)> = None;
        let first = self.rows;
        for (at, event) in &outline.events {
            let at = first + u64::from(*at);
            // The rows before the event.
            while self.rows < at {
                let Some((thread, rows)) = turn.take().or_else(|| turns.next()) else { break };
                let until = at.min(self.rows + u64::from(rows));
                let left = rows - u32::try_from(until - self.rows).unwrap_or(rows);
                self.rows = until;
                self.act(usize::from(thread), self.rows);
                turn = (left > 0).then_some((thread, left));
            }
            self.event(event);
        }
        for (thread, rows) in turn.into_iter().chain(turns) {
            self.rows += u64::from(rows);
            self.act(usize::from(thread), self.rows);
        }
    }

    /// A process does something that is among so many rows.
    fn act(&mut self, process: usize, rows: u64) {
        let Some(process) = self.processes.get_mut(process) else { return };
        process.last = process.last.max(rows);
        process.seen = true;
        if std::mem::take(&mut process.over) {
            process.created_again.push_back(false);
        }
        // Before the lock is released there may be a reference to it.
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
                let life = self.lives.life(usize::from(child));
                let join = ForeseenJoin { after: before, child, life };
                if let Some(process) = self.processes.get_mut(process) {
                    process.joins.push_back(join);
                }
            }
            EventKind::ThreadExit => self.end(process, after),
            EventKind::ThreadCreate { child } => {
                let child = usize::from(child);
                let again = self.lives.create(child);
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
        if self.lives.end(process)
            && let Some(process) = self.processes.get_mut(process)
        {
            process.last = process.last.max(after);
            (process.over, process.seen) = (true, true);
        }
    }
}
