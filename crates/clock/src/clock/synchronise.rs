//! Synchronisation operations: when each takes effect, and which processes it wakes.

use super::Clock;
use super::processes::LeaveReason;
use crate::processor::{MemorySystem, Mode, SyncCourse, SyncRequest};
use crate::streams::{OpKind, Operation};
use crate::time::{StallCause, StallTime};

impl<M: MemorySystem> Clock<M> {
    /// Issues a synchronisation operation once all earlier references are complete. The memory
    /// system decides when it takes effect.
    pub(super) fn synchronise(&mut self, at: usize, operation: &Operation) {
        if !self.processors[at].is_drained() {
            self.stall(at, StallCause::Sync);
            return;
        }
        let process = self.processors[at].process;
        let request = SyncRequest { processor: at, process, operation: *operation };
        let (memory, mut requesters) = self.split();
        match memory.synchronise(&request, &mut requesters) {
            SyncCourse::Now => {
                self.streams[process].advance();
                self.operate(&request);
            }
            SyncCourse::Later | SyncCourse::Awaited => {
                self.begin_wait(at, Mode::Waits, StallCause::Sync);
            }
            SyncCourse::Posted => self.streams[process].advance(),
        }
    }

    /// Applies an operation to the synchronisation objects: its process may block, others may wake.
    /// Returns whether its process continues.
    fn operate(&mut self, request: &SyncRequest) -> bool {
        let SyncRequest { processor, process, operation } = *request;
        let kind = operation.kind;
        let continues = self.sync.operate(process, &operation);
        // Only waits of live programs time out.
        let continues = continues || (kind.may_wait() && self.times_out(process));
        if kind == OpKind::InitDone && std::mem::take(&mut self.awaits_init_done) {
            self.restart_measuring();
        }
        if kind == OpKind::Alarm {
            self.set_alarm(process, operation.addr);
        }
        if !continues {
            self.leave(processor, LeaveReason::Blocked);
        } else if kind == OpKind::Yield {
            self.leave(processor, LeaveReason::Yields);
        } else if kind.may_wait() || kind == OpKind::Exit {
            self.alarms.cancel(process);
        }
        self.wake_all(request);
        continues
    }

    fn restart_measuring(&mut self) {
        self.measured_from = self.now;
        for processor in &mut self.processors {
            processor.since = self.now;
            processor.stalls = StallTime::default();
            (processor.busy, processor.delay, processor.idle) = (0, 0, 0);
        }
        self.memory.restart_counts();
    }

    /// The operation that a processor waits for takes effect.
    pub(super) fn take_effect(&mut self, at: usize) {
        let process = self.processors[at].process;
        let Some(operation) = self.streams[process].front() else { return };
        self.streams[process].advance();
        let request = SyncRequest { processor: at, process, operation };
        self.end_wait(at, 0);
        if !self.operate(&request) {
            return;
        }
        let (memory, mut requesters) = self.split();
        if !memory.goes_on(&request, None, &mut requesters) {
            self.begin_wait(at, Mode::Waits, StallCause::Sync);
        }
    }

    /// A posted operation takes effect.
    pub(super) fn take_posted_effect(&mut self, request: &SyncRequest) {
        // Posted operations never block their own process.
        self.sync.operate(request.process, &request.operation);
        self.wake_all(request);
    }

    /// Wakes the processes that the operation released.
    pub(super) fn wake_all(&mut self, cause: &SyncRequest) {
        for process in self.sync.take_woken() {
            // Not blocked from now on, although it may become ready later: this is no deadlock.
            self.blocked[process] = false;
            self.alarms.cancel(process);
            let (memory, mut requesters) = self.split();
            if memory.goes_on(cause, Some(process), &mut requesters) {
                self.wake(process);
            }
        }
    }
}
