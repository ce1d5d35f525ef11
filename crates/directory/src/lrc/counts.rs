//! Messages of a page protocol as they are counted.

use homenode_protocol::Labelled;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::vocabulary::PageMessage;

/// Messages of a protocol that keeps pages coherent, between different nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMessageCounts([u64; PageMessage::ALL.len()]);

impl PageMessageCounts {
    /// Counts a message.
    pub(super) fn add(&mut self, message: PageMessage) {
        self.0[usize::from(message.index())] += 1;
    }

    /// Messages of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Messages of one kind.
    #[must_use]
    pub fn get(&self, message: PageMessage) -> u64 {
        self.0[usize::from(message.index())]
    }
}

/// A field for each kind, named with underscores.
impl Serialize for PageMessageCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &message in PageMessage::ALL {
            map.serialize_entry(message.counted_as(), &self.get(message))?;
        }
        map.end()
    }
}
