//! Locks, barriers, conditions, and the creation and end of processes: which processes wait, and
//! which operations wake them.
//!
//! Nothing here takes time: the memory system decides the latency of an acquire, a release or a
//! barrier. This module only decides whether a process continues and which processes it wakes.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::streams::{OPEN, OpKind, Operation};

/// A recursive lock with its FIFO of waiting processes.
#[derive(Default)]
struct Lock {
    owner: Option<usize>,
    depth: u32,
    waiting: VecDeque<usize>,
}

/// A barrier episode or a condition: the arrivals so far, and processes that wait for a number of
/// arrivals.
#[derive(Default)]
struct EpisodeWaits {
    arrived: u32,
    /// Waiting processes, with the number of arrivals that each waits for.
    waiting: Vec<(usize, u32)>,
}

/// All synchronisation objects of a simulation.
#[derive(Default)]
pub struct SyncObjects {
    locks: FxHashMap<u64, Lock>,
    episodes: FxHashMap<u64, EpisodeWaits>,
    /// How often each process number has been created, and how many of its generations have ended.
    created: Vec<u32>,
    ended: Vec<u32>,
    /// The generation whose creation a process waits for; 0 if none.
    uncreated: Vec<u32>,
    joins: Vec<PendingJoin>,
    /// Processes woken since [`Self::take_woken`].
    woken: Vec<usize>,
    /// The episode at which a process waits for a number of arrivals that is not known yet.
    open: FxHashMap<usize, u64>,
    /// The number of arrivals for the next open departure of a process, if known before it.
    resolved: FxHashMap<usize, u32>,
    /// How often each process was resumed before it paused.
    resumed: FxHashMap<usize, u32>,
    /// Processes that are paused.
    paused: Vec<usize>,
}

/// A process that waits for the end of a generation of another process.
struct PendingJoin {
    waiter: usize,
    child: usize,
    generation: u32,
}

