//! Synchronisation that is under way where a selection begins.

use homenode_trace::{Event, EventKind};

/// The events of threads that wait at a barrier or hold a lock.
///
/// Without these events a simulated thread would pass the barrier alone, or acquire a lock that
/// another thread holds, at the beginning of the selection.
#[derive(Default)]
pub(super) struct OpenSync {
    events: Vec<Event>,
}

impl OpenSync {
    pub(super) fn event(&mut self, event: &Event) {
        if let EventKind::LockAcquire { addr } = event.what {
            // Waiting for a condition releases the lock without an event.
            self.events.retain(|other| other.thread == event.thread || !is_of(other, addr));
        }
        if let EventKind::BarrierEnter { .. } | EventKind::LockAcquire { .. } = event.what {
            self.events.push(event.clone());
        } else if let EventKind::BarrierLeave { addr } = event.what {
            self.close(&Event { what: EventKind::BarrierEnter { addr }, ..*event });
        } else if let EventKind::LockRelease { addr } = event.what {
            self.close(&Event { what: EventKind::LockAcquire { addr }, ..*event });
        } else if event.what == EventKind::ThreadExit {
            self.events.retain(|other| other.thread != event.thread);
        }
    }

    fn close(&mut self, opened: &Event) {
        if let Some(at) = self.events.iter().rposition(|other| other == opened) {
            self.events.remove(at);
        }
    }

    pub(super) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

fn is_of(event: &Event, lock: u64) -> bool {
    event.what == EventKind::LockAcquire { addr: lock }
}
