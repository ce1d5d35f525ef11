//! The report of the cache filter.

use serde::Serialize;

/// Statistics of the references that passed the caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilterReport {
    /// The cache of each processor, as `SIZE:WAYS:BLOCK`.
    pub cache: String,
    /// Processors, each with a cache.
    pub processors: u16,
    /// Data references of the trace.
    pub references: u64,
    /// References whose blocks were all in the cache, and owned by the processor for a write.
    pub hits: u64,
    /// References with a block that was not in the cache.
    pub misses: u64,
    /// Writes to blocks in the cache that had only been read since their miss.
    pub first_writes: u64,
    /// Replaced blocks: none if the working set fits into the caches.
    pub replacements: u64,
}

impl FilterReport {
    /// References that reach memory.
    #[must_use]
    pub const fn let_through(&self) -> u64 {
        self.misses + self.first_writes
    }
}