impl SyncObjects {
    /// For the given number of processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        let none = vec![0; processes];
        Self { created: none.clone(), ended: none.clone(), uncreated: none, ..Self::default() }
    }

    /// Raises the number of processes.
    pub fn grow(&mut self, processes: usize) {
        for known in [&mut self.created, &mut self.ended, &mut self.uncreated] {
            known.resize(known.len().max(processes), 0);
        }
    }

    /// Applies an operation of a process. Returns whether the process continues; if not,
    /// [`Self::take_woken`] returns it after another process's operation has woken it.
    pub fn operate(&mut self, process: usize, operation: &Operation) -> bool {
        let addr = operation.addr;
        let number = usize::try_from(addr).unwrap_or(usize::MAX);
        let generation = operation.count.max(1);
        match operation.kind {
            OpKind::Acquire => return self.acquire(process, addr),
            OpKind::Depart => return self.depart(process, addr, operation.count),
            OpKind::Begin => return self.begin(process, generation),
            OpKind::Join => return self.join(process, number, generation),
            OpKind::Pause => return self.pause(process),
            OpKind::Resume => self.resume(number),
            OpKind::Release => self.release(process, addr),
            OpKind::Arrive => self.arrive(addr),
            OpKind::Create => self.create(number, generation),
            OpKind::Exit => self.end_generation(process),
            OpKind::Read
            | OpKind::Write
            | OpKind::Atomic
            | OpKind::Fetch
            | OpKind::Yield
            | OpKind::InitDone
            | OpKind::Phase
            | OpKind::Alarm => {}
        }
        true
    }

    /// Processes woken since the last call, in order.
    pub fn take_woken(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.woken)
    }

    fn acquire(&mut self, process: usize, addr: u64) -> bool {
        let lock = self.locks.entry(addr).or_default();
        match lock.owner {
            None => (lock.owner, lock.depth) = (Some(process), 1),
            Some(owner) if owner == process => lock.depth += 1,
            Some(_) => {
                lock.waiting.push_back(process);
                return false;
            }
        }
        true
    }

    /// Releases a lock. If the process does not own it, it acquired it before the trace began, and
    /// no process waits for it.
    fn release(&mut self, process: usize, addr: u64) {
        let lock = self.locks.entry(addr).or_default();
        if lock.owner == Some(process) {
            lock.depth -= 1;
            if lock.depth == 0 {
                lock.owner = lock.waiting.pop_front();
                lock.depth = 1;
                self.woken.extend(lock.owner);
            }
        }
    }

    fn arrive(&mut self, episode: u64) {
        let EpisodeWaits { arrived, waiting } = self.episodes.entry(episode).or_default();
        *arrived += 1;
        let woken = &mut self.woken;
        waiting.retain(|&(process, count)| {
            if *arrived >= count {
                woken.push(process);
            }
            *arrived < count
        });
    }

    fn depart(&mut self, process: usize, episode: u64, mut count: u32) -> bool {
        if count == OPEN {
            match self.resolved.remove(&process) {
                Some(known) => count = known,
                None => _ = self.open.insert(process, episode),
            }
        }
        let EpisodeWaits { arrived, waiting } = self.episodes.entry(episode).or_default();
        let waits = *arrived < count;
        if waits {
            waiting.push((process, count));
        }
        !waits
    }

    /// Sets the number of arrivals for the open departure of a process, which the process may not
    /// have reached yet.
    pub fn resolve(&mut self, process: usize, count: u32) {
        let Some(episode) = self.open.remove(&process) else {
            self.resolved.insert(process, count);
            return;
        };
        let EpisodeWaits { arrived, waiting } = self.episodes.entry(episode).or_default();
        for (_, awaited) in waiting.iter_mut().filter(|(waits, _)| *waits == process) {
            *awaited = count;
        }
        if *arrived >= count {
            waiting.retain(|&(waits, _)| waits != process);
            self.woken.push(process);
        }
    }

    /// Returns whether the process continues because it has been resumed already.
    fn pause(&mut self, process: usize) -> bool {
        let resumed = self.resumed.entry(process).or_default();
        let goes_on = *resumed > 0;
        *resumed = resumed.saturating_sub(1);
        if !goes_on {
            self.paused.push(process);
        }
        goes_on
    }

    fn resume(&mut self, process: usize) {
        match self.paused.iter().position(|&paused| paused == process) {
            Some(at) => {
                self.paused.remove(at);
                self.woken.push(process);
            }
            None => *self.resumed.entry(process).or_default() += 1,
        }
    }

    /// Whether a process waits for its creation.
    #[must_use]
    pub fn is_unborn(&self, process: usize) -> bool {
        self.uncreated[process] != 0
    }

    /// Whether only the live program itself can end the wait of a process.
    #[must_use]
    pub fn waits_for_program(&self, process: usize) -> bool {
        self.open.contains_key(&process) || self.paused.contains(&process)
    }

    fn create(&mut self, number: usize, generation: u32) {
        if let Some(created) = self.created.get_mut(number) {
            *created = generation.max(*created);
            let awaited = &mut self.uncreated[number];
            if (1..=*created).contains(awaited) {
                *awaited = 0;
                self.woken.push(number);
            }
        }
    }

    fn begin(&mut self, process: usize, generation: u32) -> bool {
        let created = self.created[process] >= generation;
        self.uncreated[process] = if created { 0 } else { generation };
        created
    }

    /// Returns whether the child has ended. One that is not in the trace has.
    fn join(&mut self, process: usize, child: usize, generation: u32) -> bool {
        let ended = self.ended.get(child).is_none_or(|&ended| ended >= generation);
        if !ended {
            self.joins.push(PendingJoin { waiter: process, child, generation });
        }
        ended
    }

    /// The process has ended for good.
    pub fn end(&mut self, process: usize) {
        self.ended[process] = u32::MAX;
        self.wake_joining(process);
    }

    /// The current generation of the process has ended.
    fn end_generation(&mut self, process: usize) {
        self.ended[process] = self.ended[process].saturating_add(1);
        self.wake_joining(process);
    }

    fn wake_joining(&mut self, process: usize) {
        let (woken, ended) = (&mut self.woken, self.ended[process]);
        self.joins.retain(|join| {
            let over = join.child == process && ended >= join.generation;
            if over {
                woken.push(join.waiter);
            }
            !over
        });
    }

    /// Ends a process's wait, whatever it waits for. Under a schedule other than the traced one,
    /// processes can deadlock; nothing else would end that.
    pub fn break_deadlock(&mut self, process: usize) {
        for lock in self.locks.values_mut() {
            lock.waiting.retain(|&waits| waits != process);
        }
        for episode in self.episodes.values_mut() {
            episode.waiting.retain(|&(waits, _)| waits != process);
        }
        self.joins.retain(|join| join.waiter != process);
        self.uncreated[process] = 0;
        self.open.remove(&process);
        self.paused.retain(|&waits| waits != process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operate(sync: &mut SyncObjects, process: usize, kind: OpKind, addr: u64) -> bool {
        sync.operate(process, &Operation::new(kind, addr))
    }

    #[test]
    fn a_lock_is_fifo_and_recursive() {
        let mut sync = SyncObjects::new(3);
        let lock = 0x40;
        assert!(operate(&mut sync, 0, OpKind::Acquire, lock));
        assert!(operate(&mut sync, 0, OpKind::Acquire, lock), "once more");
        assert!(!operate(&mut sync, 2, OpKind::Acquire, lock));
        assert!(!operate(&mut sync, 1, OpKind::Acquire, lock));
        operate(&mut sync, 1, OpKind::Release, lock);
        operate(&mut sync, 0, OpKind::Release, lock);
        assert!(sync.take_woken().is_empty(), "it was taken twice");
        operate(&mut sync, 0, OpKind::Release, lock);
        assert_eq!(sync.take_woken(), [2]);
        operate(&mut sync, 2, OpKind::Release, lock);
        assert_eq!((sync.take_woken(), sync.take_woken()), (vec![1], vec![]));
    }

    #[test]
    fn arrivals_creations_and_ends_wake_the_processes_that_wait_for_them() {
        let mut sync = SyncObjects::new(3);
        let depart = Operation { count: 2, ..Operation::new(OpKind::Depart, 7) };
        assert!(operate(&mut sync, 0, OpKind::Arrive, 7));
        assert!(!sync.operate(0, &depart));
        operate(&mut sync, 1, OpKind::Arrive, 7);
        assert_eq!(sync.take_woken(), [0]);
        assert!(sync.operate(1, &depart), "all are there");
        assert!(!operate(&mut sync, 2, OpKind::Begin, 0));
        operate(&mut sync, 0, OpKind::Create, 2);
        assert_eq!(sync.take_woken(), [2]);
        assert!(!operate(&mut sync, 0, OpKind::Join, 2));
        assert!(operate(&mut sync, 0, OpKind::Join, 9), "it is not in the trace");
        operate(&mut sync, 2, OpKind::Exit, 0);
        assert_eq!(sync.take_woken(), [0]);
    }

    #[test]
    fn each_generation_of_a_process_is_created_and_joined_separately() {
        let mut sync = SyncObjects::new(2);
        let second = |kind, addr| Operation { count: 2, ..Operation::new(kind, addr) };
        operate(&mut sync, 0, OpKind::Create, 1);
        assert!(operate(&mut sync, 1, OpKind::Begin, 0));
        operate(&mut sync, 1, OpKind::Exit, 0);
        assert!(operate(&mut sync, 0, OpKind::Join, 1), "its first generation is over");
        assert!(!sync.operate(1, &second(OpKind::Begin, 0)));
        sync.operate(0, &second(OpKind::Create, 1));
        assert_eq!(sync.take_woken(), [1]);
        assert!(!sync.operate(0, &second(OpKind::Join, 1)));
        operate(&mut sync, 1, OpKind::Exit, 0);
        assert_eq!(sync.take_woken(), [0]);
    }

    #[test]
    fn a_process_released_from_a_deadlock_is_not_woken_again() {
        let mut sync = SyncObjects::new(2);
        assert!(operate(&mut sync, 0, OpKind::Acquire, 1));
        assert!(!operate(&mut sync, 1, OpKind::Acquire, 1));
        sync.break_deadlock(1);
        operate(&mut sync, 0, OpKind::Release, 1);
        assert!(sync.take_woken().is_empty());
    }
}
