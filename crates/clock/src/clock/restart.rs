//! Processes that restart when they end, and the end of the run after a number of references.
//!
//! A run until all processes end would finish with a few processes and most processors idle.
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4: applications run "in a continuous and cyclical
//! way", and are stopped after a fixed amount of work.

use homenode_machine::SchedulerModel;

use super::Clock;
use crate::processor::{MemorySystem, Mode};
use crate::streams::PendingOperations;

/// The operation buffer of a process, which keeps operations if processes restart.
pub(super) fn operations(scheduler: &SchedulerModel) -> PendingOperations {
    if scheduler.restart { PendingOperations::kept() } else { PendingOperations::default() }
}

impl<M: MemorySystem> Clock<M> {
    pub(super) fn limit_references(&mut self) {
        let all = self.streams.iter().flat_map(PendingOperations::kept_references);
        self.references_left = all.count() as u64;
    }

    /// Restarts a process that has ended, if it has references; without any it would restart
    /// endlessly. Returns whether it restarts.
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

    /// Whether the run is over: all processes have ended, or the references are used up and
    /// everything that they started has completed.
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

    /// The cycle up to which processors may run ahead of each other. Close to the end they may not,
    /// so that the last references are the last in time. A processor begins at most one reference a
    /// cycle; where operations take no time it begins several, and then does not run ahead.
    pub(super) fn before_the_end(&self, horizon: u64) -> u64 {
        let cycles = horizon.saturating_sub(self.now).saturating_add(1);
        let most = (self.processors.len() as u64).saturating_mul(cycles);
        let far = self.processor.operation_cycles > 0 && self.references_left > most;
        if far { horizon } else { horizon.min(self.now + 1) }
    }
}
