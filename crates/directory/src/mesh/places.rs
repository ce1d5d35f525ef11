//! Positions of processors and memories, and distances between them.
//!
//! Messages travel between end points. The first end points are the processors, in order of their
//! numbers. A processor with a memory of its own shares its end point with it. If several
//! processors share a memory, the slices of the memories follow: first those of memory 0, then
//! those of memory 1, and so on.

use homenode_machine::{DirectoryMachine, MemoryTopology, SharedMemories};

use super::shape::MeshShape;

/// The positions of all processors and memories of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodePlaces {
    processors: u16,
    topology: MemoryTopology,
    /// The mesh of the machine, or that of a memory.
    mesh: MeshShape,
    /// Cycles from a place of a mesh to the next.
    hop_cycles: u64,
}

impl NodePlaces {
    pub(crate) fn new(processors: u16, machine: &DirectoryMachine) -> Self {
        let topology = machine.topology;
        let mesh = MeshShape::new(match topology {
            MemoryTopology::PerProcessor => processors,
            MemoryTopology::Shared(shared) => shared.tiles.max(1),
        });
        let hop_cycles = machine.network.routing_cycles + machine.network.link_cycles;
        Self { processors, topology, mesh, hop_cycles }
    }

    pub(crate) fn end_points(&self) -> u16 {
        match self.topology {
            MemoryTopology::PerProcessor => self.processors,
            MemoryTopology::Shared(shared) => self.processors + shared.all() * shared.slices,
        }
    }

    pub(crate) fn processors(&self) -> usize {
        usize::from(self.processors)
    }

    pub(crate) fn memories(&self) -> u16 {
        self.topology.memories(self.processors)
    }

    /// The memory that is nearest to a processor.
    pub(crate) fn memory_of(&self, processor: u16) -> u16 {
        self.topology.memory_of(processor, self.processors)
    }

    /// The end point of a block in a memory. Blocks are spread over the slices by a hash of their
    /// number, because a stride could hit a single slice.
    pub(crate) fn end_point(&self, memory: u16, block: u64) -> u16 {
        match self.topology {
            MemoryTopology::PerProcessor => memory,
            MemoryTopology::Shared(shared) => {
                let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let slice = u16::try_from((hash * u64::from(shared.slices)) >> 32).unwrap_or(0);
                self.processors + memory * shared.slices + slice
            }
        }
    }

    /// End points with a controller and a part of memory, each with the memory that it is part of.
    pub(crate) fn controllers(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let (first, slices) = match self.topology {
            MemoryTopology::PerProcessor => (0, 1),
            MemoryTopology::Shared(shared) => (self.processors, shared.slices),
        };
        (first..self.end_points()).map(move |at| (at, (at - first) / slices))
    }

    /// The memory that an end point belongs to.
    fn reach(&self, shared: &SharedMemories, end_point: u16) -> u16 {
        match end_point.checked_sub(self.processors) {
            Some(slice) => slice / shared.slices,
            None => shared.memory_of(end_point, self.processors),
        }
    }

    /// The place of an end point on the mesh of a memory.
    fn tile(&self, shared: &SharedMemories, end_point: u16) -> u16 {
        match end_point.checked_sub(self.processors) {
            Some(slice) => shared.tile_of_slice(slice % shared.slices),
            None => shared.tile_of_processor(end_point, self.processors),
        }
    }

    /// Links of the network between two end points.
    pub(crate) fn hops(&self, from: u16, to: u16) -> u64 {
        match self.topology {
            MemoryTopology::PerProcessor => self.mesh.hops(from, to),
            MemoryTopology::Shared(shared) if shared.tiles > 0 => {
                self.mesh.hops(self.tile(&shared, from), self.tile(&shared, to))
            }
            MemoryTopology::Shared(shared) => u64::from(self.sockets(&shared, from, to).is_some()),
        }
    }

    /// The two sockets between which a message travels; `None` within a socket.
    fn sockets(&self, shared: &SharedMemories, from: u16, to: u16) -> Option<(u16, u16)> {
        let [from, to] = [from, to].map(|at| self.reach(shared, at) / shared.memories);
        (from != to).then_some((from, to))
    }

    /// Cycles of a link of the mesh. Those of links between sockets are among
    /// [`Self::entry_cycles`].
    pub(crate) fn link_cycles(&self) -> u64 {
        match self.topology {
            MemoryTopology::Shared(shared) if shared.tiles == 0 => 0,
            MemoryTopology::PerProcessor | MemoryTopology::Shared(_) => self.hop_cycles,
        }
    }

