//! What each process has to do in a run in which processes restart.

use super::cpu::Process;

pub(super) struct Shares {
    restart: bool,
    /// References of each process in the trace.
    own: Vec<u64>,
    /// References that each process has yet to make before the run is over.
    pub(super) owed: Vec<u64>,
    /// For each process, whether any of these was made since it started, and in its last round.
    useful: Vec<(bool, bool)>,
}

impl Shares {
    pub(super) fn new(processes: &[Process], restart: bool) -> Self {
        let own: Vec<u64> = processes.iter().map(Process::references).collect();
        let makers = own.iter().filter(|&&references| references > 0).count().max(1) as u64;
        let total: u64 = own.iter().sum();
        let at_most = total.div_ceil(makers);
        let owed = own.iter().map(|&references| references.min(at_most)).collect();
        Self { restart, owed, useful: vec![(false, true); own.len()], own }
    }

    /// Whether processes restart, and each has made its share.
    pub(super) fn is_done(&self) -> bool {
        self.restart && self.owed.iter().all(|&owed| owed == 0)
    }

    pub(super) fn may_restart(&self) -> bool {
        self.restart && !self.is_done()
    }

    pub(super) fn make_reference(&mut self, process: usize) {
        if self.owed[process] > 0 {
            self.owed[process] -= 1;
            self.useful.fill((true, true));
        }
    }

    /// A switch adds references before those of a process.
    pub(super) fn insert(&mut self, process: usize, references: u64) {
        if self.owed[process] > 0 {
            self.owed[process] += references;
        }
    }

    pub(super) fn end_round(&mut self, process: usize) {
        self.useful[process] = (false, self.useful[process].0);
    }

    /// Whether a process that does not wait makes all its references in vain for those that owe
    /// some.
    pub(super) fn is_vain(&self, process: usize) -> bool {
        self.owed[process] == 0 && (self.own[process] == 0 || !self.useful[process].1)
    }
}
