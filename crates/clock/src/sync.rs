//! Locks, barriers, conditions, creation and end of processes: who may go on, and who waits.
//!
//! Nothing here takes time: what an acquire, a release or a barrier costs is the memory system's to
//! say. This only decides whether the process may go on then, and whom it wakes.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::streams::{OPEN, OpKind, Operation};

/// A lock: who has it, how often, and who waits.
#[derive(Default)]
struct Lock {
    owner: Option<usize>,
    depth: u32,
    waiting: VecDeque<usize>,
}

/// One use of a barrier by all its processes, or a condition: arrivals, and waits for a number of
/// them.
#[derive(Default)]
struct EpisodeWaits {
    arrived: u32,
    /// Who waits, and for how many arrivals.
    waiting: Vec<(usize, u32)>,
}

/// What processes synchronise by.
#[derive(Default)]
pub struct SyncObjects {
    locks: FxHashMap<u64, Lock>,
    episodes: FxHashMap<u64, EpisodeWaits>,
    /// How often each process has been created, and how many of its lives are over.
    created: Vec<u32>,
    ended: Vec<u32>,
    /// Which creation a process waits for; 0 if for none.
    uncreated: Vec<u32>,
    /// Who waits for the end of which life of whom.
    joins: Vec<(usize, usize, u32)>,
    /// Who may go on since [`Self::take_woken`].
    woken: Vec<usize>,
    /// The episode that a process waits for without knowing for how many arrivals.
    open: FxHashMap<usize, u64>,
    /// For how many arrivals a process waits that has not come to its open departure.
    resolved: FxHashMap<usize, u32>,
    /// How often each process was resumed before it paused, and whether it pauses.
    resumed: FxHashMap<usize, u32>,
    paused: Vec<usize>,
}

impl SyncObjects {
    /// For so many processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        let none = vec![0; processes];
        Self { created: none.clone(), ended: none.clone(), uncreated: none, ..Self::default() }
    }

    /// There are so many processes now.
    pub fn grow(&mut self, processes: usize) {
        for known in [&mut self.created, &mut self.ended, &mut self.uncreated] {
            known.resize(known.len().max(processes), 0);
        }
    }

    /// An operation of a process takes effect. Returns whether the process can go on; else
    /// [`Self::take_woken`] names it later, when another process's operation lets it.
    pub fn operate(&mut self, process: usize, operation: &Operation) -> bool {
        let addr = operation.addr;
        let number = usize::try_from(addr).unwrap_or(usize::MAX);
        let life = operation.count.max(1);
        match operation.kind {
            OpKind::Acquire => return self.acquire(process, addr),
            OpKind::Depart => return self.depart(process, (addr, operation.count)),
            OpKind::Begin => return self.begin(process, life),
            OpKind::Join => return self.join(process, number, life),
            OpKind::Pause => return self.pause(process),
            OpKind::Resume => self.resume(number),
            OpKind::Release => self.release(process, addr),
            OpKind::Arrive => self.arrive(addr),
            OpKind::Create => self.create(number, life),
            OpKind::Exit => self.end_life(process),
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

    /// Those who may go on since the last call, in the order in which they were let go.
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

    /// Releases a lock. One that the process does not own it took before the trace began: nobody
    /// waits for that.
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

    fn depart(&mut self, process: usize, (episode, mut count): (u64, u32)) -> bool {
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

    /// It is known for how many arrivals a process waits at its open departure, to which it may
    /// have still to come.
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

    /// Returns whether the process was resumed already.
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

    /// Whether a process waits for what only the program itself can end.
    #[must_use]
    pub fn waits_for_program(&self, process: usize) -> bool {
        self.open.contains_key(&process) || self.paused.contains(&process)
    }

    fn create(&mut self, number: usize, life: u32) {
        if let Some(created) = self.created.get_mut(number) {
            *created = life.max(*created);
            let awaited = &mut self.uncreated[number];
            if (1..=*created).contains(awaited) {
                *awaited = 0;
                self.woken.push(number);
            }
        }
    }

    fn begin(&mut self, process: usize, life: u32) -> bool {
        let created = self.created[process] >= life;
        self.uncreated[process] = if created { 0 } else { life };
        created
    }

    /// A process that is not in the trace has ended.
    fn join(&mut self, process: usize, child: usize, life: u32) -> bool {
        let ended = self.ended.get(child).is_none_or(|&ended| ended >= life);
        if !ended {
            self.joins.push((process, child, life));
        }
        ended
    }

    /// The process is over.
    pub fn end(&mut self, process: usize) {
        self.ended[process] = u32::MAX;
        self.wake_joining(process);
    }

    /// A life of the process is over.
    fn end_life(&mut self, process: usize) {
        self.ended[process] = self.ended[process].saturating_add(1);
        self.wake_joining(process);
    }

    fn wake_joining(&mut self, process: usize) {
        let (woken, ended) = (&mut self.woken, self.ended[process]);
        self.joins.retain(|&(waits, child, life)| {
            let over = child == process && ended >= life;
            if over {
                woken.push(waits);
            }
            !over
        });
    }

    /// Ends a process's wait, whatever it waits for. Under another schedule than the traced one
    /// processes can wait for each other in a cycle, which nothing else would end.
    pub fn break_deadlock(&mut self, process: usize) {
        for lock in self.locks.values_mut() {
            lock.waiting.retain(|&waits| waits != process);
        }
        for episode in self.episodes.values_mut() {
            episode.waiting.retain(|&(waits, _)| waits != process);
        }
        self.joins.retain(|&(waits, ..)| waits != process);
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
    fn a_lock_goes_to_who_asked_first_and_its_owner_may_take_it_again() {
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
    fn who_waits_goes_on_with_the_arrival_the_creation_or_the_end_it_waits_for() {
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
    fn each_life_of_a_process_is_created_and_joined_by_itself() {
        let mut sync = SyncObjects::new(2);
        let second = |kind, addr| Operation { count: 2, ..Operation::new(kind, addr) };
        operate(&mut sync, 0, OpKind::Create, 1);
        assert!(operate(&mut sync, 1, OpKind::Begin, 0));
        operate(&mut sync, 1, OpKind::Exit, 0);
        assert!(operate(&mut sync, 0, OpKind::Join, 1), "its first life is over");
        assert!(!sync.operate(1, &second(OpKind::Begin, 0)));
        sync.operate(0, &second(OpKind::Create, 1));
        assert_eq!(sync.take_woken(), [1]);
        assert!(!sync.operate(0, &second(OpKind::Join, 1)));
        operate(&mut sync, 1, OpKind::Exit, 0);
        assert_eq!(sync.take_woken(), [0]);
    }

    #[test]
    fn who_was_let_go_is_not_woken_again() {
        let mut sync = SyncObjects::new(2);
        assert!(operate(&mut sync, 0, OpKind::Acquire, 1));
        assert!(!operate(&mut sync, 1, OpKind::Acquire, 1));
        sync.break_deadlock(1);
        operate(&mut sync, 0, OpKind::Release, 1);
        assert!(sync.take_woken().is_empty());
    }
}
