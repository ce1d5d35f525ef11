//! Dispatches processes to processors, and removes them.

use super::Clock;
use super::restart::OwedShares;
use crate::processor::{MemorySystem, Mode, SyncRequest};
use crate::run_queue::DispatchProgress;
use crate::streams::{OpKind, Operation};
use crate::time::StallCause;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaveReason {
    Ended,
    Blocked,
    Preempted,
    Yields,
    Stopped,
}

impl<M: MemorySystem> Clock<M> {
    /// Releases one of the processes that wait for each other in a cycle, which did not occur when
    /// they were traced.
    pub(super) fn break_deadlock(&mut self) {
        if let Some(process) = self.blocked.iter().position(|&blocked| blocked) {
            self.end_wait_of(process);
        }
    }

    /// Ends the wait of a process, whatever it waits for.
    pub(super) fn end_wait_of(&mut self, process: usize) {
        self.sync.break_deadlock(process);
        self.deadlocks_broken += 1;
        self.wake(process);
    }

    /// Makes a process ready; it is dispatched in the next cycle at the earliest.
    pub(super) fn wake(&mut self, process: usize) {
        self.blocked[process] = false;
        self.run_queue.add(process, self.now);
        self.dispatch_at = self.now + 1;
    }

    /// Dispatches ready processes to idle processors.
    pub(super) fn dispatch(&mut self) {
        if self.run_queue.is_empty() || self.is_work_done() {
            return;
        }
        let idle: Vec<usize> =
            (0..self.processors.len()).filter(|&p| self.processors[p].mode == Mode::Idle).collect();
        let owed = self.shares.as_ref().map(OwedShares::owed);
        let so_far = DispatchProgress { now: self.now, begun: &self.begun, owed };
        for (at, process) in self.run_queue.assign(&idle, so_far) {
            let processor = &mut self.processors[at];
            processor.idle += self.now - processor.since;
            (processor.mode, processor.process) = (Mode::Runs, process);
            self.memory.switch(at, process);
            processor.slice_left = self.scheduler.time_slice_references;
            if let Some(kernel) = &self.kernel {
                let made = kernel.switch(process);
                // The references of the switch do not use up the process's time slice.
                processor.slice_left = processor.slice_left.saturating_add(made.len() as u64);
                if let Some(shares) = &mut self.shares {
                    shares.insert(process, made.len() as u64);
                }
                self.streams[process].insert(made);
            }
            self.wakeups.wake(at, self.now);
        }
    }

    /// Removes the process from the processor, once all its references are complete.
    pub(super) fn leave(&mut self, at: usize, why: LeaveReason) {
        if !self.processors[at].is_drained() {
            self.stall(at, StallCause::Sync);
            return;
        }
        let processor = &mut self.processors[at];
        let process = processor.process;
        (processor.mode, processor.since) = (Mode::Idle, self.now);
        processor.gap_done = false;
        self.wakeups.sleep(at);
        if !self.run_queue.is_empty() {
            self.dispatch_at = self.now + 1;
        }
        match why {
            LeaveReason::Ended => {
                self.roll_back_all();
                self.sync.end(process);
                let operation = Operation::new(OpKind::Exit, 0);
                self.wake_all(&SyncRequest { processor: at, process, operation });
                self.unfinished -= usize::from(!self.starts_again(process));
            }
            LeaveReason::Stopped => {}
            LeaveReason::Blocked => self.blocked[process] = true,
            LeaveReason::Preempted => self.wake(process),
            LeaveReason::Yields => match self.scheduler.wait_cycles {
                0 => self.wake(process),
                cycles => {
                    let (_, mut requesters) = self.split();
                    requesters.ready_at(requesters.now() + cycles, process);
                }
            },
        }
    }
}
