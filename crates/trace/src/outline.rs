//! The order of what happens in a chunk, without the references themselves.

use crate::error::TraceError;
use crate::model::Event;
use crate::reader::TraceReader;

/// Whose rows follow whose in a chunk, and the events. It takes a hundredth of the time to read
/// that the rows take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkOutline {
    /// Threads and how many rows each has until the next one's, in trace order.
    pub turns: Vec<(u16, u32)>,
    /// Events, each with the row before which it happened.
    pub events: Vec<(u32, Event)>,
}

impl TraceReader {
    /// Reads the outline of chunk `index`.
    ///
    /// # Errors
    /// When the chunk cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn read_outline(&self, index: usize) -> Result<ChunkOutline, TraceError> {
        self.with_section(index, crate::codec::outline)
    }
}
