//! Where cores are, and the latencies between them.

use homenode_machine::{LinkLatencies, LinkModel};

/// The socket and the last level of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CorePlace {
    pub(super) socket: usize,
    /// Numbered through all sockets.
    pub(super) last_level: usize,
}

/// The places of the cores that the machine uses.
pub(super) struct Topology {
    places: Vec<CorePlace>,
    latency: LinkLatencies,
}

impl Topology {
    /// Spreads processors over sockets and last-level caches as evenly as possible. Processors with
    /// consecutive numbers share a last level.
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

    pub(super) fn place(&self, processor: usize) -> CorePlace {
        self.places[processor]
    }

    /// Cycles until the data of another core's cache arrive.
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

    /// Cycles that every request takes to reach its ordering point: half of the shortest latency.
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
