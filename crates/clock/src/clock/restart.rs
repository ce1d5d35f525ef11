//! Processes that restart when they end, and the end of the run when each has done its share.
//!
//! A run until all processes end would finish with a few processes and most processors idle. One of
//! a fixed number of references would end before slow processes have made theirs, so that two
//! schedules would run different parts of the trace. One that lasts as long as the longest process
//! would mostly be rounds of the others: processors take turns, so while that process makes all of
//! its references, each other process could make as many.
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4: applications run "in a continuous and cyclical
//! way".

use homenode_machine::{AgingUnit, SchedulerModel};

use super::Clock;
use crate::processor::{MemorySystem, Mode};
use crate::streams::PendingOperations;
use crate::time::ProcessShare;

/// The operation buffer of a process, which keeps operations if processes restart.
pub(super) fn operations(scheduler: &SchedulerModel) -> PendingOperations {
    if scheduler.restart { PendingOperations::kept() } else { PendingOperations::default() }
}

/// Whether anything depends on how many references a process has begun.
pub(super) fn counts_begun(scheduler: &SchedulerModel) -> bool {
    scheduler.restart || scheduler.aging_unit == AgingUnit::SlicesBehind
}

/// What each process has to do before the run is over: all of its references once, but no more than
/// the processes that make references have on average.
pub(super) struct OwedShares {
    /// References of each process in the trace.
    own: Vec<u64>,
    /// References of its share that each process has not begun.
    owed: Vec<u64>,
    /// Whether the last references that each process began were of its share.
    of_share: Vec<bool>,
    /// Processes that owe references.
    owing: usize,
    /// One that owes many, at which [`Self::last_beyond`] looks first.
    farthest: usize,
    /// References of shares that have begun.
    done: u64,
    /// `done` when each process last started.
    done_at_start: Vec<u64>,
    /// `done` after the last round of each process in which it did not change.
    fruitless: Vec<Option<u64>>,
}

impl OwedShares {
    fn new(own: Vec<u64>) -> Self {
        let owing = own.iter().filter(|&&references| references > 0).count();
        let average = own.iter().sum::<u64>().div_ceil(owing.max(1) as u64);
        Self {
            owed: own.iter().map(|&references| references.min(average)).collect(),
            of_share: vec![false; own.len()],
            owing,
            farthest: 0,
            done: 0,
            done_at_start: vec![0; own.len()],
            fruitless: vec![None; own.len()],
            own,
        }
    }

    /// References of its share that each process has not begun.
    pub(super) fn owed(&self) -> &[u64] {
        &self.owed
    }

    /// References that this process may begin before this has to be asked again: none if all
    /// shares are done.
    pub(super) fn allowance(&self, process: usize) -> u64 {
        match (self.owing, self.owed[process]) {
            (0, _) => 0,
            (_, 0) => u64::MAX,
            (_, owed) => owed,
        }
    }

    /// A process begins references, at most its allowance.
    pub(super) fn begin(&mut self, process: usize, references: u64) {
        let owed = &mut self.owed[process];
        self.of_share[process] = *owed > 0;
        if *owed > 0 && references > 0 {
            *owed -= references;
            self.done += references;
            self.owing -= usize::from(*owed == 0);
        }
    }

    /// Takes back the last of the references that a process has begun in the last call of
    /// [`Self::begin`].
    fn unbegin(&mut self, process: usize, references: u64) {
        if self.of_share[process] && references > 0 {
            let owed = &mut self.owed[process];
            self.owing += usize::from(*owed == 0);
            *owed += references;
            self.done -= references;
        }
    }

    /// Adds references that the trace does not have before the next one of a process.
    pub(super) fn insert(&mut self, process: usize, references: u64) {
        if self.owed[process] > 0 {
            self.owed[process] += references;
        }
    }

    /// A process has performed all its operations. Returns whether all that owe references wait for
    /// what the others do not do: these have each performed all their operations meanwhile, or
    /// wait, too.
    fn ends_round(&mut self, process: usize, waits: &[bool]) -> bool {
        let fruitless = self.done_at_start[process] == self.done;
        self.fruitless[process] = fruitless.then_some(self.done);
        self.done_at_start[process] = self.done;
        let stuck = |process: usize| {
            let idle = self.own[process] == 0 || self.fruitless[process] == Some(self.done);
            waits[process] || self.owed[process] == 0 && idle
        };
        fruitless && (0..self.own.len()).all(stuck)
    }

