//! The acquires and releases of a trace that affect the references of a walk.

use homenode_base::Access;
use homenode_trace::{Event, EventKind};

use super::WrittenStep;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncSide {
    Acquires,
    Releases,
}

fn side(what: &EventKind) -> Option<SyncSide> {
    match what {
        EventKind::LockAcquire { .. }
        | EventKind::BarrierLeave { .. }
        | EventKind::ThreadJoin { .. }
        | EventKind::ThreadStart { .. } => Some(SyncSide::Acquires),
        EventKind::LockRelease { .. }
        | EventKind::BarrierEnter { .. }
        | EventKind::ThreadCreate { .. }
        | EventKind::ThreadExit
        | EventKind::ConditionWake { .. }
        | EventKind::InitDone
        | EventKind::Phase { .. } => Some(SyncSide::Releases),
        EventKind::Alloc { .. }
        | EventKind::Free { .. }
        | EventKind::Map { .. }
        | EventKind::Unmap { .. }
        | EventKind::SyscallEnter { .. }
        | EventKind::SyscallExit { .. }
        | EventKind::Fork { .. }
        | EventKind::ConditionWait { .. }
        | EventKind::Marker { .. } => None,
    }
}

/// Keeps only acquires and releases with an effect: a release by a processor that has written since
/// its last one, and an acquire after another processor's release by a processor that has
/// referenced the blocks. Those after the last reference are left out.
#[derive(Clone, Debug)]
pub struct NeededSynchronisation {
    processors: u16,
    /// By processor, whether it has written since its last release.
    written: Vec<bool>,
    /// By processor, the number of other processors' releases since its last acquire; `None` before
    /// its first reference to the blocks.
    unknown: Vec<Option<u32>>,
    waiting: Vec<WrittenStep>,
}

impl NeededSynchronisation {
    /// None so far, with this number of processors; threads are assigned to them in turn.
    #[must_use]
    pub fn new(processors: u16) -> Self {
        let each = usize::from(processors);
        Self {
            processors,
            written: vec![false; each],
            unknown: vec![None; each],
            waiting: Vec::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event) {
        let thread = event.thread;
        let own = usize::from(thread % self.processors);
        match side(&event.what) {
            Some(SyncSide::Releases) if std::mem::take(&mut self.written[own]) => {
                self.waiting.push(WrittenStep::Release(thread));
                let others = self.unknown.iter_mut().enumerate().filter(|&(at, _)| at != own);
                others.filter_map(|(_, unknown)| unknown.as_mut()).for_each(|count| *count += 1);
            }
            Some(SyncSide::Acquires) => {
                if let Some(count) = &mut self.unknown[own]
                    && std::mem::take(count) > 0
                {
                    self.waiting.push(WrittenStep::Acquire(thread));
                }
            }
            Some(SyncSide::Releases) | None => {}
        }
    }

    /// The acquires and releases with an effect before the next reference to the blocks, since the
    /// previous one.
    pub fn before(&mut self, access: &Access) -> Vec<WrittenStep> {
        let own = usize::from(access.thread % self.processors);
        self.written[own] |= access.kind.writes();
        self.unknown[own].get_or_insert(0);
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use homenode_base::AccessKind;

    use super::*;

    fn steps(found: &mut NeededSynchronisation, thread: u16, kind: AccessKind) -> Vec<WrittenStep> {
        found.before(&Access::new(thread, kind, 0x1000, 4))
    }

    #[test]
    fn synchronisation_without_effect_on_the_blocks_is_left_out() {
        let mut found = NeededSynchronisation::new(2);
        let event = |thread, what| Event { thread, what };
        found.event(&event(0, EventKind::LockRelease { addr: 1 }));
        assert!(steps(&mut found, 0, AccessKind::Write).is_empty(), "there is no earlier write");
        assert!(steps(&mut found, 1, AccessKind::Read).is_empty());
        found.event(&event(1, EventKind::LockAcquire { addr: 1 }));
        found.event(&event(0, EventKind::LockRelease { addr: 1 }));
        found.event(&event(0, EventKind::LockRelease { addr: 2 }));
        found.event(&event(0, EventKind::LockAcquire { addr: 2 }));
        found.event(&event(1, EventKind::LockAcquire { addr: 1 }));
        found.event(&event(1, EventKind::LockAcquire { addr: 3 }));
        let needed = [WrittenStep::Release(0), WrittenStep::Acquire(1)];
        assert_eq!(steps(&mut found, 1, AccessKind::Read), needed);
    }
}
