//! A queue of delayed references, with the events between them.

use std::collections::VecDeque;

use homenode_base::Access;
use homenode_trace::Event;

use crate::output::TransformOutput;

enum QueuedRecord {
    Access(Access),
    Event(Event),
}

/// References and events of one thread that are not yet emitted. The first is a reference: an event
/// is emitted as soon as everything before it has been.
#[derive(Default)]
pub(super) struct Queue {
    records: VecDeque<QueuedRecord>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn access(&mut self, access: &Access) {
        self.records.push_back(QueuedRecord::Access(*access));
    }

    /// Queues an event after the references before it; emits it at once if there are none.
    pub(super) fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.is_empty() {
            out.event(event.clone());
        } else {
            self.records.push_back(QueuedRecord::Event(event.clone()));
        }
    }

    /// Emits the oldest reference and the events that directly follow it.
    pub(super) fn emit(&mut self, out: &mut TransformOutput) {
        if let Some(QueuedRecord::Access(access)) = self.records.pop_front() {
            out.access(&access);
        }
        while let Some(QueuedRecord::Event(_)) = self.records.front() {
            if let Some(QueuedRecord::Event(event)) = self.records.pop_front() {
                out.event(event);
            }
        }
    }
}
