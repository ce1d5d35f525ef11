//! Condition variables and semaphores: what a waiting process waits for in the simulation.
//!
//! A trace has the beginning of each wait and each signal or post (here: wakes), but not which wake
//! ended which wait. So the simulation requires the wakes that the trace has before the waiting
//! process continued.
//!
//! * A process that waits for a condition variable releases a lock. It continues when all wakes
//!   have occurred that precede its continuation in the trace, and at once if none occurred during
//!   its wait: it timed out.
//! * A process that waits without releasing a lock waits for a semaphore. The k-th wait ends after
//!   k posts, less the initial value. The trace does not have that value; it is taken as the
//!   largest number of waits that were ahead of the posts.
//! * A process that waits within a system call waits for a futex, as for a semaphore, until the
//!   call is over.

use homenode_base::Flags;
use rustc_hash::FxHashMap;

use super::forecast::ForeseenWait;
use super::operation::{OpKind, Operation};

/// The number under which wakes at the address are counted, as arrivals at an episode of a barrier.
/// The episodes of barriers are numbered from 0 and never reach such numbers.
pub fn wake_episode(addr: u64) -> u64 {
    !addr
}

/// Counts of a condition variable or semaphore.
#[derive(Default)]
struct Condition {
    wakes: u32,
    /// Waits for the semaphore.
    taken: u32,
    /// The initial value of the semaphore, as far as it is known.
    initial: u32,
}

/// A process that waits.
struct Wait {
    addr: u64,
    /// Wakes before it began.
    wakes: u32,
    /// Whether it has released a lock.
    released: bool,
    /// Whether it has made a synchronisation reference, as before the release of a lock.
    synchronised: bool,
    /// How it ends, if that was found beforehand and it releases a lock.
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

    /// There are so many processes now.
    pub fn grow(&mut self, processes: usize) {
        self.waiting.resize_with(processes, || None);
    }

    /// The number under which the wakes are counted that a process waits for.
    #[must_use]
    pub fn episode(&self, process: usize) -> Option<u64> {
        self.waiting.get(process)?.as_ref().map(|wait| wake_episode(wait.addr))
    }

    /// A process waits no longer, and nothing woke it.
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

    /// Whether a process waits, as far as the trace has come.
    #[inline]
    pub fn is_waiting(&self, process: usize) -> bool {
        self.waiting[process].is_some()
    }

    /// The operation that a process must complete before its next one in the trace, if any.
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

    /// What ends the wait of a process that comes back from a system call, if it waited there.
    pub fn after_call(&mut self, process: usize) -> Option<Operation> {
        let wait = self.waiting[process].as_ref()?;
        if wait.released { None } else { self.end(process) }
    }

    /// What ends the wait of a process, if the trace has so many rows before that and it was found
    /// beforehand.
    pub fn foreseen(&mut self, process: usize, rows: u64) -> Option<Operation> {
        let wait = self.waiting[process].as_ref()?;
        let due = wait.released && wait.foreseen.is_some_and(|foreseen| foreseen.after <= rows);
        if due { self.end(process) } else { None }
    }

    /// The process goes on: what it has to wait for until then.
    pub fn end(&mut self, process: usize) -> Option<Operation> {
        let wait = self.waiting[process].take()?;
        let condition = self.known.get_mut(&wait.addr)?;
        let count = condition.wakes_needed(&wait);
        let depart = Operation::new(OpKind::Depart, wake_episode(wait.addr));
        (count > 0).then_some(Operation { count, ..depart })
    }
}

impl Condition {
    /// Wakes that must have occurred before the wait ends.
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

    /// The wakes that a process waits for before an operation, if it waits.
    fn wakes_needed(conditions: &mut Conditions, process: usize, kind: OpKind) -> Option<u32> {
        let before = conditions.before(process, &operation(kind, Flags(0)))?;
        assert_eq!((before.kind, before.addr), (OpKind::Depart, wake_episode(AT)));
        Some(before.count)
    }

    #[test]
    fn a_wait_for_a_condition_ends_after_the_wakes_of_the_trace() {
        let mut conditions = Conditions::new(3);
        conditions.wake(AT);
        for process in [0, 1, 2] {
            conditions.wait(process, AT, None);
            let unlock = operation(OpKind::Atomic, Flags::SYNC);
            assert_eq!(conditions.before(process, &unlock), None);
            assert_eq!(wakes_needed(&mut conditions, process, OpKind::Release), None);
        }
        assert_eq!(wakes_needed(&mut conditions, 2, OpKind::Acquire), None, "its time was over");
        conditions.wake(AT);
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Acquire), Some(2));
        assert_eq!(wakes_needed(&mut conditions, 0, OpKind::Read), None, "it has gone on");
        conditions.wake(AT);
        assert_eq!(wakes_needed(&mut conditions, 1, OpKind::Acquire), Some(3));
    }

    #[test]
    fn a_wait_for_a_semaphore_ends_after_as_many_posts_as_waits() {
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
