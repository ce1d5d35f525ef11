//! Finds the serial parts of a trace, in which one thread runs alone: it initialises data for the
//! others, or collects their results.

use homenode_trace::{Event, EventKind};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadState {
    #[default]
    Absent,
    Running,
    AtBarrier,
    Ended,
}

/// Follows the threads of a trace by its events and references.
///
/// A thread exists from its creation, or its first reference if the creation is not recorded, to
/// its end. A thread that waits at a barrier does not run: between OpenMP's parallel regions all
/// threads but one wait.
#[derive(Clone, Debug, Default)]
pub struct RunningThreads {
    threads: Vec<ThreadState>,
    running: usize,
}

impl RunningThreads {
    /// Whether more than one thread runs.
    #[inline]
    #[must_use]
    pub fn are_several(&self) -> bool {
        self.running > 1
    }

    fn set(&mut self, thread: u16, state: ThreadState) {
        let at = usize::from(thread);
        if at >= self.threads.len() {
            self.threads.resize(at + 1, ThreadState::default());
        }
        let before = std::mem::replace(&mut self.threads[at], state);
        self.running += usize::from(state == ThreadState::Running);
        self.running -= usize::from(before == ThreadState::Running);
    }

    /// A thread makes a reference.
    #[inline]
    pub fn reference(&mut self, thread: u16) {
        if self.threads.get(usize::from(thread)) != Some(&ThreadState::Running) {
            self.set(thread, ThreadState::Running);
        }
    }

    /// Adds an event.
    pub fn event(&mut self, event: &Event) {
        match event.what {
            EventKind::ThreadStart { .. } | EventKind::BarrierLeave { .. } => {
                self.set(event.thread, ThreadState::Running);
            }
            EventKind::ThreadCreate { child } => self.set(child, ThreadState::Running),
            EventKind::BarrierEnter { .. } => self.set(event.thread, ThreadState::AtBarrier),
            EventKind::ThreadExit => self.set(event.thread, ThreadState::Ended),
            EventKind::ThreadJoin { child } => self.set(child, ThreadState::Ended),
            EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::Unmap { .. }
            | EventKind::LockAcquire { .. }
            | EventKind::LockRelease { .. }
            | EventKind::ConditionWait { .. }
            | EventKind::ConditionWake { .. }
            | EventKind::SyscallEnter { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Fork { .. }
            | EventKind::InitDone
            | EventKind::Phase { .. }
            | EventKind::Marker { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_run_from_their_creation_to_their_end_but_not_at_barriers() {
        let mut threads = RunningThreads::default();
        let mut after = |thread, what| {
            threads.event(&Event { thread, what });
            threads.are_several()
        };
        assert!(!after(0, EventKind::ThreadStart { stack_low: 0, stack_high: 0 }));
        assert!(after(0, EventKind::ThreadCreate { child: 1 }));
        assert!(!after(1, EventKind::BarrierEnter { addr: 8 }));
        assert!(after(1, EventKind::BarrierLeave { addr: 8 }));
        assert!(!after(1, EventKind::ThreadExit));
        assert!(!after(0, EventKind::ThreadJoin { child: 1 }));
        threads.reference(2);
        assert!(threads.are_several(), "a thread without events in the trace");
    }
}