    /// Cycles of a message in addition to those of mesh links.
    pub(crate) fn entry_cycles(&self, from: u16, to: u16) -> u64 {
        let MemoryTopology::Shared(shared) = self.topology else { return 0 };
        if self.reach(&shared, from) == self.reach(&shared, to) {
            shared.near_cycles
        } else if self.sockets(&shared, from, to).is_some() {
            shared.far_cycles
        } else {
            shared.socket_cycles
        }
    }

    /// Size of an array indexed by link number.
    pub(crate) fn links(&self) -> usize {
        match self.topology {
            MemoryTopology::PerProcessor => self.mesh.links(self.processors),
            MemoryTopology::Shared(shared) if shared.tiles > 0 => self.mesh.links(shared.tiles),
            MemoryTopology::Shared(shared) => usize::from(shared.sockets).pow(2),
        }
    }

    /// The numbers of the links from one end point to another, in order of traversal.
    pub(crate) fn route(&self, from: u16, to: u16) -> impl Iterator<Item = usize> + use<> {
        let (mesh, link) = match self.topology {
            MemoryTopology::PerProcessor => (Some(self.mesh.route(from, to)), None),
            MemoryTopology::Shared(shared) if shared.tiles > 0 => {
                (Some(self.mesh.route(self.tile(&shared, from), self.tile(&shared, to))), None)
            }
            MemoryTopology::Shared(shared) => {
                let between = self.sockets(&shared, from, to);
                let number = |(from, to): (u16, u16)| {
                    usize::from(from) * usize::from(shared.sockets) + usize::from(to)
                };
                (None, between.map(number))
            }
        };
        mesh.into_iter().flatten().chain(link)
    }

    /// Cycles from a processor near one memory to another memory; `None` if they share an end
    /// point. On a mesh, which has one memory, the cycles to a neighbour.
    pub(crate) fn between_memories(&self, one: u16, other: u16) -> Option<u64> {
        match self.topology {
            MemoryTopology::PerProcessor => {
                (one != other).then(|| self.mesh.hops(one, other) * self.hop_cycles)
            }
            MemoryTopology::Shared(shared) if one == other => Some(shared.near_cycles),
            MemoryTopology::Shared(shared) if one / shared.memories == other / shared.memories => {
                Some(shared.socket_cycles)
            }
            MemoryTopology::Shared(shared) => Some(shared.far_cycles),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(processors: u16, shared: SharedMemories) -> NodePlaces {
        let (topology, mesh) =
            (MemoryTopology::Shared(shared), MeshShape::new(shared.tiles.max(1)));
        NodePlaces { processors, topology, mesh, hop_cycles: 3 }
    }

    /// Two sockets with two memories of four slices each.
    const FOUR: SharedMemories = SharedMemories {
        sockets: 2,
        memories: 2,
        slices: 4,
        tiles: 0,
        near_cycles: 20,
        socket_cycles: 30,
        far_cycles: 80,
    };

    #[test]
    fn processors_are_spread_over_memories_and_blocks_over_slices() {
        let places = places(8, FOUR);
        assert_eq!((places.end_points(), places.memories()), (8 + 16, 4));
        let memories: Vec<u16> = (0..8).map(|processor| places.memory_of(processor)).collect();
        assert_eq!(memories, [0, 0, 1, 1, 2, 2, 3, 3]);
        let mut used: Vec<u16> = (0..100).map(|block| places.end_point(2, block)).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used, [16, 17, 18, 19]);
    }

    #[test]
    fn distances_are_within_a_memory_within_a_socket_or_between_sockets() {
        let places = places(8, FOUR);
        // From processor 0 to its neighbour, its memory, the socket's other one, the other socket.
        let way = |to| (places.entry_cycles(0, to), places.hops(0, to));
        let ways = [1, 8, 12, 2, 16, 7].map(way);
        assert_eq!(ways, [(20, 0), (20, 0), (30, 0), (30, 0), (80, 1), (80, 1)]);
        assert_eq!(places.route(0, 16).collect::<Vec<_>>(), [1]);
        assert_eq!(places.route(16, 0).collect::<Vec<_>>(), [2]);
        assert_eq!(places.route(0, 12).count(), 0);
        assert_eq!(
            [0, 1, 2].map(|memory| places.between_memories(0, memory)),
            [Some(20), Some(30), Some(80)]
        );
    }

    #[test]
    fn a_mesh_has_processors_and_slices_at_its_positions() {
        let mesh = SharedMemories { sockets: 1, memories: 1, slices: 16, tiles: 16, ..FOUR };
        let places = places(8, mesh);
        // Processor 7 is at place 14, in the third column of the last row; slice 0 at place 0.
        let way = (places.hops(7, 8), places.link_cycles(), places.entry_cycles(7, 8));
        assert_eq!(way, (5, 3, 20));
        assert_eq!(places.route(7, 8).count(), 5);
        assert_eq!(places.end_points(), 24);
    }
}
