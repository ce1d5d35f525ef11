//! The network: when a message that leaves a node is at another one.

use homenode_machine::{MeshModel, NetworkContention};

use super::places::NodePlaces;

/// When the first and the last part of a message come to the node it goes to, if that can take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transit {
    pub(super) head: u64,
    pub(super) tail: u64,
}

/// A network through which messages go in one piece: the head waits for the way to be free, the
/// rest follows a part a cycle.
#[derive(Debug)]
pub(super) struct NodeNetwork {
    pub(super) places: NodePlaces,
    model: MeshModel,
    /// When each end point can send, and receive, the next message.
    send_free: Vec<u64>,
    receive_free: Vec<u64>,
    /// When each link is free, where messages wait for links.
    link_free: Vec<u64>,
    /// Links that messages went along.
    pub(super) hops: u64,
    /// Cycles for which nodes sent.
    pub(super) sending: u64,
}

impl NodeNetwork {
    pub(super) fn new(places: NodePlaces, model: MeshModel) -> Self {
        let ports = vec![0; usize::from(places.end_points())];
        Self {
            places,
            model,
            send_free: ports.clone(),
            receive_free: ports,
            link_free: vec![0; places.links()],
            hops: 0,
            sending: 0,
        }
    }

    /// Cycles for which a message of so many bytes occupies a path.
    pub(super) fn path_cycles(&self, bytes: u64) -> u64 {
        (bytes * 8).div_ceil(self.model.path_bits)
    }

    /// A message leaves a node: `ready` is when the last of it is there to be sent.
    pub(super) fn send(
        &mut self,
        now: u64,
        way: (u16, u16),
        (cycles, ready): (u64, u64),
    ) -> Transit {
        let (from, to) = way;
        let hops = self.places.hops(from, to);
        let (hop, entry) = (self.places.link_cycles(), self.places.entry_cycles(from, to));
        // What comes with the message before it is none of its own.
        self.hops += if cycles == 0 { 0 } else { hops };
        self.sending += cycles;
        let mut start = now;
        if self.model.contention != NetworkContention::None {
            let free = &mut self.send_free[usize::from(from)];
            start = now.max(*free);
            *free = (start + cycles).max(ready);
        }
        let mut head = start;
        if self.model.contention == NetworkContention::Links {
            for link in self.places.route(from, to) {
                let free = &mut self.link_free[link];
                head = head.max(*free);
                *free = (head + cycles).max(ready);
                head += hop;
            }
        } else {
            head += hops * hop;
        }
        head += entry;
        Transit { head, tail: (head + cycles).max(ready + hops * hop + entry) }
    }

    /// The head of a message comes to a node. Returns when all of it is there.
    pub(super) fn receive(&mut self, now: u64, to: u16, (cycles, tail): (u64, u64)) -> u64 {
        if self.model.contention == NetworkContention::None {
            return tail;
        }
        let free = &mut self.receive_free[usize::from(to)];
        *free = (now.max(*free) + cycles).max(tail);
        *free
    }
}

#[cfg(test)]
mod tests {
    use homenode_machine::DirectoryMachine;

    use super::*;

    fn of(nodes: u16, model: MeshModel) -> NodeNetwork {
        let machine = homenode_machine::CachedMachine::parse("dash-mesh").unwrap();
        let machine = DirectoryMachine { network: model, ..*machine.directory().unwrap() };
        NodeNetwork::new(NodePlaces::new(nodes, &machine), model)
    }

    const MODEL: MeshModel = MeshModel {
        path_bits: 16,
        link_cycles: 2,
        routing_cycles: 4,
        header_bytes: 8,
        contention: NetworkContention::Ends,
    };

    #[test]
    fn messages_wait_for_each_other_where_they_leave_and_where_they_come() {
        let mut network = of(16, MODEL);
        assert_eq!(network.path_cycles(8), 4);
        // Two hops of six cycles; the last of the message four cycles after the first.
        let first = network.send(100, (0, 2), (4, 100));
        assert_eq!(first, Transit { head: 112, tail: 116 });
        // The second one leaves when the first has left.
        let second = network.send(101, (0, 1), (36, 101));
        assert_eq!(second, Transit { head: 104 + 6, tail: 104 + 6 + 36 });
        assert_eq!(network.receive(112, 2, (4, 116)), 116);
        assert_eq!(network.receive(113, 2, (4, 117)), 120, "it waits for the one before");
        assert_eq!((network.hops, network.sending), (3, 40));
    }

    #[test]
    fn a_message_whose_data_are_late_holds_its_way() {
        let mut network = of(16, MODEL);
        assert_eq!(network.send(0, (0, 1), (36, 64)), Transit { head: 6, tail: 70 });
        assert_eq!(network.send(10, (0, 1), (4, 10)), Transit { head: 70, tail: 74 });
    }

    #[test]
    fn links_are_waited_for_if_they_are_modelled() {
        let model = MeshModel { contention: NetworkContention::Links, ..MODEL };
        let mut network = of(16, model);
        network.send(0, (0, 2), (36, 0));
        // The link from node 1 to 2 is taken from 6 to 42.
        assert_eq!(network.send(0, (1, 2), (4, 0)), Transit { head: 48, tail: 52 });
        let mut free = of(16, MODEL);
        free.send(0, (0, 2), (36, 0));
        assert_eq!(free.send(0, (1, 2), (4, 0)), Transit { head: 6, tail: 10 });
    }
}
