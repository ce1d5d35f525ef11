//! Processes come to processors and leave them.

use super::Clock;
use crate::processor::Mode;
use crate::processor::{ClockEvent, MemorySystem, number, ready_rank};

/// Why a process leaves its processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaveReason {
    Ended,
    Blocked,
    Preempted,
    Yields,
}

impl<M: MemorySystem> Clock<M> {
    /// Nobody can go on: processes wait for each other, as they did not when they were traced.
    pub(super) fn break_deadlock(&mut self) {
        if let Some(process) = self.blocked.iter().position(|&blocked| blocked) {
            self.sync.break_deadlock(process);
            self.deadlocks_broken += 1;
            self.wake(process);
        }
    }

    /// A process is ready; it comes to a processor in the next cycle at the earliest.
    pub(super) fn wake(&mut self, process: usize) {
        self.blocked[process] = false;
        self.run_queue.add(process);
        self.dispatch_at = self.now + 1;
    }

    /// Those go on that an operation of this processor let go.
    pub(super) fn wake_all(&mut self, at: usize) {
        for process in self.sync.take_woken() {
            match self.memory.wakeup_cycles(self.now, at, process) {
                0 => self.wake(process),
                cycles => self.wake_at(self.now + cycles, process),
            }
        }
    }

    fn wake_at(&mut self, time: u64, process: usize) {
        // Somebody is known to go on: that is no deadlock.
        self.blocked[process] = false;
        self.queue.push(time, ready_rank(process), ClockEvent::Ready(number(process)));
    }

    /// Ready processes come to idle processors.
    pub(super) fn dispatch(&mut self) {
        if self.run_queue.is_empty() {
            return;
        }
        let idle: Vec<usize> =
            (0..self.processors.len()).filter(|&p| self.processors[p].mode == Mode::Idle).collect();
        for (at, process) in self.run_queue.assign(&idle) {
            let processor = &mut self.processors[at];
            processor.idle += self.now - processor.since;
            (processor.mode, processor.process) = (Mode::Runs, process);
            processor.slice_left = self.scheduler.time_slice_references;
            if let Some(kernel) = &self.kernel {
                let made = kernel.switch(process);
                // The switch is no part of the process's slice.
                processor.slice_left = processor.slice_left.saturating_add(made.len() as u64);
                self.streams[process].insert(made);
            }
            self.wakeups.wake(at, self.now);
        }
    }

    /// The process leaves the processor, once everything that it began is done.
    pub(super) fn leave(&mut self, at: usize, why: LeaveReason) {
        if !self.processors[at].is_drained() {
            self.stall(at);
            return;
        }
        let processor = &mut self.processors[at];
        let process = processor.process;
        (processor.mode, processor.since) = (Mode::Idle, self.now);
        self.wakeups.sleep(at);
        if !self.run_queue.is_empty() {
            self.dispatch_at = self.now + 1;
        }
        match why {
            LeaveReason::Ended => {
                self.unfinished -= 1;
                self.sync.end(process);
                self.wake_all(at);
            }
            LeaveReason::Blocked => self.blocked[process] = true,
            LeaveReason::Preempted => self.wake(process),
            LeaveReason::Yields => match self.scheduler.wait_cycles {
                0 => self.wake(process),
                cycles => self.wake_at(self.now + cycles, process),
            },
        }
    }
}
