//! Latencies of misses without contention.

use homenode_machine::DirectoryMachine;

use super::places::NodePlaces;
use crate::home::HomeCost;

/// Cycles from a request for a block until the block arrives, without contention.
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
    /// Latencies for one block size.
    #[must_use]
    pub const fn new(machine: DirectoryMachine, block_bytes: u64) -> Self {
        Self { machine, block_bytes }
    }

    fn path(self, data_bytes: u64) -> u64 {
        let network = self.machine.network;
        network.path_cycles(network.header_bytes + data_bytes)
    }

    /// The way of the head of a message on a mesh, in cycles; `None` within a node.
    fn way(self, hops: u64) -> Option<u64> {
        let network = self.machine.network;
        (hops > 0).then_some(hops * (network.routing_cycles + network.link_cycles))
    }

    /// A message without data; none within a node.
    fn control(self, way: Option<u64>) -> u64 {
        way.map_or(0, |cycles| self.path(0) + cycles)
    }

    /// A message with a block from a cache.
    fn data(self, way: Option<u64>) -> u64 {
        way.map_or(0, |cycles| self.path(self.block_bytes) + cycles)
    }

    /// From the home's memory to the requester: the words leave as they come.
    fn memory_answer(self, way: Option<u64>) -> u64 {
        let machine = self.machine;
        let words = machine.memory_cycles(self.block_bytes);
        let rest = way.map_or(words, |cycles| words.max(self.path(self.block_bytes)) + cycles);
        machine.memory_latency_cycles + rest
    }

    /// A request to the home, and its memory's answer.
    fn fill(self, way: Option<u64>) -> u64 {
        self.control(way) + self.machine.directory_cycles + self.memory_answer(way)
    }

    /// A read, or a write of a block that no other node has: memory answers. `hops` is the distance
    /// to the home, 0 within the node.
    #[must_use]
    pub fn clean(self, hops: u64) -> u64 {
        self.fill(self.way(hops))
    }

    /// A read or a write of a block that another node has written: hops of the request to the
    /// home, of the forwarded request to the owner, and of the data to the requester.
    #[must_use]
    pub fn dirty(self, [to_home, to_owner, back]: [u64; 3]) -> u64 {
        let [to_home, to_owner, back] = [to_home, to_owner, back].map(|hops| self.way(hops));
        let asked = self.control(to_home) + self.machine.directory_cycles + self.control(to_owner);
        asked + self.machine.answer_cycles + self.data(back)
    }

    /// A write of a block of which the node has a copy that others may share: the permission.
    #[must_use]
    pub fn upgrade(self, hops: u64) -> u64 {
        2 * self.control(self.way(hops)) + self.machine.directory_cycles
    }

    /// The move of a page from its old home, from the trap on.
    #[must_use]
    pub fn page_move(self, hops: u64, page_bytes: u64) -> u64 {
        let machine = self.machine;
        let (words, way) = (machine.memory_cycles(page_bytes), self.way(hops));
        machine.system.page_fault_cycles
            + self.control(way)
            + machine.directory_cycles
            + 2 * machine.memory_latency_cycles
            + words.max(self.path(page_bytes))
            + way.unwrap_or(0)
    }
}

/// Costs of fills and write-backs by distance, in cycles without contention.
#[derive(Clone, Copy, Debug)]
pub struct DistanceCost {
    latency: MissLatency,
    places: NodePlaces,
}

impl DistanceCost {
    /// Costs between the memories of a machine with `nodes` processors.
    #[must_use]
    pub fn new(machine: DirectoryMachine, nodes: u16, block_bytes: u64) -> Self {
        let latency = MissLatency::new(machine, block_bytes);
        Self { latency, places: NodePlaces::new(nodes, &machine) }
    }
}

impl HomeCost for DistanceCost {
    fn fill(&self, node: u16, home: u16) -> u64 {
        self.latency.fill(self.places.between_memories(node, home))
    }

    fn write_back(&self, node: u16, home: u16) -> u64 {
        self.latency.data(self.places.between_memories(node, home))
    }
}
