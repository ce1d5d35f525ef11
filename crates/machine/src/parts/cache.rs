//! Caches.

use serde::{Deserialize, Serialize};

/// Size and arrangement of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheShape {
    /// Bytes in the cache.
    pub size_bytes: u64,
    /// Bytes in a block.
    pub block_size_bytes: u64,
    /// Blocks in a set.
    pub associativity: u64,
}

/// A processor's cache, or its data cache and its instruction cache, as files give them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Caches {
    size_bytes: u64,
    block_size_bytes: u64,
    associativity: u64,
    split: Option<InstructionCache>,
}

/// The instruction cache, whose blocks are as large as those of the data cache.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstructionCache {
    size_bytes: u64,
    associativity: u64,
}

impl Caches {
    /// The cache, which is for data alone if caches are split.
    pub(crate) fn data(&self) -> CacheShape {
        CacheShape {
            size_bytes: self.size_bytes,
            block_size_bytes: self.block_size_bytes,
            associativity: self.associativity,
        }
    }

    /// The instruction cache, if caches are split.
    pub(crate) fn instructions(&self) -> Option<CacheShape> {
        self.split.as_ref().map(|split| CacheShape {
            size_bytes: split.size_bytes,
            block_size_bytes: self.block_size_bytes,
            associativity: split.associativity,
        })
    }
}
