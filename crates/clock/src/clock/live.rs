//! Simulates a live program: the interface of its front end, and waits with a time-out.
//!
//! The program runs step by step, as the simulation needs operations: see [`LiveClock`]. It may
//! wait for something that no operation ends, or until a time: alarms end such waits.

use super::{Clock, restart};
use crate::processor::{MemorySystem, Mode};
use crate::streams::{PendingOperations, ThreadStreams};

/// Time-outs of waits.
#[derive(Default)]
pub(super) struct Alarms {
    /// The time at which a process's current or next wait ends, and the process.
    set: Vec<(u64, usize)>,
    /// Processes whose wait timed out, until [`LiveClock::take_timed_out`].
    expired: Vec<usize>,
}

impl Alarms {
    fn next(&self) -> Option<u64> {
        self.set.iter().map(|&(time, _)| time).min()
    }

    pub(super) fn cancel(&mut self, process: usize) {
        self.set.retain(|&(_, of)| of != process);
    }

    fn is_due(&self, process: usize, now: u64) -> bool {
        self.set.iter().any(|&(time, of)| of == process && time <= now)
    }
}

/// A simulation of a live program, independent of the memory system. It runs as far as operations
/// are known, and then needs the next operation of the process with the least simulated time.
pub trait LiveClock<E> {
    /// Starts live mode: no wait counts as a deadlock, and new processes may appear.
    fn begin_live(&mut self);

    /// Adds operations; see [`Clock::push`].
    ///
    /// # Errors
    /// What the memory system returns.
    fn push_live(&mut self, added: &ThreadStreams) -> Result<(), E>;

    /// The process whose next operation is needed; `None` if all wait.
    fn awaited_process(&self) -> Option<usize>;

    /// The current cycle.
    fn now(&self) -> u64;

    /// Whether a wait of the process has timed out since the last call.
    fn take_timed_out(&mut self, process: usize) -> bool;

    /// Finds the running processes, other than the awaited one, of which at most `most` operations
    /// are known: the number of known operations, and the process.
    fn nearly_awaited(&self, most: usize, found: &mut Vec<(usize, usize)>);

    /// Ends the current wait of a process, or its next one if it is not waiting, because something
    /// outside the simulation ended it.
    ///
    /// # Errors
    /// What the memory system returns.
    fn release(&mut self, process: usize) -> Result<(), E>;

    /// Breaks a deadlock that the simulation has and the program does not: ends one of the waits
    /// that are not the program's own. Returns whether there was one.
    ///
    /// # Errors
    /// What the memory system returns.
    fn break_wait(&mut self) -> Result<bool, E>;
}

impl<M: MemorySystem> LiveClock<M::Error> for Clock<M> {
    fn begin_live(&mut self) {
        self.live = true;
    }

    fn push_live(&mut self, added: &ThreadStreams) -> Result<(), M::Error> {
        self.grow(added.processes);
        for &(process, count) in &added.resolved {
            self.resolve(process, count);
        }
        self.push(added)
    }

