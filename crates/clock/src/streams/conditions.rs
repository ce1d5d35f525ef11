//! Conditions and semaphores: what a process that waited for one has to wait for again.
//!
//! A trace says when a thread began to wait and when somebody woke, not who went on because of
//! whom. So what is asked for is what had happened in the trace. Who waits for a condition, and so
//! gives its lock back, goes on when all wakes before it went on in the trace have come again, and
//! at once if none came while it waited: its time was over. A semaphore is known by keeping its
//! locks: who waits for it as the k-th one goes on when k times somebody has posted, less what it
//! held in the beginning, which is the most that was ever taken before it was posted.

use homenode_base::Flags;
use rustc_hash::FxHashMap;

use super::operation::{OpKind, Operation};

/// The number under which wakes at the address arrive, like threads at an episode of a barrier;
/// episodes are counted from 0.
pub fn wakes_of(addr: u64) -> u64 {
    !addr
}

/// What is known of a condition or semaphore.
#[derive(Default)]
struct Condition {
    wakes: u32,
    /// How many have waited for the semaphore.
    taken: u32,
    /// How many took what nobody had posted.
    held: u32,
}

/// A process that waits.
struct Wait {
    addr: u64,
    /// How many wakes there were when it began.
    wakes: u32,
    /// Whether it has given a lock back.
    released: bool,
    /// Whether it has made a synchronisation reference, as before giving a lock back.
    synchronised: bool,
}

/// The conditions and semaphores of a trace, in its order.
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

    /// Somebody wakes who waits at the address.
    pub fn wake(&mut self, addr: u64) {
        self.known.entry(addr).or_default().wakes += 1;
    }

    /// A process begins to wait at the address.
    pub fn wait(&mut self, process: usize, addr: u64) {
        let wakes = self.known.entry(addr).or_default().wakes;
        self.waiting[process] = Some(Wait { addr, wakes, released: false, synchronised: false });
    }

    /// What a process has to do before its next operation in the trace.
    #[inline]
    pub fn before(&mut self, process: usize, next: &Operation) -> Option<Operation> {
        if self.waiting[process].is_none() { None } else { self.goes_on(process, next) }
    }

    #[cold]
    fn goes_on(&mut self, process: usize, next: &Operation) -> Option<Operation> {
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
        let wait = self.waiting[process].take()?;
        let condition = self.known.get_mut(&wait.addr)?;
        let count = condition.wanted(&wait);
        let depart = Operation::new(OpKind::Depart, wakes_of(wait.addr));
        (count > 0).then_some(Operation { count, ..depart })
    }
}

impl Condition {
    /// How many wakes must have come before the wait is over.
    fn wanted(&mut self, wait: &Wait) -> u32 {
        if wait.released {
            return if self.wakes == wait.wakes { 0 } else { self.wakes };
        }
        self.taken += 1;
        self.held = self.held.max(self.taken.saturating_sub(self.wakes));
        self.taken - self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40;

    fn operation(kind: OpKind, flags: Flags) -> Operation {
        Operation { size: 4, flags: flags.0, ..Operation::new(kind, 8) }
    }

    /// How many wakes a process waits for before an operation, if it does.
    fn wanted(conditions: &mut Conditions, process: usize, kind: OpKind) -> Option<u32> {
        let before = conditions.before(process, &operation(kind, Flags(0)))?;
        assert_eq!((before.kind, before.addr), (OpKind::Depart, wakes_of(AT)));
        Some(before.count)
    }

    #[test]
    fn who_waits_for_a_condition_goes_on_after_the_wakes_of_the_trace() {
        let mut conditions = Conditions::new(3);
        conditions.wake(AT);
        for process in [0, 1, 2] {
            conditions.wait(process, AT);
            let unlock = operation(OpKind::Atomic, Flags::SYNC);
            assert_eq!(conditions.before(process, &unlock), None);
            assert_eq!(wanted(&mut conditions, process, OpKind::Release), None);
        }
        assert_eq!(wanted(&mut conditions, 2, OpKind::Acquire), None, "its time was over");
        conditions.wake(AT);
        assert_eq!(wanted(&mut conditions, 0, OpKind::Acquire), Some(2));
        assert_eq!(wanted(&mut conditions, 0, OpKind::Read), None, "it has gone on");
        conditions.wake(AT);
        assert_eq!(wanted(&mut conditions, 1, OpKind::Acquire), Some(3));
    }

    #[test]
    fn who_waits_for_a_semaphore_needs_as_many_posts_as_have_waited() {
        let mut conditions = Conditions::new(2);
        // It holds one in the beginning.
        conditions.wait(0, AT);
        assert_eq!(wanted(&mut conditions, 0, OpKind::Read), None);
        for _ in 0..3 {
            conditions.wake(AT);
        }
        conditions.wait(0, AT);
        let locks = operation(OpKind::Atomic, Flags::SYNC);
        assert_eq!(conditions.before(0, &locks), None);
        assert_eq!(wanted(&mut conditions, 0, OpKind::Acquire), Some(1), "not all three");
        conditions.wait(1, AT);
        assert_eq!(wanted(&mut conditions, 1, OpKind::Write), Some(2));
    }
}
