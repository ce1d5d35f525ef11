//! Splits the events of a trace into operations.

use homenode_trace::{Event, EventKind};

use super::conditions::wake_episode;
use super::forecast::ForeseenJoin;
use super::operation::{OpKind, Operation};
use super::split::StreamSplitter;
use super::system_calls;
use crate::pages::MappedRange;

/// Whether an event becomes an operation of its process.
pub(super) fn makes_operation(what: &EventKind) -> bool {
    match what {
        EventKind::LockAcquire { .. }
        | EventKind::LockRelease { .. }
        | EventKind::BarrierEnter { .. }
        | EventKind::BarrierLeave { .. }
        | EventKind::ThreadCreate { .. }
        | EventKind::ThreadJoin { .. }
        | EventKind::ThreadExit
        | EventKind::ConditionWake { .. } => true,
        EventKind::SyscallEnter { number } => system_calls::may_wait(*number),
        EventKind::ThreadStart { .. }
        | EventKind::Alloc { .. }
        | EventKind::Free { .. }
        | EventKind::Map { .. }
        | EventKind::Unmap { .. }
        | EventKind::SyscallExit { .. }
        | EventKind::Fork { .. }
        | EventKind::ConditionWait { .. }
        | EventKind::InitDone
        | EventKind::Phase { .. }
        | EventKind::Marker { .. } => false,
    }
}

impl StreamSplitter {
    pub(super) fn event(&mut self, event: &Event) {
        let process = usize::from(event.thread);
        if process >= self.operations.len() {
            return;
        }
        self.mark(process, &event.what);
        match &event.what {
            EventKind::LockAcquire { .. } if self.has_asked(process) => {}
            EventKind::LockAcquire { addr } => self.operation(process, OpKind::Acquire, *addr),
            EventKind::LockRelease { addr } => self.operation(process, OpKind::Release, *addr),
            EventKind::BarrierEnter { addr } => {
                let episode = self.episodes.arrive(process, *addr);
                self.operation(process, OpKind::Arrive, episode);
            }
            EventKind::BarrierLeave { addr } => self.leave_barrier(process, *addr),
            EventKind::ThreadCreate { child } => {
                let number = usize::from(*child);
                let again = self.generations.create(number);
                if again || self.begun.get(number) == Some(&false) {
                    self.begin(number);
                }
                let generation = self.generations.current(number);
                self.push_generation(process, OpKind::Create, *child, generation);
            }
            EventKind::ThreadJoin { child } => {
                self.end(usize::from(*child));
                self.forecast[process].joins.pop_front();
                if !std::mem::take(&mut self.joins[process]) {
                    let generation = self.generations.current(usize::from(*child));
                    self.push_generation(process, OpKind::Join, *child, generation);
                }
            }
            EventKind::ThreadExit => self.end(process),
            EventKind::SyscallEnter { number } => self.system_call(process, *number),
            EventKind::SyscallExit { .. } => {
                if let Some(depart) = self.conditions.after_call(process) {
                    self.push(process, depart);
                }
            }
            EventKind::Map { addr, size, shared: true, object } => {
                if let Some(pages) = &mut self.pages {
                    let memory = MappedRange { start: *addr, size: *size };
                    pages.map(process, self.pids[process], memory, object);
                }
            }
            EventKind::Unmap { addr, .. } => {
                if let Some(pages) = &mut self.pages {
                    pages.unmap(process, self.pids[process], *addr);
                }
            }
            EventKind::Marker { text } => self.runs_on(process, text),
            EventKind::ConditionWait { addr } => {
                let foreseen = self.forecast[process].waits.pop_front().flatten();
                self.conditions.wait(process, *addr, foreseen);
            }
            EventKind::ConditionWake { addr } => {
                // Before the wake is counted: it did not end a wait of the process itself.
                self.wake(process, wake_episode(*addr));
                self.conditions.wake(*addr);
            }
            EventKind::ThreadStart { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::Fork { .. }
            | EventKind::InitDone
            | EventKind::Phase { .. } => {}
        }
    }

    /// A process leaves a barrier. A live program has announced the departure before.
    fn leave_barrier(&mut self, process: usize, barrier: u64) {
        let announced = self.live.leaving.get_mut(process).is_some_and(std::mem::take);
        if let Some((episode, count)) = self.episodes.depart(process, barrier)
            && !announced
        {
            let depart = Operation::new(OpKind::Depart, episode);
            self.push(process, Operation { count, ..depart });
        }
    }

    /// Whether the acquire operation was already made when the live program requested the lock.
    fn has_asked(&mut self, process: usize) -> bool {
        self.live.asked.get_mut(process).is_some_and(std::mem::take)
    }

    /// A marker of a traced system may name the processor on which the process runs.
    fn runs_on(&mut self, process: usize, text: &str) {
        if let Some(number) = text.strip_prefix("processor ") {
            self.recorded[process] = number.parse().unwrap_or(self.recorded[process]);
        }
    }

    /// Makes operations of the program's own marks, if they are wanted.
    fn mark(&mut self, process: usize, what: &EventKind) {
        if self.marks && *what == EventKind::InitDone {
            self.operation(process, OpKind::InitDone, 0);
        } else if self.marks && matches!(what, EventKind::Phase { .. }) {
            self.operation(process, OpKind::Phase, 0);
        }
    }

    fn system_call(&mut self, process: usize, number: u32) {
        if let Some(kernel) = &mut self.kernel {
            let made = kernel.call(process, number);
            made.into_iter().for_each(|operation| self.push(process, operation));
        }
        if system_calls::may_wait(number) {
            self.operation(process, OpKind::Yield, 0);
        }
    }

    fn end(&mut self, process: usize) {
        if self.generations.end(process) {
            self.operation(process, OpKind::Exit, 0);
            let again = self.forecast[process].created_again.pop_front() == Some(true);
            if again || self.live.is_live {
                self.await_creation(process, self.generations.current(process) + 1);
            }
        }
    }

    /// Makes the process wait for its creation, unless it already does.
    fn begin(&mut self, process: usize) {
        let count = self.generations.current(process);
        self.begun[process] = true;
        if !std::mem::take(&mut self.begins[process]) {
            self.push(process, Operation { count, ..Operation::new(OpKind::Begin, 0) });
        }
    }

    /// Adds an operation on a generation of another process.
    pub(super) fn push_generation(
        &mut self,
        process: usize,
        kind: OpKind,
        other: u16,
        generation: u32,
    ) {
        self.push(
            process,
            Operation { count: generation, ..Operation::new(kind, u64::from(other)) },
        );
    }

    /// Adds the waits that the forecast has for this point of the trace, and closes processes that
    /// have no further operations. Returns the latter.
    pub(super) fn look_ahead(&mut self) -> Vec<usize> {
        let mut over = Vec::new();
        for process in 0..self.forecast.len() {
            if let Some(depart) = self.conditions.foreseen(process, self.split_rows) {
                self.operations[process].push(depart);
            }
            let due = |join: &&ForeseenJoin| join.after <= self.split_rows;
            let join = self.forecast[process].joins.front().filter(due).copied();
            // The end of a condition wait is only known when the process continues.
            if let Some(ForeseenJoin { child, generation, .. }) = join
                && !self.joins[process]
                && !self.conditions.is_waiting(process)
            {
                self.push_generation(process, OpKind::Join, child, generation);
                self.joins[process] = true;
            }
            if self.foresees
                && self.forecast[process].last <= self.split_rows
                && !std::mem::replace(&mut self.closed[process], true)
            {
                over.push(process);
            }
        }
        over
    }
}
