//! How long misses take where nobody is in the way.

use homenode_machine::DirectoryMachine;

use super::mesh::MeshShape;
use crate::home::HomeCost;

/// Cycles from asking for a block until it is there, if nothing else is under way.
///
/// A message of b bytes takes `8 b / path` cycles to leave its node, rounded up, and `routing +
/// link` cycles a hop. The home looks the block up; its memory takes a latency and a time for each
/// word, and the words leave as they come.
#[derive(Clone, Copy, Debug)]
pub struct MissLatency {
    machine: DirectoryMachine,
    block_bytes: u64,
}

impl MissLatency {
    /// For blocks of so many bytes.
    #[must_use]
    pub const fn new(machine: DirectoryMachine, block_bytes: u64) -> Self {
        Self { machine, block_bytes }
    }

    fn path(self, data_bytes: u64) -> u64 {
        let network = self.machine.network;
        ((network.header_bytes + data_bytes) * 8).div_ceil(network.path_bits)
    }

    fn way(self, hops: u64) -> u64 {
        hops * (self.machine.network.routing_cycles + self.machine.network.link_cycles)
    }

    /// A message without data, over so many hops; none within a node.
    fn control(self, hops: u64) -> u64 {
        if hops == 0 { 0 } else { self.path(0) + self.way(hops) }
    }

    /// A message with a block from a cache.
    fn data(self, hops: u64) -> u64 {
        if hops == 0 { 0 } else { self.path(self.block_bytes) + self.way(hops) }
    }

    /// From the home's memory to the requester: the words leave as they come.
    fn memory_answer(self, hops: u64) -> u64 {
        let machine = self.machine;
        let words = self.block_bytes.div_ceil(4) * machine.memory_word_cycles;
        let rest = if hops == 0 { words } else { words.max(self.path(self.block_bytes)) };
        machine.memory_latency_cycles + rest + self.way(hops)
    }

    /// A read, or a write of a block that nobody else has: memory answers. The home is so many
    /// hops away; 0 is the own node.
    #[must_use]
    pub fn clean(self, hops: u64) -> u64 {
        self.control(hops) + self.machine.directory_cycles + self.memory_answer(hops)
    }

    /// A read or a write of a block that another node has written: the request to the home, from
    /// there to the owner, and the data from the owner, over so many hops each.
    #[must_use]
    pub fn dirty(self, [to_home, to_owner, back]: [u64; 3]) -> u64 {
        let asked = self.control(to_home) + self.machine.directory_cycles + self.control(to_owner);
        asked + self.data(back)
    }

    /// A write of a block of which there is a copy, and which others may have: the permission.
    #[must_use]
    pub fn upgrade(self, hops: u64) -> u64 {
        2 * self.control(hops) + self.machine.directory_cycles
    }

    /// A page of so many bytes from its old home, from the trap on.
    #[must_use]
    pub fn page_move(self, hops: u64, page_bytes: u64) -> u64 {
        let machine = self.machine;
        let words = page_bytes.div_ceil(4) * machine.memory_word_cycles;
        machine.system.page_fault_cycles
            + self.control(hops)
            + machine.directory_cycles
            + 2 * machine.memory_latency_cycles
            + words.max(self.path(page_bytes))
            + self.way(hops)
    }
}

/// What fills and write-backs cost by distance, in cycles where nobody is in the way.
#[derive(Clone, Copy, Debug)]
pub struct DistanceCost {
    latency: MissLatency,
    mesh: MeshShape,
}

impl DistanceCost {
    /// On a mesh of so many nodes, for blocks of so many bytes.
    #[must_use]
    pub fn new(machine: DirectoryMachine, nodes: u16, block_bytes: u64) -> Self {
        Self { latency: MissLatency::new(machine, block_bytes), mesh: MeshShape::new(nodes) }
    }
}

impl HomeCost for DistanceCost {
    fn fill(&self, node: u16, home: u16) -> u64 {
        self.latency.clean(self.mesh.hops(node, home))
    }

    fn write_back(&self, node: u16, home: u16) -> u64 {
        self.latency.data(self.mesh.hops(node, home))
    }
}
