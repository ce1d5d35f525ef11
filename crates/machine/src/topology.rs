//! Where the processors and memories of a machine with a directory are.

use serde::{Deserialize, Serialize};

use crate::parts::{CacheShape, within, within_cycles};

/// Most sockets, memories of a socket, parts of a memory, and places of a mesh.
const COUNT_MAX: u64 = 256;
/// Most parts of all memories together.
const PARTS_MAX: u64 = 4096;

/// Where the processors and memories of a machine with a directory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryTopology {
    /// Each processor has a memory beside it; such nodes are places of a mesh.
    PerProcessor,
    /// Several processors share a memory.
    Shared(SharedMemories),
}

/// Memories that several processors with neighbouring numbers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedMemories {
    /// Sockets.
    pub sockets: u16,
    /// Memories of a socket, each a home of pages.
    pub memories: u16,
    /// Parts of a memory among which its blocks are spread, each with a directory, a part of the
    /// last level and a channel.
    pub slices: u16,
    /// Places of a mesh on which the processors and slices of a memory are; 0 without a mesh.
    pub tiles: u16,
    /// Cycles of every message within the reach of one memory, in addition to those of the mesh.
    pub near_cycles: u64,
    /// Cycles of a message from one memory's reach to another's in the same socket.
    pub socket_cycles: u64,
    /// Cycles of a message between sockets.
    pub far_cycles: u64,
}

/// A last-level cache in front of each memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastLevelModel {
    /// Bytes in front of one memory, in all its parts.
    pub size_bytes: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// Cycles of a hit.
    pub latency_cycles: u64,
}

/// The table of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryTopologyFile {
    sockets: u64,
    memories_per_socket: u64,
    slices_per_memory: u64,
    #[serde(default)]
    tiles: u64,
    near_cycles: u64,
    socket_cycles: u64,
    far_cycles: u64,
}

impl SharedMemories {
    /// Memories of the machine.
    #[must_use]
    pub fn all(&self) -> u16 {
        self.sockets * self.memories
    }

    /// The memory that is nearest to one of `processors` processors.
    #[inline]
    #[must_use]
    pub fn memory_of(&self, processor: u16, processors: u16) -> u16 {
        part(processor, self.all(), processors)
    }

    /// The place of one of `processors` processors on the mesh of a memory.
    #[must_use]
    pub fn tile_of_processor(&self, processor: u16, processors: u16) -> u16 {
        part(processor, self.tiles, processors)
    }

    /// The place of a slice of a memory on its mesh.
    #[must_use]
    pub fn tile_of_slice(&self, slice: u16) -> u16 {
        part(slice, self.tiles, self.slices)
    }
}

/// Index of the part that contains a number, when `0..whole` is cut into `parts` equal parts.
fn part(number: u16, parts: u16, whole: u16) -> u16 {
    let part = u32::from(number) * u32::from(parts) / u32::from(whole.max(1));
    u16::try_from(part).unwrap_or(0)
}

impl MemoryTopology {
    /// The memory that is nearest to one of `processors` processors.
    #[inline]
    #[must_use]
    pub fn memory_of(&self, processor: u16, processors: u16) -> u16 {
        match self {
            Self::PerProcessor => processor,
            Self::Shared(shared) => shared.memory_of(processor, processors),
        }
    }

    /// The number of memories of a machine with this number of processors.
    #[must_use]
    pub fn memories(&self, processors: u16) -> u16 {
        match self {
            Self::PerProcessor => processors,
            Self::Shared(shared) => shared.all(),
        }
    }
}

impl LastLevelModel {
    /// The part of the cache in front of one of `slices` slices of a memory.
    #[must_use]
    pub fn slice(&self, slices: u16, block_size_bytes: u64) -> CacheShape {
        let (size_bytes, associativity) = (self.size_bytes / u64::from(slices), self.associativity);
        CacheShape { size_bytes, block_size_bytes, associativity }
    }

    pub(crate) fn checked(self) -> Result<Self, String> {
        within_cycles(&[("last_level.latency_cycles", self.latency_cycles)])?;
        within(&[
            ("last_level.size_bytes", self.size_bytes, 1 << 32),
            ("last_level.associativity", self.associativity, 1024),
        ])?;
        Ok(self)
    }
}

impl MemoryTopologyFile {
    pub(crate) fn checked(&self) -> Result<MemoryTopology, String> {
        let count = |what: &str, value: u64, least: u64| {
            if (least..=COUNT_MAX).contains(&value) {
                return Ok(u16::try_from(value).unwrap_or(u16::MAX));
            }
            Err(format!("topology.{what} is {value}: expected {least} to {COUNT_MAX}"))
        };
        let shared = SharedMemories {
            sockets: count("sockets", self.sockets, 1)?,
            memories: count("memories_per_socket", self.memories_per_socket, 1)?,
            slices: count("slices_per_memory", self.slices_per_memory, 1)?,
            tiles: count("tiles", self.tiles, 0)?,
            near_cycles: self.near_cycles,
            socket_cycles: self.socket_cycles,
            far_cycles: self.far_cycles,
        };
        within_cycles(&[
            ("topology.near_cycles", self.near_cycles),
            ("topology.socket_cycles", self.socket_cycles),
            ("topology.far_cycles", self.far_cycles),
        ])?;
        let all = self.sockets * self.memories_per_socket;
        if all * self.slices_per_memory > PARTS_MAX {
            return Err(format!(
                "topology: {all} memories of {} slices: expected at most {PARTS_MAX} slices in all",
                self.slices_per_memory
            ));
        }
        if shared.tiles > 0 && all > 1 {
            return Err(format!(
                "topology.tiles is {} with {all} memories: a mesh has one memory, spread over its \
                 places",
                shared.tiles
            ));
        }
        Ok(MemoryTopology::Shared(shared))
    }
}
