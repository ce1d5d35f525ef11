//! Caches.

use serde::{Deserialize, Serialize};

use super::{Sourced, sourced};

/// Size and arrangement of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    size_bytes: Sourced<u64>,
    block_size_bytes: Sourced<u64>,
    associativity: Sourced<u64>,
    split: Option<InstructionCache>,
}

/// The instruction cache, whose blocks are as large as those of the data cache.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstructionCache {
    size_bytes: Sourced<u64>,
    associativity: Sourced<u64>,
}

impl Caches {
    /// The cache, which is for data alone if caches are split.
    pub(crate) fn data(&self) -> CacheShape {
        CacheShape {
            size_bytes: self.size_bytes.value,
            block_size_bytes: self.block_size_bytes.value,
            associativity: self.associativity.value,
        }
    }

    /// The instruction cache, if caches are split.
    pub(crate) fn instructions(&self) -> Option<CacheShape> {
        self.split.as_ref().map(|split| CacheShape {
            size_bytes: split.size_bytes.value,
            block_size_bytes: self.block_size_bytes.value,
            associativity: split.associativity.value,
        })
    }
}

/// The last level of caches in front of a memory, as files give it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LastLevel {
    #[serde(deserialize_with = "sourced")]
    size_bytes: u64,
    #[serde(deserialize_with = "sourced")]
    block_size_bytes: u64,
    #[serde(deserialize_with = "sourced")]
    associativity: u64,
}

impl LastLevel {
    pub(crate) fn shape(&self) -> CacheShape {
        CacheShape {
            size_bytes: self.size_bytes,
            block_size_bytes: self.block_size_bytes,
            associativity: self.associativity,
        }
    }
}
