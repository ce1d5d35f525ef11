//! The precedence (happens-before) relation that every legal order of the same references obeys. A
//! *record* is a reference or an event.
//!
//! 1. The records of a thread keep their order.
//! 2. Operations on the same object keep theirs. Objects are locks, barriers, conditions and
//!    semaphores (by the address in the event); the 8 bytes that an atomic reference, or one
//!    flagged as synchronisation, touches; memory management as a whole (allocations, releases,
//!    mappings: a block may be allocated again at the same address); and the kernel as a whole
//!    (system calls, forks, mappings: one thread may read what another wrote).
//! 3. The end of a wait for a condition or a semaphore has no event. So all records after the wait,
//!    up to and including the thread's first plain reference, count as operations on the condition,
//!    which keeps them after the wake-up.
//! 4. A thread's records follow its creation and precede the join with it; those of an earlier
//!    thread with the same number precede the creation of the next.
//!
//! These are all edges that the recorded operations imply, and more: two readers of a lock keep
//! their order too. The recorded order obeys the rules, so the oldest record that is left never has
//! to wait.

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::EventKind;
use rustc_hash::FxHashMap;

/// The condition that `records` records of a thread have been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Precedence {
    thread: u16,
    records: u64,
}

impl Precedence {
    pub(super) fn is_past(&self, done: &[u64]) -> bool {
        let done = done.get(usize::from(self.thread)).copied().unwrap_or(0);
        done >= self.records
    }
}

const MEMORY: u64 = u64::MAX;
const KERNEL: u64 = u64::MAX - 1;
const OBJECTS_MAX: usize = 1 << 16;

#[derive(Default)]
pub(super) struct OrderRules {
    threads: Vec<ThreadOrder>,
    /// The last operation on each object: 8 bytes by their number, memory management, the kernel.
    last: FxHashMap<u64, Precedence>,
    conditions: Vec<Precedence>,
    /// Number of objects at which to remove some next.
    remove_at: usize,
}

#[derive(Default)]
struct ThreadOrder {
    is_known: bool,
    records: u64,
    /// Its creation, until its next record.
    created: Option<Precedence>,
    /// The condition it waited for, until its next plain reference.
    condition: Option<u64>,
}

impl OrderRules {
    pub(super) fn is_new(&mut self, thread: u16) -> bool {
        let thread = self.thread(thread);
        !std::mem::replace(&mut thread.is_known, true)
    }

    pub(super) fn access(&mut self, access: &Access) {
        self.begin(access.thread);
        let ordered = access.kind == AccessKind::Atomic || access.flags.contains(Flags::SYNC);
        if ordered {
            let last = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
            for word in access.addr >> 3..=last >> 3 {
                self.operate_on(access.thread, word);
            }
        }
        self.after_wait(access.thread, !ordered);
    }

    pub(super) fn event(&mut self, thread: u16, what: &EventKind) {
        self.begin(thread);
        self.after_wait(thread, false);
        match what {
            EventKind::LockAcquire { addr }
            | EventKind::LockRelease { addr }
            | EventKind::BarrierEnter { addr }
            | EventKind::BarrierLeave { addr }
            | EventKind::ConditionWake { addr } => self.operate_on(thread, addr >> 3),
            EventKind::ConditionWait { addr } => {
                self.operate_on(thread, addr >> 3);
                self.thread(thread).condition = Some(addr >> 3);
            }
            EventKind::Alloc { .. } | EventKind::Free { .. } => self.operate_on(thread, MEMORY),
            EventKind::Map { .. } | EventKind::Unmap { .. } => {
                self.operate_on(thread, MEMORY);
                self.operate_on(thread, KERNEL);
            }
            EventKind::SyscallEnter { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Fork { .. } => self.operate_on(thread, KERNEL),
            EventKind::ThreadCreate { child } if *child != thread => {
                self.wait_for_all_of(*child);
                let records = self.thread(thread).records;
                self.thread(*child).created = Some(Precedence { thread, records });
            }
            EventKind::ThreadJoin { child } if *child != thread => self.wait_for_all_of(*child),
            EventKind::ThreadCreate { .. }
            | EventKind::ThreadJoin { .. }
            | EventKind::ThreadStart { .. }
            | EventKind::ThreadExit
            | EventKind::InitDone
            | EventKind::Phase { .. }
            | EventKind::Marker { .. } => {}
        }
    }

    /// The conditions of the record read last that do not hold yet.
    pub(super) fn take_conditions<'a>(
        &'a mut self,
        done: &'a [u64],
    ) -> impl Iterator<Item = Precedence> + 'a {
        if self.last.len() > self.remove_at.max(OBJECTS_MAX) {
            self.last.retain(|_, before| !before.is_past(done));
            self.remove_at = 2 * self.last.len();
        }
        self.conditions.drain(..).filter(|before| !before.is_past(done))
    }

    fn begin(&mut self, thread: u16) {
        let state = self.thread(thread);
        state.records += 1;
        let created = state.created.take();
        self.conditions.extend(created);
    }

    /// The record is an operation on an object: it follows the last operation on it.
    fn operate_on(&mut self, thread: u16, object: u64) {
        let records = self.thread(thread).records;
        let last = self.last.insert(object, Precedence { thread, records });
        self.conditions.extend(last.filter(|last| last.thread != thread));
    }

    /// After a wait the record is an operation on the condition; a plain reference is the last one.
    fn after_wait(&mut self, thread: u16, is_plain: bool) {
        if let Some(object) = self.thread(thread).condition {
            self.operate_on(thread, object);
            if is_plain {
                self.thread(thread).condition = None;
            }
        }
    }

    /// The record follows all records of a thread so far.
    fn wait_for_all_of(&mut self, thread: u16) {
        let records = self.thread(thread).records;
        self.conditions.push(Precedence { thread, records });
    }

    fn thread(&mut self, thread: u16) -> &mut ThreadOrder {
        let place = usize::from(thread);
        if place >= self.threads.len() {
            self.threads.resize_with(place + 1, ThreadOrder::default);
        }
        &mut self.threads[place]
    }
}
