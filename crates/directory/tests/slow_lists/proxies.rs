//! Reads that go by a proxy.

use homenode_directory::ProxyUse;

use super::copies::Has;
use super::letters::{Letter, Link, Says};
use super::{PlainLists, Turn};

impl PlainLists {
    /// The clusters are of nodes with neighbouring numbers; a node's proxy is in its own, at the
    /// place that is the block's number modulo its size.
    fn proxy_of(&self, node: usize, block: u64) -> usize {
        let nodes = self.nodes.len();
        let clusters = usize::try_from(self.machine.timed.proxies.clusters).unwrap().min(nodes);
        let cluster_of = |node: usize| node * clusters / nodes;
        let cluster: Vec<usize> =
            (0..nodes).filter(|&other| cluster_of(other) == cluster_of(node)).collect();
        cluster[usize::try_from(block % cluster.len() as u64).unwrap()]
    }

    /// A node asks for a copy, of its proxy if that is wanted and there is one.
    pub(super) fn ask(&mut self, turn: &mut Turn, block: u64, by_proxy: bool) {
        let node = turn.node;
        let (home, proxy) = (self.home_of(block), self.proxy_of(node, block));
        let by_proxy = by_proxy && node != home && proxy != node && proxy != home;
        let (to, says) = if by_proxy { (proxy, Says::ProxyRead) } else { (home, Says::Read) };
        let requester = self.own(node, block);
        if to != node
            && let Some(request) = &mut self.nodes[node].request
            && request.block == block
            && request.tag == Some(requester.tag)
        {
            request.sent.get_or_insert(turn.time);
        }
        self.post(turn, Letter { from: node, to, block, requester, says });
    }

    /// The first time: by a proxy if those are for all reads.
    pub(super) fn ask_first(&mut self, turn: &mut Turn, block: u64) {
        let by_proxy = self.machine.timed.proxies.used == ProxyUse::Basic;
        self.ask(turn, block, by_proxy);
    }

    /// The node's read has come back from a full buffer.
    pub(super) fn read_is_back(&mut self, turn: &mut Turn, block: u64, from_proxy: bool) {
        assert_eq!(self.has(turn.node, block), Has::Reads { follower: false });
        self.add("retried", 1);
        let by_proxy = match self.machine.timed.proxies.used {
            ProxyUse::None => false,
            ProxyUse::Basic => from_proxy,
            ProxyUse::Reactive => !from_proxy,
        };
        if from_proxy {
            self.see("a read comes back from a proxy");
        }
        self.ask(turn, block, by_proxy);
    }

    /// A client asks a proxy.
    pub(super) fn client_asks(&mut self, turn: &mut Turn, letter: Letter) {
        let (node, block, client) = (turn.node, letter.block, letter.requester);
        let has = self.has(node, block);
        self.use_second_level(turn, true, has == Has::Shared);
        match has {
            Has::Shared => {
                self.see("a proxy has the block");
                self.supply(turn, (block, client), 0);
            }
            Has::Reads { follower: false } => self.joins(turn, block, client),
            Has::Nothing if self.takes_frame(turn, block) => {
                self.set(node, block, Has::Reads { follower: false });
                self.ask_first(turn, block);
                self.joins(turn, block, client);
            }
            Has::Reads { .. } | Has::Owes => panic!("a client is a proxy"),
            has => {
                let why = if has == Has::Nothing {
                    "a proxy has no frame"
                } else {
                    "a proxy cannot serve"
                };
                self.see(why);
                let to = self.home_of(block);
                self.post(turn, Letter { from: node, to, says: Says::Read, ..letter });
            }
        }
    }

    fn takes_frame(&mut self, turn: &mut Turn, block: u64) -> bool {
        let found = self.in_frame(turn.node, block).is_some() || self.find_frame(turn, block);
        if found {
            self.fill_frame(turn.node, block);
        }
        found
    }

    /// A client waits for a block that is on its way to the proxy.
    fn joins(&mut self, turn: &mut Turn, block: u64, client: Link) {
        let fair = self.machine.timed.proxies.fair;
        let clients = self.nodes[turn.node].clients.entry(block).or_default();
        let before = clients.last().copied();
        clients.push(client);
        let Some(before) = before else { return };
        self.add("combined", 1);
        // Who gets the block first is told of the other.
        let (told, follower) = if fair { (before, client) } else { (client, before) };
        let says = Says::Follower { client: follower };
        let (from, to) = (turn.node, told.node);
        self.post(turn, Letter { from, to, block, requester: client, says });
    }

    /// A client is told to whom it hands the block on.
    pub(super) fn learns_follower(&mut self, turn: &mut Turn, block: u64, client: Link) {
        let node = turn.node;
        self.nodes[node].followers.insert(block, client);
        match self.has(node, block) {
            Has::Reads { follower: false } => {
                self.set(node, block, Has::Reads { follower: true });
            }
            Has::Owes => {
                self.set(node, block, Has::Shared);
                self.hand_on(turn, block);
            }
            other => panic!("{other:?} is no client"),
        }
    }

    /// A node that has got a block hands it on to who waits for it, if anybody does.
    pub(super) fn hand_on(&mut self, turn: &mut Turn, block: u64) {
        let fair = self.machine.timed.proxies.fair;
        let node = &mut self.nodes[turn.node];
        let (next, clients) = if let Some(clients) = node.clients.remove(&block) {
            let next = if fair { clients.first() } else { clients.last() };
            (*next.unwrap(), clients.len() as u64)
        } else if let Some(follower) = node.followers.remove(&block) {
            (follower, node.owed.remove(&block).unwrap())
        } else {
            return;
        };
        self.supply(turn, (block, next), clients - 1);
    }

    /// A client gets a copy, and is behind this node in the list.
    fn supply(&mut self, turn: &mut Turn, (block, client): (u64, Link), clients: u64) {
        let node = turn.node;
        let frame = self.in_frame(node, block).unwrap();
        let behind = frame.behind.replace(client);
        let says = Says::Data { behind, clients };
        let (to, requester) = (client.node, client);
        self.post(turn, Letter { from: node, to, block, requester, says });
    }
}
