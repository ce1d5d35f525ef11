//! References held back, with the events between them.

use std::collections::VecDeque;

use homenode_base::Access;

use super::output::TransformOutput;
use crate::model::Event;

enum QueuedItem {
    Access(Access),
    Event(Event),
}

/// What one thread did and the new trace does not have yet. A reference comes first, unless there
/// is nothing: an event is emitted as soon as everything before it was.
#[derive(Default)]
pub(super) struct Queue {
    items: VecDeque<QueuedItem>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn access(&mut self, access: &Access) {
        self.items.push_back(QueuedItem::Access(*access));
    }

    /// An event waits for the references before it.
    pub(super) fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.is_empty() {
            out.event(event.clone());
        } else {
            self.items.push_back(QueuedItem::Event(event.clone()));
        }
    }

    /// Emits the oldest reference and the events that follow it at once.
    pub(super) fn emit(&mut self, out: &mut TransformOutput) {
        if let Some(QueuedItem::Access(access)) = self.items.pop_front() {
            out.access(&access);
        }
        while let Some(QueuedItem::Event(_)) = self.items.front() {
            if let Some(QueuedItem::Event(event)) = self.items.pop_front() {
                out.event(event);
            }
        }
    }
}
