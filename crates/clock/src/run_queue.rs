//! The run queue: ready processes, and the choice of the next one for an idle processor.

use homenode_base::Rng;
use homenode_machine::{Dispatch, SchedulerModel};

struct Ready {
    process: usize,
    /// How often a later process was preferred.
    passed: u32,
}

/// Ready processes, in the order in which they became ready.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4: a random policy and cache affinity.
pub struct RunQueue {
    policy: Dispatch,
    aging: u32,
    random: Rng,
    ready: Vec<Ready>,
    /// The processor on which each process ran last; at first the one with its number, modulo the
    /// number of processors.
    home: Vec<usize>,
    ran: Vec<bool>,
    switches: u64,
    migrations: u64,
}

impl RunQueue {
    /// A queue in which all processes are ready.
    #[must_use]
    pub fn new(scheduler: &SchedulerModel, seed: u64, processes: usize, processors: usize) -> Self {
        let ready = |process| Ready { process, passed: 0 };
        Self {
            policy: scheduler.policy,
            aging: scheduler.aging,
            random: Rng::new(seed),
            ready: (0..processes).map(ready).collect(),
            home: (0..processes).map(|process| process % processors).collect(),
            ran: vec![false; processes],
            switches: 0,
            migrations: 0,
        }
    }

    /// Raises the number of processes; the new ones are ready.
    pub fn grow(&mut self, processes: usize, processors: usize) {
        for process in self.home.len()..processes {
            self.home.push(process % processors);
            self.ran.push(false);
            self.add(process);
        }
    }

    /// Adds a ready process.
    pub fn add(&mut self, process: usize) {
        self.ready.push(Ready { process, passed: 0 });
    }

    /// Whether no process is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The number of context switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// The number of switches to a process that last ran on another processor.
    #[must_use]
    pub fn migrations(&self) -> u64 {
        self.migrations
    }

    /// Assigns processes to idle processors, which are given in ascending order: (processor,
    /// process) pairs. Under cache affinity, processes whose last processor is idle are assigned
    /// first.
    pub fn assign(&mut self, idle: &[usize]) -> Vec<(usize, usize)> {
        let mut assigned = Vec::new();
        for pass in [true, false] {
            for &processor in idle {
                let taken = assigned.iter().any(|&(other, _)| other == processor);
                if taken || (pass && self.policy == Dispatch::Random) {
                    continue;
                }
                if let Some(at) = self.choose(processor, pass) {
                    assigned.push((processor, self.take(at, processor)));
                }
            }
        }
        assigned
    }

    /// Position in the queue of the next process for this processor.
    fn choose(&mut self, processor: usize, only_own: bool) -> Option<usize> {
        if self.ready.is_empty() {
            return None;
        }
        match self.policy {
            Dispatch::Random => usize::try_from(self.random.below(self.ready.len() as u64)).ok(),
            Dispatch::Affinity => {
                let aged = self.ready.iter().position(|r| r.passed >= self.aging);
                let own = self.ready.iter().position(|r| self.home[r.process] == processor);
                let any = (!only_own).then_some(0);
                aged.or(own).or(any)
            }
        }
    }

    fn take(&mut self, at: usize, processor: usize) -> usize {
        // Processes that became ready earlier are passed over.
        self.ready[..at].iter_mut().for_each(|ready| ready.passed += 1);
        let process = self.ready.remove(at).process;
        self.switches += 1;
        self.migrations += u64::from(self.ran[process] && self.home[process] != processor);
        (self.home[process], self.ran[process]) = (processor, true);
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affinity(aging: u32) -> SchedulerModel {
        SchedulerModel {
            policy: Dispatch::Affinity,
            time_slice_references: 1,
            aging,
            wait_cycles: 0,
            restart: false,
        }
    }

    #[test]
    fn a_process_is_passed_over_at_most_aging_times() {
        // Processes 0 and 2 are at home on processor 0, process 1 on processor 1.
        let mut queue = RunQueue::new(&affinity(3), 1, 3, 2);
        let mut takes = |back: &[usize]| {
            back.iter().for_each(|&process| queue.add(process));
            queue.assign(&[0])
        };
        assert_eq!(takes(&[]), [(0, 0)]);
        assert_eq!(takes(&[0]), [(0, 2)]);
        assert_eq!(takes(&[2]), [(0, 0)]);
        assert_eq!(takes(&[0]), [(0, 2)]);
        assert_eq!(takes(&[2]), [(0, 1)], "passed over three times");
        assert_eq!(takes(&[1]), [(0, 0)]);
        assert_eq!((queue.switches, queue.migrations), (6, 0));
    }

    #[test]
    fn processes_go_home_if_they_can() {
        let mut queue = RunQueue::new(&affinity(8), 1, 2, 2);
        assert_eq!(queue.assign(&[1]), [(1, 1)], "not the oldest");
        queue.add(1);
        assert_eq!(queue.assign(&[0, 1]), [(0, 0), (1, 1)]);
        queue.add(1);
        assert_eq!(queue.assign(&[0]), [(0, 1)], "another processor if its own is busy");
        assert_eq!((queue.switches, queue.migrations), (4, 1));
    }
}