    fn awaited_process(&self) -> Option<usize> {
        self.awaited()
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn take_timed_out(&mut self, process: usize) -> bool {
        let before = self.alarms.expired.len();
        self.alarms.expired.retain(|&expired| expired != process);
        self.alarms.expired.len() < before
    }

    fn nearly_awaited(&self, most: usize, found: &mut Vec<(usize, usize)>) {
        let awaited = self.awaited();
        for processor in &self.processors {
            let process = processor.process;
            if processor.mode != Mode::Runs || Some(process) == awaited {
                continue;
            }
            if let Some(known) = self.streams[process].known_references(most) {
                found.push((known, process));
            }
        }
    }

    fn release(&mut self, process: usize) -> Result<(), M::Error> {
        if self.blocked.get(process).copied().unwrap_or(false) {
            self.alarms.cancel(process);
            self.sync.break_deadlock(process);
            self.wake(process);
            self.run()?;
        } else if process < self.blocked.len() && !self.alarms.expired.contains(&process) {
            // It has not reached its wait, which then ends at once; unless the wait has timed out.
            self.alarms.set.push((self.now, process));
        }
        Ok(())
    }

    fn break_wait(&mut self) -> Result<bool, M::Error> {
        let own = |&process: &usize| {
            self.blocked[process]
                && !self.sync.waits_for_program(process)
                && !self.sync.is_unborn(process)
        };
        let Some(process) = (0..self.blocked.len()).find(own) else { return Ok(false) };
        self.deadlocks_broken += 1;
        self.release(process)?;
        Ok(true)
    }
}

impl<M: MemorySystem> Clock<M> {
    fn grow(&mut self, processes: usize) {
        let more = processes.saturating_sub(self.streams.len());
        if more == 0 {
            return;
        }
        self.streams.extend((0..more).map(|_| PendingOperations::default()));
        self.fetches.resize(processes, false);
        if restart::counts_begun(&self.scheduler) {
            // A later process is not behind those that have run before it existed.
            let least = self.begun.iter().copied().min().unwrap_or(0);
            self.begun.resize(processes, least);
        }
        self.blocked.resize(processes, false);
        self.unfinished += more;
        self.sync.grow(processes);
        self.run_queue.grow(processes, self.processors.len(), self.now);
        self.dispatch_at = self.now + 1;
    }

    /// Sets the number of arrivals that a process waits for, unless its wait has timed out.
    fn resolve(&mut self, process: usize, count: u32) {
        if self.alarms.expired.contains(&process) {
            return;
        }
        self.alarms.cancel(process);
        self.sync.resolve(process, count);
        // Woken without the memory system: the arrivals are in the past.
        for process in self.sync.take_woken() {
            self.wake(process);
        }
    }

    /// Sets the time-out of a process's next wait, in cycles from now.
    pub(super) fn set_alarm(&mut self, process: usize, cycles: u64) {
        let time = self.now.saturating_add(cycles.max(1));
        self.alarms.cancel(process);
        self.alarms.set.push((time, process));
        self.arm();
    }

    /// Wakes the processes whose waits time out now.
    pub(super) fn expire_alarms(&mut self) {
        let Self { alarms, blocked, now, .. } = self;
        let over = |&&(time, process): &&(u64, usize)| time <= *now && blocked[process];
        let mut over: Vec<usize> = alarms.set.iter().filter(over).map(|&(_, of)| of).collect();
        over.sort_unstable();
        for process in over {
            self.time_out(process);
            self.wake(process);
        }
        self.arm();
    }

    /// Whether a process that reaches a wait has already timed out and does not wait.
    pub(super) fn times_out(&mut self, process: usize) -> bool {
        let due = self.alarms.is_due(process, self.now);
        if due {
            self.time_out(process);
        }
        due
    }

    fn time_out(&mut self, process: usize) {
        self.sync.break_deadlock(process);
        self.alarms.cancel(process);
        self.alarms.expired.push(process);
    }

    /// Schedules a dispatch step for the next alarm. A past alarm takes effect when its process
    /// reaches the wait.
    fn arm(&mut self) {
        if let Some(time) = self.alarms.next().filter(|&time| time > self.now) {
            self.dispatch_at = self.dispatch_at.min(time);
        }
    }

    /// Ends live mode. Processes that wait for their creation, or for something that only the
    /// program ends, have no further operations.
    pub(super) fn end_live(&mut self) {
        for process in 0..self.blocked.len() {
            let waits = self.sync.waits_for_program(process) || self.sync.is_unborn(process);
            if self.blocked[process] && waits {
                self.blocked[process] = false;
                self.sync.break_deadlock(process);
                self.unfinished -= 1;
            }
        }
        self.alarms = Alarms::default();
        self.live = false;
    }
}
