//! Which process runs where, written from the sentences of `docs/bus.md`.
//!
//! Random choices use the crate's generator: a number for each processor that takes a process,
//! among ready processes ordered by how long they are ready.

use std::collections::{BTreeMap, VecDeque};

use homenode_base::Rng;
use homenode_machine::AgingUnit;

/// How processes are assigned to processors.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub random: bool,
    pub slice: u64,
    pub aging: u32,
    pub unit: AgingUnit,
    /// Cycles of an operation.
    pub operation: u64,
    pub wait: u64,
    pub seed: u64,
    /// Whether ended processes restart until each has made all its references once.
    pub restart: bool,
}

/// A process that is ready.
struct Ready {
    process: usize,
    /// Cycle in which it may be taken for the first time, less one.
    since: u64,
    /// How often a processor took one that was ready later.
    passed_by_later: u32,
    /// How often its own processor took another one.
    passed_at_home: u32,
}

impl Ready {
    fn new(process: usize, since: u64) -> Self {
        Self { process, since, passed_by_later: 0, passed_at_home: 0 }
    }
}

pub struct Scheduler {
    how: Schedule,
    processors: usize,
    chance: Rng,
    /// Processes that a processor may take, by when they became ready.
    ready: Vec<Ready>,
    /// Processes that became ready in this cycle.
    fresh: Vec<usize>,
    /// Waiting processes, and until when they wait.
    away: Vec<(u64, usize)>,
    /// The processor on which each process ran last.
    last: Vec<Option<usize>>,
    /// References that each process has begun.
    pub begun: Vec<u64>,
    pub switches: u64,
    pub migrations: u64,
}

impl Scheduler {
    pub fn new(how: Schedule, processes: usize, processors: usize) -> Self {
        Self {
            how,
            processors,
            chance: Rng::new(how.seed),
            ready: (0..processes).map(|process| Ready::new(process, 0)).collect(),
            fresh: Vec::new(),
            away: Vec::new(),
            last: vec![None; processes],
            begun: vec![0; processes],
            switches: 0,
            migrations: 0,
        }
    }

    /// Processes that became ready in the previous cycle may be taken; those whose wait is over may
    /// be in the next.
    pub fn begin_cycle(&mut self, cycle: u64) {
        let ready =
            self.fresh.drain(..).map(|process| Ready::new(process, cycle.saturating_sub(1)));
        self.ready.extend(ready);
        let mut back: Vec<_> = self.away.extract_if(.., |&mut (at, _)| at == cycle).collect();
        back.sort_unstable();
        self.fresh.extend(back.iter().map(|&(_, process)| process));
    }

    /// Whether any process is ready.
    pub fn is_any_ready(&self) -> bool {
        !self.ready.is_empty() || !self.fresh.is_empty()
    }

    /// Whether any process is ready or will be without another process's action.
    pub fn is_any_process_due(&self) -> bool {
        self.is_any_ready() || !self.away.is_empty()
    }

    pub fn becomes_ready(&mut self, process: usize) {
        self.fresh.push(process);
    }

    /// A system call blocks the process.
    pub fn waits(&mut self, process: usize, cycle: u64) {
        match self.how.wait {
            0 => self.becomes_ready(process),
            cycles => self.away.push((cycle + cycles, process)),
        }
    }

    /// Which idle processors, lowest first, take which processes.
    pub fn assign(&mut self, idle: &[usize], owed: &[u64], cycle: u64) -> Vec<(usize, usize)> {
        let mut given = Vec::new();
        if self.how.random {
            for &processor in idle.iter().take(self.ready.len()) {
                let eligible = self.eligible(owed);
                let number = self.chance.below(eligible.len() as u64);
                let at = eligible[usize::try_from(number).unwrap()];
                given.push((processor, self.take(at, processor)));
            }
            return given;
        }
        let mut without = Vec::new();
        for &processor in idle {
            let eligible = self.eligible(owed);
            let own = self.at_home(&eligible, processor);
            match self.starving(&eligible, own, cycle).or(own) {
                Some(at) => given.push((processor, self.take(at, processor))),
                None => without.push(processor),
            }
        }
        for processor in without {
            if !self.ready.is_empty() {
                let eligible = self.eligible(owed);
                // Others have made way: it may be at home here.
                let own = self.at_home(&eligible, processor);
                let at = self.starving(&eligible, own, cycle).or(own).unwrap_or(eligible[0]);
                given.push((processor, self.take(at, processor)));
            }
        }
        given
    }

