//! Condition variables and semaphores: how many wakes a waiting process needs in the simulation.
//!
//! A trace has the beginning of each wait and each signal or post (here: wakes), but not which wake
//! ended which wait. So the simulation requires the wakes that the trace has before the waiting
//! process continued.
//!
//! * A process that waits for a condition variable releases a lock. It continues when all wakes
//!   that precede its continuation in the trace have occurred, and at once if none occurred during
//!   its wait: then it timed out.
//! * A process that waits without releasing a lock waits for a semaphore. The k-th wait ends after
//!   k posts, less the initial value. The trace does not have that value; it is taken as the
//!   largest number of waits that were ahead of the posts.
//! * A process that waits within a system call waits for a futex, as for a semaphore, until the
//!   call is over.

use homenode_base::Flags;
use rustc_hash::FxHashMap;

use super::forecast::ForeseenWait;
use super::operation::{OpKind, Operation};

/// The episode number under which wakes at the address are counted, as arrivals at a barrier are.
/// The episodes of barriers are numbered from 0 and never reach such numbers.
pub fn wake_episode(addr: u64) -> u64 {
    !addr
}

/// Counts of a condition variable or semaphore.
#[derive(Default)]
struct Condition {
    wakes: u32,
    /// Completed waits for the semaphore.
    taken: u32,
    /// The initial value of the semaphore, as far as it is known.
    initial: u32,
}

struct Wait {
    addr: u64,
    /// Wakes at the address before the wait began.
    wakes: u32,
    /// Whether the process has released a lock since.
    released: bool,
    /// Whether the process has made a synchronisation reference, which may precede the release.
    synchronised: bool,
    /// The end of the wait, if the forecast has it and the process releases a lock.
    foreseen: Option<ForeseenWait>,
}

/// The condition variables and semaphores of a trace, whose events come in trace order.
pub struct Conditions {
    known: FxHashMap<u64, Condition>,
    waiting: Vec<Option<Wait>>,
}

impl Conditions {
    pub fn new(processes: usize) -> Self {
        Self {
            known: FxHashMap::default(),
            waiting: std::iter::repeat_with(|| None).take(processes).collect(),
        }
    }

    /// Raises the number of processes.
    pub fn grow(&mut self, processes: usize) {
        self.waiting.resize_with(processes, || None);
    }

    /// The episode whose wakes a process waits for; `None` if it does not wait.
    #[must_use]
    pub fn episode(&self, process: usize) -> Option<u64> {
        self.waiting.get(process)?.as_ref().map(|wait| wake_episode(wait.addr))
    }

    /// Ends the wait of a process that no wake ended.
    pub fn forget(&mut self, process: usize) {
        self.waiting[process] = None;
    }

    /// A process signals the condition or posts the semaphore at the address.
    pub fn wake(&mut self, addr: u64) {
        self.known.entry(addr).or_default().wakes += 1;
    }

    /// A process begins to wait at the address.
    pub fn wait(&mut self, process: usize, addr: u64, foreseen: Option<ForeseenWait>) {
        let wakes = self.known.entry(addr).or_default().wakes;
        let (released, synchronised) = (false, false);
        self.waiting[process] = Some(Wait { addr, wakes, released, synchronised, foreseen });
    }

    /// Whether a process waits at the current point of the trace.
    #[inline]
    pub fn is_waiting(&self, process: usize) -> bool {
        self.waiting[process].is_some()
    }

    /// The departure to insert before the next operation of a process, if this operation shows that
    /// a wait is over.
    #[inline]
    pub fn before(&mut self, process: usize, next: &Operation) -> Option<Operation> {
        if self.waiting[process].is_none() { None } else { self.resume(process, next) }
    }

