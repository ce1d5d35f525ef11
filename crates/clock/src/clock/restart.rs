//! Processes that start again when they end, and the run's end after so many references.
//!
//! A run that lasts as long as its processes ends with few of them, and most processors idle.
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4: applications run "in a continuous and cyclical
//! way", and are stopped after a fixed amount of work.

use homenode_machine::SchedulerModel;

use super::Clock;
use crate::processor::{MemorySystem, Mode};
use crate::streams::PendingOperations;

/// Where a process's operations wait.
pub(super) fn operations(scheduler: &SchedulerModel) -> PendingOperations {
    if scheduler.restart { PendingOperations::kept() } else { PendingOperations::default() }
}

impl<M: MemorySystem> Clock<M> {
    /// The run is over after as many references as all processes have.
    pub(super) fn limit_references(&mut self) {
        let all = self.streams.iter().flat_map(PendingOperations::kept_references);
        self.references_left = all.count() as u64;
    }

    /// A process that has ended starts again, if it has references: without any it would do so for
    /// ever. Returns whether it does.
    pub(super) fn starts_again(&mut self, process: usize) -> bool {
        let again = self.scheduler.restart
            && self.references_left > 0
            && self.streams[process].kept_references().next().is_some();
        if again {
            self.streams[process].rewind();
            self.fetches[process] = false;
            self.wake(process);
        }
        again
    }

    /// Whether nothing is left to do: processes are over, or so many references are done and what
    /// they began.
    pub(super) fn is_over(&mut self) -> bool {
        if self.unfinished > 0 && self.references_left > 0 {
            return false;
        }
        let over = self.unfinished == 0 || self.processors.iter().all(|p| p.mode == Mode::Idle);
        if over && self.scheduler.restart {
            self.over_at.get_or_insert(self.now);
        }
        over
    }

    /// Up to where processors may run ahead of each other: close to the end not at all, so that the
    /// last references are the last in time. A processor begins at most one reference a cycle;
    /// several at a time where operations take none, and then it does so in its turn.
    pub(super) fn before_the_end(&self, horizon: u64) -> u64 {
        let cycles = horizon.saturating_sub(self.now).saturating_add(1);
        let most = (self.processors.len() as u64).saturating_mul(cycles);
        let far = self.processor.operation_cycles > 0 && self.references_left > most;
        if far { horizon } else { horizon.min(self.now + 1) }
    }
}
