//! Locks, barriers, births and ends: who waits for whom.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::stream::{Item, Step};

/// A lock: who has it, how often, and who waits.
#[derive(Default)]
struct Lock {
    owner: Option<usize>,
    depth: u32,
    waiting: VecDeque<usize>,
}

/// What processes wait for.
#[derive(Default)]
pub(super) struct Synchronise {
    locks: FxHashMap<u64, Lock>,
    /// How many have arrived at each episode of a barrier, and who waits for how many.
    barriers: FxHashMap<u64, (u32, Vec<(usize, u32)>)>,
    made: Vec<bool>,
    ended: Vec<bool>,
    unborn: Vec<bool>,
    /// Who waits for the end of whom.
    joins: Vec<(usize, usize)>,
    /// Who may go on.
    pub(super) woken: Vec<usize>,
}

impl Synchronise {
    pub(super) fn new(processes: usize) -> Self {
        let none = vec![false; processes];
        Self { made: none.clone(), ended: none.clone(), unborn: none, ..Self::default() }
    }

    /// A step of a process. Returns whether it can go on; else it is woken some day.
    pub(super) fn step(&mut self, process: usize, item: &Item) -> bool {
        let number = usize::try_from(item.addr).unwrap_or(usize::MAX);
        match item.step {
            Step::Acquire => self.acquire(process, item.addr),
            Step::Release => self.release(process, item.addr),
            Step::Arrive => self.arrive(item.addr),
            Step::Depart => {
                let (arrived, waiting) = self.barriers.entry(item.addr).or_default();
                if *arrived < item.count {
                    waiting.push((process, item.count));
                    return false;
                }
                true
            }
            Step::Create => {
                if let Some(made) = self.made.get_mut(number) {
                    *made = true;
                    if std::mem::take(&mut self.unborn[number]) {
                        self.woken.push(number);
                    }
                }
                true
            }
            Step::Born => {
                self.unborn[process] = !self.made[process];
                self.made[process]
            }
            Step::Join => {
                let ended = self.ended.get(number).copied().unwrap_or(true);
                if !ended {
                    self.joins.push((process, number));
                }
                ended
            }
            Step::Exit => {
                self.end(process);
                true
            }
            Step::Read | Step::Write | Step::Atomic | Step::Fetch | Step::Yield => true,
        }
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

    /// Gives a lock back; one that another has was taken before the trace began.
    fn release(&mut self, process: usize, addr: u64) -> bool {
        let lock = self.locks.entry(addr).or_default();
        if lock.owner == Some(process) {
            lock.depth -= 1;
            if lock.depth == 0 {
                lock.owner = lock.waiting.pop_front();
                lock.depth = 1;
                self.woken.extend(lock.owner);
            }
        }
        true
    }

    fn arrive(&mut self, episode: u64) -> bool {
        let (arrived, waiting) = self.barriers.entry(episode).or_default();
        *arrived += 1;
        let arrived = *arrived;
        let woken = &mut self.woken;
        waiting.retain(|&(process, count)| {
            if arrived >= count {
                woken.push(process);
            }
            arrived < count
        });
        true
    }

    /// The process is over.
    pub(super) fn end(&mut self, process: usize) {
        self.ended[process] = true;
        let woken = &mut self.woken;
        self.joins.retain(|&(waits, child)| {
            if child == process {
                woken.push(waits);
            }
            child != process
        });
    }

    /// Nobody can go on: lets the process go that waits, whatever for.
    pub(super) fn force(&mut self, process: usize) {
        for lock in self.locks.values_mut() {
            lock.waiting.retain(|&waits| waits != process);
        }
        for (_, waiting) in self.barriers.values_mut() {
            waiting.retain(|&(waits, _)| waits != process);
        }
        self.joins.retain(|&(waits, _)| waits != process);
        self.unborn[process] = false;
    }
}
