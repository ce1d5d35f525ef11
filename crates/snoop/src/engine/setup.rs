//! What a simulation is given, and what cannot be simulated.

use std::ops::Range;

use homenode_base::BlockSize;
use homenode_machine::CacheShape;
use serde::{Deserialize, Serialize};

use super::directory::PROCESSORS_MAX;
use super::frames::Shape;

/// Largest cache.
const CACHE_BYTES_MAX: u64 = 1 << 30;
/// Smallest and largest block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 16..=1024;

/// What a simulation needs besides a protocol and a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Processors, each with a cache of this shape. Thread i runs on processor i modulo this.
    pub processors: u16,
    /// Each processor's cache.
    pub cache: CacheShape,
    /// Each processor's instruction cache, if it has one of its own: `cache` is for data then.
    pub instructions: Option<CacheShape>,
    /// Addresses of private areas, beside what the trace's references say of themselves.
    pub private: Vec<Range<u64>>,
    /// Which references count, and what their flags mean.
    pub reading: Reading,
    /// When an invalidation miss is true sharing.
    pub rule: MissRule,
    /// Whether every read is checked to return what was written last.
    pub check: bool,
}

/// Which references count, and what their flags mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether references flagged private are counted.
    pub private: bool,
    /// Whether that flag makes their area private.
    pub private_areas: bool,
    /// Whether synchronisation references are counted.
    pub synchronisation: bool,
    /// Whether instruction fetches are counted, as reads.
    pub fetches: bool,
    /// Whether private areas of the kernel count as such (PSCR's extension).
    pub private_kernel: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            private: true,
            private_areas: true,
            synchronisation: true,
            fetches: true,
            private_kernel: false,
        }
    }
}

/// When an invalidation miss is true sharing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissRule {
    /// When what others wrote since the copy was lost is used before the new copy is lost: the
    /// essential misses of Dubois et al. 1993.
    #[default]
    Dubois,
    /// When the word that misses was written by others since the copy was lost: decided at the miss
    /// (Torrellas, Lam and Hennessy 1994).
    Torrellas,
}

/// A machine that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Too few or too many processors.
    #[error("{processors} processors: a bus machine has from 1 to {PROCESSORS_MAX}")]
    Processors {
        /// How many.
        processors: u16,
    },
    /// Too many processors with two caches each.
    #[error(
        "{processors} processors with split caches: a bus has at most {PROCESSORS_MAX} caches; \
         simulate at most {} processors, or unified caches", PROCESSORS_MAX / 2
    )]
    SplitProcessors {
        /// How many.
        processors: u16,
    },
    /// Instruction and data caches that have blocks of different sizes.
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
    #[error("blocks of {bytes} bytes: expected a power of two from 16 to 1024")]
    Block {
        /// The size.
        bytes: u64,
    },
    /// A split bus on which a block from memory takes less than asking for it and waiting.
    #[error(
        "a block from memory takes {memory} cycles, but the request and the wait of a split bus \
         {parts}: set bus.request_cycles and bus.wait_cycles to parts of what it takes"
    )]
    Split {
        /// What a block from memory takes.
        memory: u64,
        /// What the request and the wait take.
        parts: u64,
    },
    /// A cache that does not consist of whole sets, whose number is a power of two.
    #[error(
        "a cache of {} bytes with {} blocks of {} bytes in a set: expected an associativity from \
         1 to {}, such that the number of sets is a power of two, and at most 1 GiB",
        .cache.size_bytes, .cache.associativity, .cache.block_size_bytes,
        .cache.size_bytes / .cache.block_size_bytes
    )]
    Cache {
        /// The cache.
        cache: CacheShape,
    },
}

impl Setup {
    /// The block size, and the most frames in a set of any cache.
    ///
    /// # Errors
    /// When there can be no such cache, or no such number of processors.
    pub fn geometry(&self) -> Result<(BlockSize, usize), SetupError> {
        let (block, shapes) = self.shapes()?;
        Ok((block, shapes.iter().map(|shape| shape.ways).max().unwrap_or(1)))
    }

    /// The block size and the shapes of all caches: one for each processor, and after them, if
    /// caches are split, the instruction cache of each.
    pub(crate) fn shapes(&self) -> Result<(BlockSize, Vec<Shape>), SetupError> {
        let (processors, bytes) = (self.processors, self.cache.block_size_bytes);
        if !(1..=PROCESSORS_MAX).contains(&processors) {
            return Err(SetupError::Processors { processors });
        }
        let block = BlockSize::new(bytes).map_err(|_| SetupError::Block { bytes })?;
        if !BLOCK_BYTES.contains(&bytes) {
            return Err(SetupError::Block { bytes });
        }
        let mut shapes = vec![shape(self.cache)?; usize::from(processors)];
        if let Some(cache) = self.instructions {
            let instructions = cache.block_size_bytes;
            if instructions != bytes {
                return Err(SetupError::SplitBlock { instructions, data: bytes });
            }
            if processors > PROCESSORS_MAX / 2 {
                return Err(SetupError::SplitProcessors { processors });
            }
            shapes.extend(vec![shape(cache)?; usize::from(processors)]);
        }
        Ok((block, shapes))
    }

    /// From the number of a processor's cache to that of its instruction cache: 0 if that is one.
    pub(crate) fn instruction_caches(&self) -> usize {
        self.instructions.map_or(0, |_| usize::from(self.processors))
    }
}

fn shape(cache: CacheShape) -> Result<Shape, SetupError> {
    let CacheShape { size_bytes, block_size_bytes: bytes, associativity } = cache;
    let set_bytes = associativity.saturating_mul(bytes);
    let whole = set_bytes > 0 && size_bytes % set_bytes == 0 && size_bytes <= CACHE_BYTES_MAX;
    let sets = if whole { size_bytes / set_bytes } else { 0 };
    match (usize::try_from(sets), usize::try_from(associativity)) {
        (Ok(sets), Ok(ways)) if sets.is_power_of_two() => Ok(Shape { sets, ways }),
        (_, _) => Err(SetupError::Cache { cache }),
    }
}
