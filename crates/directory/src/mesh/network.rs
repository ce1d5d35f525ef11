//! The network: when a message that leaves a node arrives at another one.

use homenode_machine::{MeshModel, NetworkContention};

use super::places::NodePlaces;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) from: u16,
    pub(crate) to: u16,
}

impl Route {
    pub(crate) const fn new(from: u16, to: u16) -> Self {
        Self { from, to }
    }

    /// Whether the message crosses the network.
    pub(crate) const fn is_remote(self) -> bool {
        self.from != self.to
    }
}

/// When the head and the tail of a message arrive, if its destination can receive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transit {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

/// A wormhole network: the head of a message waits for free links, and the rest follows flit by
/// flit.
#[derive(Debug)]
pub(crate) struct NodeNetwork {
    pub(crate) places: NodePlaces,
    model: MeshModel,
    /// Cycle from which each end point can send, or receive, the next message.
    send_free: Vec<u64>,
    receive_free: Vec<u64>,
    /// Cycle from which each link is free, where contention for links is modelled.
    link_free: Vec<u64>,
    /// Links crossed by messages.
    pub(crate) hops: u64,
    /// Cycles spent sending, by all nodes together.
    pub(crate) sending: u64,
}

impl NodeNetwork {
    pub(crate) fn new(places: NodePlaces, model: MeshModel) -> Self {
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

    /// A message of `cycles` cycles leaves a node; its last part can be sent at `ready`.
    pub(crate) fn send(&mut self, now: u64, route: Route, cycles: u64, ready: u64) -> Transit {
        let Route { from, to } = route;
        let hops = self.places.hops(from, to);
        let (hop, entry) = (self.places.link_cycles(), self.places.entry_cycles(from, to));
        // A message that travels with the one before it is not counted.
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

    /// The head of a message arrives at a node. Returns when all of it has been received.
    pub(crate) fn receive(&mut self, now: u64, to: u16, cycles: u64, tail: u64) -> u64 {
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
        flit_cycles: 1,
        link_cycles: 2,
        routing_cycles: 4,
        header_bytes: 8,
        contention: NetworkContention::Ends,
    };

    #[test]
    fn messages_wait_for_each_other_where_they_leave_and_where_they_arrive() {
        let mut network = of(16, MODEL);
        assert_eq!(MODEL.path_cycles(8), 4);
        assert_eq!(MeshModel { flit_cycles: 2, ..MODEL }.path_cycles(9), 2 * 5);
        // Two hops of six cycles; the last of the message four cycles after the first.
        let first = network.send(100, Route::new(0, 2), 4, 100);
        assert_eq!(first, Transit { head: 112, tail: 116 });
        // The second one leaves when the first has left.
        let second = network.send(101, Route::new(0, 1), 36, 101);
        assert_eq!(second, Transit { head: 104 + 6, tail: 104 + 6 + 36 });
        assert_eq!(network.receive(112, 2, 4, 116), 116);
        assert_eq!(network.receive(113, 2, 4, 117), 120, "it waits for the previous one");
        assert_eq!((network.hops, network.sending), (3, 40));
    }

    #[test]
    fn a_message_whose_data_are_late_occupies_its_links() {
        let mut network = of(16, MODEL);
        assert_eq!(network.send(0, Route::new(0, 1), 36, 64), Transit { head: 6, tail: 70 });
        assert_eq!(network.send(10, Route::new(0, 1), 4, 10), Transit { head: 70, tail: 74 });
    }

    #[test]
    fn messages_wait_for_links_if_these_are_modelled() {
        let model = MeshModel { contention: NetworkContention::Links, ..MODEL };
        let mut network = of(16, model);
        network.send(0, Route::new(0, 2), 36, 0);
        // The link from node 1 to 2 is taken from 6 to 42.
        assert_eq!(network.send(0, Route::new(1, 2), 4, 0), Transit { head: 48, tail: 52 });
        let mut free = of(16, MODEL);
        free.send(0, Route::new(0, 2), 36, 0);
        assert_eq!(free.send(0, Route::new(1, 2), 4, 0), Transit { head: 6, tail: 10 });
    }
}
