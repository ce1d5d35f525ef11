//! Which process runs where, written from the sentences of `docs/bus.md`.
//!
//! Random choices use the crate's generator: a number for each processor that takes a process,
//! among ready processes ordered by how long they are ready.

use std::collections::{BTreeMap, VecDeque};

use homenode_base::Rng;

/// How processes are assigned to processors.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub random: bool,
    pub slice: u64,
    pub aging: u32,
    pub wait: u64,
    pub seed: u64,
    /// Whether ended processes restart until as many references are done as the trace has.
    pub restart: bool,
}

/// A process that is ready.
struct Ready {
    process: usize,
    passed: u32,
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
    pub switches: u64,
    pub migrations: u64,
}

impl Scheduler {
    pub fn new(how: Schedule, processes: usize, processors: usize) -> Self {
        Self {
            how,
            processors,
            chance: Rng::new(how.seed),
            ready: (0..processes).map(|process| Ready { process, passed: 0 }).collect(),
            fresh: Vec::new(),
            away: Vec::new(),
            last: vec![None; processes],
            switches: 0,
            migrations: 0,
        }
    }

    /// Processes that became ready in the previous cycle may be taken; those whose wait is over may
    /// be in the next.
    pub fn begin_cycle(&mut self, cycle: u64) {
        let ready = self.fresh.drain(..).map(|process| Ready { process, passed: 0 });
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
    pub fn assign(&mut self, idle: &[usize]) -> Vec<(usize, usize)> {
        let mut given = Vec::new();
        if self.how.random {
            for &processor in idle.iter().take(self.ready.len()) {
                let at = self.chance.below(self.ready.len() as u64);
                given.push((processor, self.take(usize::try_from(at).unwrap(), processor)));
            }
            return given;
        }
        let mut without = Vec::new();
        for &processor in idle {
            let own = self.ready.iter().position(|r| self.home(r.process) == processor);
            match self.starving().or(own) {
                Some(at) => given.push((processor, self.take(at, processor))),
                None => without.push(processor),
            }
        }
        for processor in without {
            if !self.ready.is_empty() {
                let at = self.starving().unwrap_or(0);
                given.push((processor, self.take(at, processor)));
            }
        }
        given
    }

    /// A process that was passed over too often.
    fn starving(&self) -> Option<usize> {
        self.ready.iter().position(|r| r.passed >= self.how.aging)
    }

    fn home(&self, process: usize) -> usize {
        self.last[process].unwrap_or(process % self.processors)
    }

    fn take(&mut self, at: usize, processor: usize) -> usize {
        for earlier in &mut self.ready[..at] {
            earlier.passed += 1;
        }
        let process = self.ready.remove(at).process;
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

    pub fn forget(&mut self, process: usize) {
        self.0.values_mut().for_each(|lock| lock.waiting.retain(|&other| other != process));
    }
}
