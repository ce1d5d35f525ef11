//! Messages of a block protocol as they are counted.

use homenode_protocol::Labelled;

use super::vocabulary::Message;
use crate::counts::MessageCounts;

/// Sent messages by type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentMessages([u64; Message::ALL.len()]);

impl SentMessages {
    /// Counts a message if it crosses the network.
    #[inline]
    pub(crate) fn add_if(&mut self, message: Message, goes: bool) {
        self.0[usize::from(message.index())] += u64::from(goes);
    }

    /// Messages by kind, and the bytes of all: a header each, and the block where one is carried.
    pub(crate) fn counts(&self, header_bytes: u64, block_bytes: u64) -> (MessageCounts, u64) {
        let (mut counts, mut bytes) = (MessageCounts::default(), 0);
        for (&message, &sent) in Message::ALL.iter().zip(&self.0) {
            *counts.of_kind(message.kind()) += sent;
            let carried = if message.carries_block() { block_bytes } else { 0 };
            bytes += sent * (header_bytes + carried);
        }
        (counts, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_header_and_the_block_where_one_is_carried() {
        let mut sent = SentMessages::default();
        sent.add_if(Message::Data, false);
        for message in [Message::Read, Message::Data, Message::Permission] {
            sent.add_if(message, true);
        }
        let (counts, bytes) = sent.counts(8, 64);
        assert_eq!((counts.request, counts.reply, bytes), (1, 2, 3 * 8 + 64));
    }
}
