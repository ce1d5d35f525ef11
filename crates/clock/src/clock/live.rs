//! A clock over a live program: what its front end asks, and waits that end by themselves.
//!
//! The program is run piece by piece, as the simulation needs operations: see [`LiveClock`]. It
//! may wait for what no other operation ends, or until a time: alarms end such waits.

use super::Clock;
use crate::processor::{MemorySystem, Mode};
use crate::streams::{PendingOperations, ThreadStreams};

/// Timed waits of processes.
#[derive(Default)]
pub(super) struct Alarms {
    /// When whose next wait, or the one it is in, ends.
    set: Vec<(u64, usize)>,
    /// Whose wait was ended so, until somebody asks.
    rung: Vec<usize>,
}

impl Alarms {
    /// The first time at which one rings.
    fn next(&self) -> Option<u64> {
        self.set.iter().map(|&(time, _)| time).min()
    }

    /// A wait is over: its alarm does not ring.
    pub(super) fn cancel(&mut self, process: usize) {
        self.set.retain(|&(_, of)| of != process);
    }

    /// Whether a process's wait was to end by now.
    fn is_due(&self, process: usize, now: u64) -> bool {
        self.set.iter().any(|&(time, of)| of == process && time <= now)
    }
}

/// A simulation of a live program, whatever the memory system. It goes on as far as operations are
/// known, and then waits for the next operation of the process with the least simulated time.
pub trait LiveClock<E> {
    /// From now on nothing is a deadlock, and processes that are not known to exist may come.
    fn begin_live(&mut self);

    /// Adds operations; see [`Clock::push`].
    ///
    /// # Errors
    /// What the memory system returns.
    fn push_live(&mut self, added: &ThreadStreams) -> Result<(), E>;

    /// The process whose next operation has to be known; nothing if all wait.
    fn awaited_process(&self) -> Option<usize>;

    /// The time.
    fn now(&self) -> u64;

    /// Whether the last wait of a process ended because its time was up, since somebody last asked.
    fn take_timed_out(&mut self, process: usize) -> bool;

    /// The processes that run and of which at most so many operations are known, without the one
    /// that is awaited: how many are known, and the process.
    fn nearly_awaited(&self, most: usize, found: &mut Vec<(usize, usize)>);

    /// Ends the wait of a process, or its next one if it is in none, as something outside of the
    /// simulation did.
    ///
    /// # Errors
    /// What the memory system returns.
    fn release(&mut self, process: usize) -> Result<(), E>;

    /// All wait for each other in the simulation, although the program could go on: ends one of the
    /// waits that are not the program's own. Returns whether there was one.
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
        let before = self.alarms.rung.len();
        self.alarms.rung.retain(|&rung| rung != process);
        self.alarms.rung.len() < before
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
        } else if process < self.blocked.len() && !self.alarms.rung.contains(&process) {
            // It has not come to its wait, which is over when it does; unless it has ended by now.
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
    /// There are so many processes now.
    fn grow(&mut self, processes: usize) {
        let more = processes.saturating_sub(self.streams.len());
        if more == 0 {
            return;
        }
        self.streams.extend((0..more).map(|_| PendingOperations::default()));
        self.fetches.resize(processes, false);
        self.blocked.resize(processes, false);
        self.unfinished += more;
        self.sync.grow(processes);
        self.run_queue.grow(processes, self.processors.len());
        self.dispatch_at = self.now + 1;
    }

    /// It is known for how many arrivals a process waits, unless its time was up before that.
    fn resolve(&mut self, process: usize, count: u32) {
        if self.alarms.rung.contains(&process) {
            return;
        }
        self.alarms.cancel(process);
        self.sync.resolve(process, count);
        // What it waits for is over already: nobody has to tell it.
        for process in self.sync.take_woken() {
            self.wake(process);
        }
    }

    /// The next wait of a process ends after so many cycles.
    pub(super) fn set_alarm(&mut self, process: usize, cycles: u64) {
        let time = self.now.saturating_add(cycles.max(1));
        self.alarms.cancel(process);
        self.alarms.set.push((time, process));
        self.arm();
    }

    /// Whoever waits until now goes on.
    pub(super) fn ring_alarms(&mut self) {
        let Self { alarms, blocked, now, .. } = self;
        let over = |&&(time, process): &&(u64, usize)| time <= *now && blocked[process];
        let mut over: Vec<usize> = alarms.set.iter().filter(over).map(|&(_, of)| of).collect();
        over.sort_unstable();
        for process in over {
            self.give_up(process);
            self.wake(process);
        }
        self.arm();
    }

    /// Whether a process that comes to a wait does not wait, as its time is up.
    pub(super) fn gives_up(&mut self, process: usize) -> bool {
        let due = self.alarms.is_due(process, self.now);
        if due {
            self.give_up(process);
        }
        due
    }

    fn give_up(&mut self, process: usize) {
        self.sync.break_deadlock(process);
        self.alarms.cancel(process);
        self.alarms.rung.push(process);
    }

    /// The next alarm is looked at when ready processes are. One that was to ring before finds its
    /// process when that comes to its wait.
    fn arm(&mut self) {
        if let Some(time) = self.alarms.next().filter(|&time| time > self.now) {
            self.dispatch_at = self.dispatch_at.min(time);
        }
    }

    /// The program is over: who waits to be created, or for what only the program ends, does
    /// nothing more.
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
