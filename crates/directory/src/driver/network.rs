//! Messages under way: in the order of the trace they arrive in the order in which they were sent.

use std::collections::VecDeque;

use crate::vocabulary::Message;

/// Messages of one reference at most, beside two for each node: the longest transaction of a
/// protocol that ends has a handful.
const MESSAGES: usize = 64;

/// A message under way, about the block of the transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentMessage {
    pub(super) message: Message,
    pub(super) from: u16,
    pub(super) to: u16,
    /// Acknowledgements that it announces.
    pub(super) due: i32,
    /// The frame that the data are from; none if they are from memory.
    pub(super) frame: Option<usize>,
}

/// Messages under way.
#[derive(Debug)]
pub(super) struct MessageQueue {
    waiting: VecDeque<SentMessage>,
    /// How many more there may be in this transaction.
    left: usize,
    most: usize,
}

impl MessageQueue {
    /// Nothing is under way between so many nodes.
    pub(super) fn new(nodes: u16) -> Self {
        let most = MESSAGES + 2 * usize::from(nodes);
        Self { waiting: VecDeque::new(), left: most, most }
    }

    /// A transaction begins.
    pub(super) fn begin(&mut self) {
        self.waiting.clear();
        self.left = self.most;
    }

    pub(super) fn send(&mut self, message: SentMessage) {
        self.waiting.push_back(message);
    }

    /// The message that arrives next, and whether there were too many.
    pub(super) fn arrive(&mut self) -> Option<(SentMessage, bool)> {
        let message = self.waiting.pop_front()?;
        self.left = self.left.saturating_sub(1);
        Some((message, self.left == 0))
    }
}
