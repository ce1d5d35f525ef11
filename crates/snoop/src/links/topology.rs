//! Where processors are, and how far it is from one to another.

use homenode_machine::{LinkLatencies, LinkModel};

/// The place of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CorePlace {
    /// Its socket.
    pub(super) socket: usize,
    /// Its last-level cache, of those of the machine.
    pub(super) last_level: usize,
}

/// The places of all cores that are used.
pub(super) struct Topology {
    places: Vec<CorePlace>,
    latency: LinkLatencies,
}

impl Topology {
    /// So many processors, spread over sockets and last-level caches as evenly as can be: those
    /// with neighbouring numbers are near each other.
    pub(super) fn new(links: &LinkModel, processors: u16) -> Self {
        let (sockets, levels) = (links.sockets, links.last_levels);
        let (all, count) = (sockets * levels, u64::from(processors));
        let place = |processor: u64| {
            let last_level = processor * all / count;
            let at = |number: u64| usize::try_from(number).unwrap_or(0);
            CorePlace { socket: at(last_level / levels), last_level: at(last_level) }
        };
        Self { places: (0..count).map(place).collect(), latency: links.latency }
    }

    /// The place of a processor.
    pub(super) fn place(&self, processor: usize) -> CorePlace {
        self.places[processor]
    }

    /// Cycles from asking another core's cache to having its data.
    pub(super) fn between(&self, one: usize, other: usize) -> u64 {
        let (one, other) = (self.places[one], self.places[other]);
        if one.last_level == other.last_level {
            self.latency.same_last_level
        } else if one.socket == other.socket {
            self.latency.same_socket
        } else {
            self.latency.cross_socket
        }
    }

    /// Cycles that every request takes to where it is decided who has the block: half of the
    /// shortest time in which anything can be answered.
    pub(super) fn request_cycles(&self) -> u64 {
        let LinkLatencies {
            last_level,
            same_last_level,
            same_socket,
            cross_socket,
            memory,
            remote_memory,
        } = self.latency;
        let all = [last_level, same_last_level, same_socket, cross_socket, memory, remote_memory];
        (all.into_iter().min().unwrap_or(2) / 2).max(1)
    }
}
