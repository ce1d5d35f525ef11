//! A queue of delayed references, with the events between them.

use std::collections::VecDeque;

use homenode_base::Access;
use homenode_trace::Event;

use crate::output::TransformOutput;

pub(super) enum Record {
    Access(Access),
    Event(Event),
}

/// References and events of one thread that are not yet emitted. The first is a reference: an event
/// is emitted as soon as everything before it has been.
#[derive(Default)]
pub(super) struct Queue(VecDeque<Record>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn access(&mut self, access: &Access) {
        self.0.push_back(Record::Access(*access));
    }

    /// Queues an event after the references before it; emits it at once if there are none.
    pub(super) fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.is_empty() {
            out.event(event.clone());
        } else {
            self.0.push_back(Record::Event(event.clone()));
        }
    }

    /// Emits the oldest reference and the events that directly follow it.
    pub(super) fn emit(&mut self, out: &mut TransformOutput) {
        if let Some(Record::Access(access)) = self.0.pop_front() {
            out.access(&access);
        }
        while let Some(Record::Event(_)) = self.0.front() {
            if let Some(Record::Event(event)) = self.0.pop_front() {
                out.event(event);
            }
        }
    }
}
