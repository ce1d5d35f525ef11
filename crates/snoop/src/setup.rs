//! The parameters of a simulation, and why they are rejected.

use std::ops::Range;

use homenode_base::{BlockSize, ReferenceFilter};
use homenode_cache::{CACHES_MAX, CacheGeometry, MissRule};
use homenode_machine::CacheShape;

/// The maximum number of processors of a bus machine.
pub const PROCESSORS_MAX: u16 = 1024;
// Each may have two caches.
const _: () = assert!(2 * PROCESSORS_MAX as usize <= CACHES_MAX);
/// Smallest and largest block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 16..=1024;

/// The parameters of a simulation besides a protocol and a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSetup {
    /// Processors, each with a cache of this shape. Thread i runs on processor i modulo this.
    pub processors: u16,
    /// Each processor's cache.
    pub cache: CacheShape,
    /// Each processor's instruction cache, if it has one of its own: `cache` is for data then.
    pub instructions: Option<CacheShape>,
    /// Addresses of private areas, besides references flagged as private.
    pub private: Vec<Range<u64>>,
    /// Which references count, and which of them are to private areas.
    pub filter: ReferenceFilter,
    /// Whether private areas of the kernel are private (PSCR's extension).
    pub private_kernel: bool,
    /// When an invalidation miss is true sharing.
    pub rule: MissRule,
    /// Whether every read is checked to return what was written last.
    pub check: bool,
}

/// Why a machine is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BusSetupError {
    /// Too few or too many processors.
    #[error("{processors} processors: a bus machine has from 1 to {PROCESSORS_MAX}")]
    Processors {
        /// The number of processors.
        processors: u16,
    },
    /// Instruction and data caches with blocks of different sizes.
    #[error(
        "blocks of {instructions} bytes in the instruction cache and of {data} in the data cache: \
         one bus moves blocks of one size"
    )]
    SplitBlock {
        /// Bytes in a block of the instruction cache.
        instructions: u64,
        /// Bytes in a block of the data cache.
        data: u64,
    },
    /// A block that is too small or too large, or no power of two.
    #[error("block size {bytes} bytes: a cache on a bus has a power of two from 16 to 1024")]
    Block {
        /// The size.
        bytes: u64,
    },
    /// A split bus on which a block from memory takes less than the request and the wait.
    #[error(
        "a block from memory takes {memory} cycles, but the request and the wait of a split bus \
         {parts}: set bus.request_cycles and bus.wait_cycles to parts of what it takes"
    )]
    Split {
        /// Cycles of a block from memory.
        memory: u64,
        /// Cycles of the request and the wait.
        parts: u64,
    },
    /// A cache that does not consist of whole sets, whose number is a power of two.
    #[error(
        "cache size {} bytes, associativity {}, block size {} bytes: expected a cache of at least \
         one block and at most 1 GiB, an associativity from 1 to the number of its blocks, and a \
         number of sets that is a power of two",
        .cache.size_bytes, .cache.associativity, .cache.block_size_bytes
    )]
    Cache {
        /// The cache.
        cache: CacheShape,
    },
}

impl BusSetup {
    /// Processors with one cache each, whose references all count; values are not checked.
    #[must_use]
    pub fn new(processors: u16, cache: CacheShape) -> Self {
        Self {
            processors,
            cache,
            instructions: None,
            private: Vec::new(),
            filter: ReferenceFilter::ALL,
            private_kernel: false,
            rule: MissRule::Dubois,
            check: false,
        }
    }

    /// The block size, and the most frames in a set of any cache.
    ///
    /// # Errors
    /// When a cache or the number of processors is invalid.
    pub fn geometry(&self) -> Result<(BlockSize, usize), BusSetupError> {
        let (block, geometries) = self.geometries()?;
        Ok((block, geometries.iter().map(|cache| cache.ways).max().unwrap_or(1)))
    }

    /// The block size and the geometries of all caches: one for each processor, and after them, if
    /// caches are split, the instruction cache of each.
    pub fn geometries(&self) -> Result<(BlockSize, Vec<CacheGeometry>), BusSetupError> {
        let (processors, bytes) = (self.processors, self.cache.block_size_bytes);
        if !(1..=PROCESSORS_MAX).contains(&processors) {
            return Err(BusSetupError::Processors { processors });
        }
        let block = BlockSize::new(bytes).map_err(|_| BusSetupError::Block { bytes })?;
        if !BLOCK_BYTES.contains(&bytes) {
            return Err(BusSetupError::Block { bytes });
        }
        let geometry = |cache| CacheGeometry::of(cache).ok_or(BusSetupError::Cache { cache });
        let mut geometries = vec![geometry(self.cache)?; usize::from(processors)];
        if let Some(cache) = self.instructions {
            let instructions = cache.block_size_bytes;
            if instructions != bytes {
                return Err(BusSetupError::SplitBlock { instructions, data: bytes });
            }
            geometries.extend(vec![geometry(cache)?; usize::from(processors)]);
        }
        Ok((block, geometries))
    }

    /// The number of caches.
    pub fn caches(&self) -> usize {
        usize::from(self.processors) + self.instruction_caches()
    }

    /// The distance from the number of a processor's cache to that of its instruction cache; 0 if
    /// they are one.
    pub fn instruction_caches(&self) -> usize {
        self.instructions.map_or(0, |_| usize::from(self.processors))
    }
}