    /// Whether the last reference that is owed comes later than these cycles, in each of which a
    /// process begins at most one.
    pub(super) fn last_beyond(&mut self, cycles: u64) -> bool {
        if self.owed.get(self.farthest).is_none_or(|&owed| owed <= cycles) {
            let most = self.owed.iter().enumerate().max_by_key(|&(_, owed)| owed);
            self.farthest = most.map_or(0, |(process, _)| process);
        }
        self.owed.get(self.farthest).is_some_and(|&owed| owed > cycles)
    }
}

impl<M: MemorySystem> Clock<M> {
    pub(super) fn set_shares(&mut self) {
        let references = self.streams.iter().map(PendingOperations::kept_references);
        self.shares = Some(OwedShares::new(references.collect()));
    }

    /// Counts references that a process begins, if something depends on their number.
    #[inline]
    pub(super) fn begin(&mut self, process: usize, references: u64) {
        if let Some(begun) = self.begun.get_mut(process) {
            *begun += references;
            if let Some(shares) = &mut self.shares {
                shares.begin(process, references);
            }
        }
    }

    /// Takes back the last references that a process has begun.
    pub(super) fn unbegin(&mut self, process: usize, references: u64) {
        if let Some(begun) = self.begun.get_mut(process) {
            *begun -= references;
            if let Some(shares) = &mut self.shares {
                shares.unbegin(process, references);
            }
        }
    }

    /// Whether processes restart and each has done its share.
    pub(super) fn is_work_done(&self) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.owing == 0)
    }

    /// How much of its share each process has done; empty unless processes restart.
    pub(super) fn process_shares(&self) -> Vec<ProcessShare> {
        let own = self.shares.iter().flat_map(|shares| &shares.own);
        own.zip(&self.begun).map(|(&own, &begun)| ProcessShare { own, begun }).collect()
    }

    /// Restarts a process that has ended, if it has references; without any it would restart
    /// endlessly. Returns whether it restarts.
    pub(super) fn starts_again(&mut self, process: usize) -> bool {
        let Some(shares) = self.shares.as_mut().filter(|s| s.owing > 0 && s.own[process] > 0)
        else {
            return false;
        };
        if shares.ends_round(process, &self.blocked) {
            let owes = shares.owed.iter().position(|&owed| owed > 0);
            owes.into_iter().for_each(|process| self.end_wait_of(process));
        }
        self.streams[process].rewind();
        self.fetches[process] = false;
        self.wake(process);
        true
    }

    /// Whether the run is over: all processes have ended, or have done their shares and everything
    /// that they started has completed.
    pub(super) fn is_over(&mut self) -> bool {
        if self.unfinished > 0 && !self.is_work_done() {
            return false;
        }
        let over = self.unfinished == 0 || self.processors.iter().all(|p| p.mode == Mode::Idle);
        if over && self.scheduler.restart {
            self.over_at.get_or_insert(self.now);
        }
        over
    }

    /// The cycle up to which processors may run ahead of each other. Close to the end they may not,
    /// so that the last references are the last in time. A process begins at most one reference a
    /// cycle; where operations take no time it begins several, and then does not run ahead.
    pub(super) fn before_the_end(&mut self, horizon: u64) -> u64 {
        let cycles = horizon.saturating_sub(self.now).saturating_add(1);
        let spaced = self.processor.operation_cycles > 0;
        let far = spaced && self.shares.as_mut().is_some_and(|shares| shares.last_beyond(cycles));
        if far { horizon } else { horizon.min(self.now + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_process_owes_more_than_the_average() {
        // The average of the three that make references is 7.
        let mut shares = OwedShares::new(vec![15, 0, 2, 4]);
        assert_eq!(shares.owed(), [7, 0, 2, 4]);
        for (process, references) in [(2, 2), (3, 4), (0, 7)] {
            assert_eq!(shares.allowance(process), references);
            shares.begin(process, references);
        }
        assert_eq!((shares.owing, shares.done), (0, 13));
    }
}
