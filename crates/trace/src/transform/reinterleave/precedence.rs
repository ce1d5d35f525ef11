//! What must come before what, for an order of the same references to be legal.
//!
//! 1. What a thread did keeps its order.
//! 2. Operations on the same object keep theirs. Objects are locks, barriers, conditions and
//!    semaphores (by the address in the event); the 8 bytes that an atomic reference, or one
//!    flagged as synchronisation, touches; memory management as a whole (allocations, releases,
//!    mappings: a block may be given out again under the same address); and the kernel as a whole
//!    (system calls, forks, mappings: one thread may read what another wrote).
//! 3. A thread that waits for a condition or a semaphore leaves no event when it is woken. So all
//!    it does after the wait, up to and with its first plain reference, counts as an operation on
//!    the condition: that comes after the wake-up, as it did.
//! 4. A thread's items after its creation come after the creation; those before it is joined come
//!    before the join, and those of the earlier thread of a number before the creation of the next.
//!
//! These are all edges that the recorded operations imply, and more: two readers of a lock keep
//! their order too. The recorded order obeys the rules, so at any time the oldest item that is left
//! has nothing to wait for.

use homenode_base::{Access, AccessKind, Flags};
use rustc_hash::FxHashMap;

use crate::model::EventKind;

/// So many items of a thread must have been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Precedence {
    thread: u16,
    items: u64,
}

impl Precedence {
    pub(super) fn is_past(&self, done: &[u64]) -> bool {
        let done = done.get(usize::from(self.thread)).copied().unwrap_or(0);
        done >= self.items
    }
}

/// Memory management.
const MEMORY: u64 = u64::MAX;
/// The operating system.
const KERNEL: u64 = u64::MAX - 1;
/// Objects to remember before those are forgotten that nothing waits for any more.
const MANY: usize = 1 << 16;

/// The state of the rules after the items read so far.
#[derive(Default)]
pub(super) struct OrderRules {
    threads: Vec<ThreadOrder>,
    /// The last operation on each object: 8 bytes by their number, memory management, the kernel.
    last: FxHashMap<u64, Precedence>,
    /// What the last item waits for.
    found: Vec<Precedence>,
    /// Objects at which to forget.
    most: usize,
}

#[derive(Default)]
struct ThreadOrder {
    is_known: bool,
    /// Items read.
    items: u64,
    /// Its creation, until its next item.
    created: Option<Precedence>,
    /// What it waited for, until its next plain reference.
    condition: Option<u64>,
}

impl OrderRules {
    /// Whether this is the first item of a thread.
    pub(super) fn is_new(&mut self, thread: u16) -> bool {
        let thread = self.thread(thread);
        !std::mem::replace(&mut thread.is_known, true)
    }

    /// Reads a reference.
    pub(super) fn access(&mut self, access: &Access) {
        self.begin(access.thread);
        let ordered = access.kind == AccessKind::Atomic || access.flags.contains(Flags::SYNC);
        if ordered {
            let last = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
            for word in access.addr >> 3..=last >> 3 {
                self.operate(access.thread, word);
            }
        }
        self.after_wait(access.thread, !ordered);
    }

    /// Reads an event.
    pub(super) fn event(&mut self, thread: u16, what: &EventKind) {
        self.begin(thread);
        self.after_wait(thread, false);
        match what {
            EventKind::LockAcquire { addr }
            | EventKind::LockRelease { addr }
            | EventKind::BarrierEnter { addr }
            | EventKind::BarrierLeave { addr }
            | EventKind::ConditionWake { addr } => self.operate(thread, addr >> 3),
            EventKind::ConditionWait { addr } => {
                self.operate(thread, addr >> 3);
                self.thread(thread).condition = Some(addr >> 3);
            }
            EventKind::Alloc { .. } | EventKind::Free { .. } => self.operate(thread, MEMORY),
            EventKind::Map { .. } | EventKind::Unmap { .. } => {
                self.operate(thread, MEMORY);
                self.operate(thread, KERNEL);
            }
            EventKind::SyscallEnter { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Fork { .. } => self.operate(thread, KERNEL),
            EventKind::ThreadCreate { child } if *child != thread => {
                self.wait_for_all_of(*child);
                let items = self.thread(thread).items;
                self.thread(*child).created = Some(Precedence { thread, items });
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

    /// What the item that was read must wait for and was not emitted yet.
    pub(super) fn take<'a>(&'a mut self, done: &'a [u64]) -> impl Iterator<Item = Precedence> + 'a {
        if self.last.len() > self.most.max(MANY) {
            self.last.retain(|_, before| !before.is_past(done));
            self.most = 2 * self.last.len();
        }
        self.found.drain(..).filter(|before| !before.is_past(done))
    }

    /// Counts the item that is being read.
    fn begin(&mut self, thread: u16) {
        let state = self.thread(thread);
        state.items += 1;
        let created = state.created.take();
        self.found.extend(created);
    }

    /// The item is an operation on an object: it comes after the one before.
    fn operate(&mut self, thread: u16, object: u64) {
        let items = self.thread(thread).items;
        let last = self.last.insert(object, Precedence { thread, items });
        self.found.extend(last.filter(|last| last.thread != thread));
    }

    /// After a wait the item is an operation on the condition; a plain reference is the last.
    fn after_wait(&mut self, thread: u16, is_plain: bool) {
        if let Some(object) = self.thread(thread).condition {
            self.operate(thread, object);
            if is_plain {
                self.thread(thread).condition = None;
            }
        }
    }

    /// The item comes after everything that a thread did so far.
    fn wait_for_all_of(&mut self, thread: u16) {
        let items = self.thread(thread).items;
        self.found.push(Precedence { thread, items });
    }

    fn thread(&mut self, thread: u16) -> &mut ThreadOrder {
        let place = usize::from(thread);
        if place >= self.threads.len() {
            self.threads.resize_with(place + 1, ThreadOrder::default);
        }
        &mut self.threads[place]
    }
}