    /// A process that has given way long enough to the one at this place.
    fn starving(&self, eligible: &[usize], own: Option<usize>, cycle: u64) -> Option<usize> {
        let Schedule { aging, slice, operation, .. } = self.how;
        let least = u64::from(aging);
        let all = eligible.iter().map(|&at| (at, &self.ready[at]));
        let is_starving = |r: &Ready| match self.how.unit {
            AgingUnit::Dispatches => r.passed_by_later >= aging,
            AgingUnit::HomeDispatches => r.passed_at_home >= aging,
            AgingUnit::SlicesWaited => cycle - r.since >= least * slice * operation,
            AgingUnit::SlicesBehind => own.is_some_and(|own| {
                let ahead = self.begun[self.ready[own].process];
                ahead.saturating_sub(self.begun[r.process]) > least * slice
            }),
        };
        all.filter(|(_, r)| is_starving(r)).map(|(at, _)| at).next()
    }

    fn at_home(&self, eligible: &[usize], processor: usize) -> Option<usize> {
        eligible.iter().copied().find(|&at| self.home(self.ready[at].process) == processor)
    }

    /// The places of ready processes that may be taken: those that have done their share make way.
    fn eligible(&self, owed: &[u64]) -> Vec<usize> {
        let places = 0..self.ready.len();
        let owing: Vec<usize> =
            places.clone().filter(|&at| owed[self.ready[at].process] > 0).collect();
        if owing.is_empty() || !self.how.restart { places.collect() } else { owing }
    }

    fn home(&self, process: usize) -> usize {
        self.last[process].unwrap_or(process % self.processors)
    }

    fn take(&mut self, at: usize, processor: usize) -> usize {
        for earlier in &mut self.ready[..at] {
            earlier.passed_by_later += 1;
        }
        let process = self.ready.remove(at).process;
        for at in 0..self.ready.len() {
            let at_home = self.home(self.ready[at].process) == processor;
            self.ready[at].passed_at_home += u32::from(at_home);
        }
        self.switches += 1;
        let before = self.last[process].replace(processor);
        self.migrations += u64::from(before.is_some_and(|before| before != processor));
        process
    }
}

/// A lock that a process has.
struct Lock {
    owner: usize,
    /// How often it acquired the lock without releasing it.
    times: u32,
    waiting: VecDeque<usize>,
}

/// The locks that are held, by their addresses.
#[derive(Default)]
pub struct Locks(BTreeMap<u64, Lock>);

impl Locks {
    /// Returns whether the process gets the lock; otherwise it waits.
    pub fn take(&mut self, process: usize, lock: u64) -> bool {
        let free = Lock { owner: process, times: 0, waiting: VecDeque::new() };
        let lock = self.0.entry(lock).or_insert(free);
        if lock.owner != process {
            lock.waiting.push_back(process);
            return false;
        }
        lock.times += 1;
        true
    }

    /// The next holder of a released lock, if it waited.
    pub fn give_back(&mut self, process: usize, at: u64) -> Option<usize> {
        let lock = self.0.get_mut(&at).filter(|lock| lock.owner == process)?;
        lock.times -= 1;
        if lock.times > 0 {
            return None;
        }
        let next = lock.waiting.pop_front();
        match next {
            Some(next) => (lock.owner, lock.times) = (next, 1),
            None => drop(self.0.remove(&at)),
        }
        next
    }

    pub fn has_waiting(&self, process: usize) -> bool {
        self.0.values().any(|lock| lock.waiting.contains(&process))
    }

    pub fn forget(&mut self, process: usize) {
        self.0.values_mut().for_each(|lock| lock.waiting.retain(|&other| other != process));
    }
}
