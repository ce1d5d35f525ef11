//! Where processors and memories are.

use super::SlowMachine;

pub(super) struct SlowWay {
    /// The places on it; links are between neighbours.
    pub(super) places: Vec<usize>,
    /// Cycles of each link.
    pub(super) hop: u64,
    /// Cycles in addition to those of links.
    pub(super) entry: u64,
}

/// Row and column first, then the rest of the column.
fn mesh(columns: usize, from: usize, to: usize) -> Vec<usize> {
    let (mut x, mut y) = (from % columns, from / columns);
    let (to_x, to_y) = (to % columns, to / columns);
    let mut places = vec![from];
    while (x, y) != (to_x, to_y) {
        if x < to_x {
            x += 1;
        } else if x > to_x {
            x -= 1;
        } else if y < to_y {
            y += 1;
        } else {
            y -= 1;
        }
        places.push(y * columns + x);
    }
    places
}

fn columns(places: usize) -> usize {
    (1..).find(|side| side * side >= places).unwrap()
}

impl SlowMachine {
    pub(super) fn memories(&self) -> usize {
        self.shared.map_or(self.nodes, |shared| shared.sockets * shared.memories)
    }

    pub(super) fn end_points(&self) -> usize {
        self.nodes + self.shared.map_or(0, |shared| self.memories() * shared.slices)
    }

    pub(super) fn memory_of(&self, node: usize) -> usize {
        self.shared.map_or(node, |_| node * self.memories() / self.nodes)
    }

    /// The end point of a block in a memory.
    pub(super) fn end_point(&self, memory: usize, block: u64) -> usize {
        let Some(shared) = self.shared else { return memory };
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let slice = usize::try_from((hash * shared.slices as u64) >> 32).unwrap();
        self.nodes + memory * shared.slices + slice
    }

    pub(super) fn way(&self, from: usize, to: usize) -> SlowWay {
        let hop = self.routing + self.link;
        let Some(shared) = self.shared else {
            return SlowWay { places: mesh(columns(self.nodes), from, to), hop, entry: 0 };
        };
        // Memory and slice, or memory and processor.
        let slice = |at: usize| at.checked_sub(self.nodes);
        let reach = |at| slice(at).map_or(self.memory_of(at), |slice| slice / shared.slices);
        let socket = |at| reach(at) / shared.memories;
        let entry = match (reach(from) == reach(to), socket(from) == socket(to)) {
            (true, _) => shared.near,
            (false, true) => shared.socket,
            (false, false) => shared.far,
        };
        if shared.tiles > 0 {
            let tile = |at: usize| match slice(at) {
                Some(slice) => slice * shared.tiles / shared.slices,
                None => at * shared.tiles / self.nodes,
            };
            let places = mesh(columns(shared.tiles), tile(from), tile(to));
            return SlowWay { places, hop, entry };
        }
        let mut places = vec![socket(from), socket(to)];
        places.dedup();
        SlowWay { places, hop: 0, entry }
    }
}
