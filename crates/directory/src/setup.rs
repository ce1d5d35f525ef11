//! The configuration of a simulation, and its errors.

use std::ops::{Range, RangeInclusive};

use homenode_base::{BlockSize, ReferenceFilter};
use homenode_cache::{CacheGeometry, MissRule, TraceOrderSetup};
use homenode_machine::CacheShape;

/// Most nodes of a machine.
pub const MACHINE_NODES_MAX: u16 = 1024;
/// Bytes of a message beside the block that it carries: an address of eight bytes, in which there
/// is room for the kind, the requester and a count.
pub const HEADER_BYTES: u64 = 8;
/// Smallest and largest block: those of a bus.
const BLOCK_BYTES: RangeInclusive<u64> = 16..=1024;
/// Largest page.
const PAGE_BYTES_MAX: u64 = 1 << 30;

/// What a simulation needs besides a protocol, homes and a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorySetup {
    /// Nodes, each with a processor, a cache of this shape and a part of the memory. Thread i runs
    /// on node i modulo this.
    pub nodes: u16,
    /// Each node's cache.
    pub cache: CacheShape,
    /// Bytes in a page, the unit that has a home: a power of two.
    pub page_bytes: u64,
    /// Most nodes that the directory lists for a block; beyond that, a write invalidates all nodes.
    /// Without it all nodes can be listed.
    pub pointers: Option<u64>,
    /// Bytes of a message beside the block that it carries.
    pub header_bytes: u64,
    /// Addresses of private areas, beside what the trace's references say of themselves. They
    /// matter to the classes of misses alone.
    pub private: Vec<Range<u64>>,
    /// Which references count, and which of them are to private areas. Instruction fetches never
    /// count: they always hit.
    pub filter: ReferenceFilter,
    /// When an invalidation miss is true sharing.
    pub rule: MissRule,
    /// Whether every read is checked to return what was written last.
    pub check: bool,
    /// Which fills and write-backs are collected by page and node: what homes with hindsight are
    /// chosen from.
    pub collect_demands: DemandCollection,
    /// Whether it is collected who uses which page, and which homes serve that: what reports show.
    pub collect_uses: bool,
}

/// Which fills and write-backs are collected by page and node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DemandCollection {
    /// None.
    #[default]
    Off,
    /// All that homes count: under `first-fill` those after initialisation.
    Whole,
    /// Those after initialisation; none in a trace that does not say when that is over.
    AfterInitDone,
}

/// Why a configuration is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectorySetupError {
    /// Too few or too many nodes.
    #[error("{nodes} nodes: a machine with a directory has from 1 to {MACHINE_NODES_MAX}")]
    Nodes {
        /// How many.
        nodes: u16,
    },
    /// A block that is too small or too large, or no power of two.
    #[error("block size {bytes} bytes: expected a power of two from 16 to 1024")]
    Block {
        /// The size.
        bytes: u64,
    },
    /// A page that is smaller than a block or too large, or no power of two.
    #[error(
        "page size {page} bytes: expected a power of two from {block}, the block size, to 1 GiB"
    )]
    Page {
        /// The size.
        page: u64,
        /// Bytes in a block.
        block: u64,
    },
    /// A cache of proxies that does not consist of a power of two of blocks.
    #[error(
        "allocate=separate:bytes={bytes}, block size {block} bytes: expected a power of two from \
         the block size to 1 GiB"
    )]
    ProxyCache {
        /// Its size.
        bytes: u64,
        /// Bytes in a block.
        block: u64,
    },
    /// A protocol of lists where nodes have no controller.
    #[error("a protocol of lists needs nodes with a controller, such as those of alite")]
    NoControllers,
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

impl DirectorySetup {
    /// Nodes with these caches, whose references all count; values are not checked, and nothing
    /// about pages is collected.
    #[must_use]
    pub fn new(nodes: u16, cache: CacheShape, page_bytes: u64) -> Self {
        Self {
            nodes,
            cache,
            page_bytes,
            pointers: None,
            header_bytes: HEADER_BYTES,
            private: Vec::new(),
            filter: ReferenceFilter::ALL,
            rule: MissRule::Dubois,
            check: false,
            collect_demands: DemandCollection::Off,
            collect_uses: false,
        }
    }

    /// The same for a walk, which checks values and collects demands.
    pub(crate) fn walked(&self) -> Self {
        Self { check: true, collect_demands: DemandCollection::Whole, ..self.clone() }
    }

    /// The block size and the geometry of each cache.
    ///
    /// # Errors
    /// When there can be no such cache, no such page, or no such number of nodes.
    pub fn geometry(&self) -> Result<(BlockSize, CacheGeometry), DirectorySetupError> {
        let (nodes, bytes) = (self.nodes, self.cache.block_size_bytes);
        if !(1..=MACHINE_NODES_MAX).contains(&nodes) {
            return Err(DirectorySetupError::Nodes { nodes });
        }
        let block = BlockSize::new(bytes).map_err(|_| DirectorySetupError::Block { bytes })?;
        if !BLOCK_BYTES.contains(&bytes) {
            return Err(DirectorySetupError::Block { bytes });
        }
        let page = self.page_bytes;
        if !page.is_power_of_two() || !(bytes..=PAGE_BYTES_MAX).contains(&page) {
            return Err(DirectorySetupError::Page { page, block: bytes });
        }
        let cache = self.cache;
        let geometry = CacheGeometry::of(cache).ok_or(DirectorySetupError::Cache { cache })?;
        Ok((block, geometry))
    }

    /// How the rows of a trace are to be read.
    pub(crate) fn rows(&self, block: BlockSize) -> TraceOrderSetup<'_> {
        TraceOrderSetup {
            processors: self.nodes,
            block,
            instructions: false,
            private: &self.private,
            filter: ReferenceFilter { fetches: false, ..self.filter },
            private_kernel: false,
            check: self.check,
        }
    }
}
