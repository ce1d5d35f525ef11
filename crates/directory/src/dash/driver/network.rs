//! Messages in flight: in the order of the trace they arrive in the order in which they were sent.

use std::collections::VecDeque;

use crate::dash::vocabulary::Message;

/// Limit on the messages of one reference, in addition to two for each node. The longest
/// transaction of a correct protocol has a handful.
const MESSAGES: usize = 64;

/// A message in flight, about the block of the transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentMessage {
    pub(super) message: Message,
    pub(super) from: u16,
    pub(super) to: u16,
    /// Number of acknowledgements that it announces.
    pub(super) due: i32,
    /// The frame that supplies the data; none if memory does.
    pub(super) frame: Option<usize>,
}

#[derive(Debug)]
pub(super) struct MessageQueue {
    waiting: VecDeque<SentMessage>,
    /// Number of further messages allowed in this transaction.
    left: usize,
    most: usize,
}

impl MessageQueue {
    pub(super) fn new(nodes: u16) -> Self {
        let most = MESSAGES + 2 * usize::from(nodes);
        Self { waiting: VecDeque::new(), left: most, most }
    }

    pub(super) fn begin(&mut self) {
        self.waiting.clear();
        self.left = self.most;
    }

    pub(super) fn send(&mut self, message: SentMessage) {
        self.waiting.push_back(message);
    }

    /// The message that arrives next, and whether the limit is reached.
    pub(super) fn arrive(&mut self) -> Option<(SentMessage, bool)> {
        let message = self.waiting.pop_front()?;
        self.left = self.left.saturating_sub(1);
        Some((message, self.left == 0))
    }
}