    #[cold]
    fn resume(&mut self, process: usize, next: &Operation) -> Option<Operation> {
        let wait = self.waiting[process].as_mut()?;
        if !wait.released {
            let synchronises = Flags(next.flags).contains(Flags::SYNC);
            if next.kind == OpKind::Release {
                wait.released = true;
                return None;
            }
            if synchronises && !std::mem::replace(&mut wait.synchronised, true) {
                return None;
            }
        }
        self.end(process)
    }

    /// The departure of a process that returns from a system call, if it waited there.
    pub fn after_call(&mut self, process: usize) -> Option<Operation> {
        let wait = self.waiting[process].as_ref()?;
        if wait.released { None } else { self.end(process) }
    }

    /// The departure that the forecast has for a process, once the trace has been split up to
    /// `rows`.
    pub fn foreseen(&mut self, process: usize, rows: u64) -> Option<Operation> {
        let wait = self.waiting[process].as_ref()?;
        let due = wait.released && wait.foreseen.is_some_and(|foreseen| foreseen.after <= rows);
        if due { self.end(process) } else { None }
    }

    /// Ends the wait of a process. Returns the departure for it, if any wakes are needed.
    pub fn end(&mut self, process: usize) -> Option<Operation> {
        let wait = self.waiting[process].take()?;
        let condition = self.known.get_mut(&wait.addr)?;
        let count = condition.wakes_needed(&wait);
        let depart = Operation::new(OpKind::Depart, wake_episode(wait.addr));
        (count > 0).then_some(Operation { count, ..depart })
    }
}

impl Condition {
    /// The number of wakes at the address that must have occurred before the wait ends.
    fn wakes_needed(&mut self, wait: &Wait) -> u32 {
        if wait.released {
            let wakes = wait.foreseen.map_or(self.wakes, |foreseen| foreseen.wakes);
            return if wakes == wait.wakes { 0 } else { wakes };
        }
        self.taken += 1;
        self.initial = self.initial.max(self.taken.saturating_sub(self.wakes));
        self.taken - self.initial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40;

    fn operation(kind: OpKind, flags: Flags) -> Operation {
        Operation { size: 4, flags: flags.0, ..Operation::new(kind, 8) }
    }

    /// The number of wakes that a process needs before an operation, if it waits.
    fn wakes_needed(conditions: &mut Conditions, process: usize, kind: OpKind) -> Option<u32> {
        let before = conditions.before(process, &operation(kind, Flags(0)))?;
        assert_eq!((before.kind, before.addr), (OpKind::Depart, wake_episode(AT)));
        Some(before.count)
    }

    #[test]
    fn a_condition_wait_ends_after_the_wakes_in_the_trace() {
        let mut conditions = Conditions::new(3);
        conditions.wake(AT);
        for process in [0, 1, 2] {
            conditions.wait(process, AT, None);
            let unlock = operation(OpKind::Atomic, Flags::SYNC);
            assert_eq!(conditions.before(process, &unlock), None);
            assert_eq!(wakes_needed(&mut conditions, process, OpKind::Release), None);
        }
        assert_eq!(wakes_needed(&mut conditions, 2, OpKind::Acquire), None, "it timed out");
        conditions.wake(AT);
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Acquire), Some(2));
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Read), None, "its wait is over");
        conditions.wake(AT);
        assert_eq!(wakes_needed(&mut conditions, 1, OpKind::Acquire), Some(3));
    }

    #[test]
    fn a_semaphore_wait_ends_after_as_many_posts_as_waits() {
        let mut conditions = Conditions::new(2);
        // Its initial value is one.
        conditions.wait(0, AT, None);
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Read), None);
        for _ in 0..3 {
            conditions.wake(AT);
        }
        conditions.wait(0, AT, None);
        let locks = operation(OpKind::Atomic, Flags::SYNC);
        assert_eq!(conditions.before(0, &locks), None);
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Acquire), Some(1), "not all three");
        conditions.wait(1, AT, None);
        assert_eq!(wakes_needed(&mut conditions, 1, OpKind::Write), Some(2));
    }
}
