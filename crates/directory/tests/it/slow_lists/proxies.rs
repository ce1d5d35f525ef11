//! Reads through a proxy.

use homenode_directory::{ProxyAllocation, ProxyUse};

use super::copies::{Has, PlainFrame};
use super::letters::{Letter, Link, Says};
use super::{PlainLists, Turn};

/// Clients that wait for a block, which arrives at one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    clients: u64,
    /// Whether the next recipient is ahead of the sender in the list.
    ahead: bool,
}

impl PlainLists {
    /// Clusters are nodes with neighbouring numbers; a node's proxy is in its cluster, at the
    /// position of the block's number modulo the cluster's size.
    fn proxy_of(&self, node: usize, block: u64) -> usize {
        let nodes = self.nodes.len();
        let clusters = usize::try_from(self.machine.timed.proxies.clusters).unwrap().min(nodes);
        let cluster_of = |node: usize| node * clusters / nodes;
        let cluster: Vec<usize> =
            (0..nodes).filter(|&other| cluster_of(other) == cluster_of(node)).collect();
        cluster[usize::try_from(block % cluster.len() as u64).unwrap()]
    }

    /// The cache of the proxy that a node's processor asks for a block, if it asks one.
    fn proxy_cache(&self, node: usize, block: u64) -> Option<usize> {
        let (home, proxy) = (self.home_of(block), self.proxy_of(node, block));
        if node == home || proxy == home {
            return None;
        }
        // A node with two caches answers clients from the second, among them its own processor.
        let cache = self.caches.iter().rposition(|cache| cache.node == proxy).unwrap();
        (cache != node).then_some(cache)
    }

    /// A cache requests a copy, through its proxy if so configured and if it is not a cache for
    /// clients.
    pub(super) fn ask(&mut self, turn: &mut Turn, block: u64, by_proxy: bool) {
        let (node, cache) = (turn.node, turn.cache);
        let proxy = if by_proxy && cache == node { self.proxy_cache(node, block) } else { None };
        let (to, says) = match proxy {
            Some(proxy) => (proxy, Says::ProxyRead),
            None => (self.home_of(block), Says::Read),
        };
        let requester = self.own(cache, block);
        if self.caches[to].node != node {
            self.awaits_others(turn, block, requester);
        }
        self.post(turn, Letter { from: cache, to, block, requester, via: None, says });
    }

    /// If the copy is for this node's processor, it waits for other nodes from now on.
    fn awaits_others(&mut self, turn: &Turn, block: u64, copy: Link) {
        if let Some(request) = &mut self.nodes[turn.node].request
            && copy.cache == turn.node
            && request.block == block
            && request.tag == Some(copy.tag)
        {
            request.sent.get_or_insert(turn.time);
        }
    }

    /// The first request: through a proxy if all reads use proxies.
    pub(super) fn ask_first(&mut self, turn: &mut Turn, block: u64) {
        let by_proxy = self.machine.timed.proxies.used == ProxyUse::Basic;
        self.ask(turn, block, by_proxy);
    }

    /// A read has bounced from a full buffer.
    pub(super) fn read_is_back(&mut self, turn: &mut Turn, letter: Letter, from_proxy: bool) {
        self.add("retried", 1);
        if from_proxy {
            self.see("a read comes back from a proxy");
        }
        let has = self.has(turn.cache, letter.block);
        if has == Has::Relays {
            self.see("a read comes back that a proxy is to hand on");
            self.ask_for_client(turn, letter, Some(turn.cache));
            return;
        }
        assert_eq!(has, Has::Reads { follower: false });
        let by_proxy = match self.machine.timed.proxies.used {
            ProxyUse::None => false,
            ProxyUse::Basic => from_proxy,
            ProxyUse::Reactive => !from_proxy,
        };
        self.ask(turn, letter.block, by_proxy);
    }

    /// A client asks a proxy.
    pub(super) fn client_asks(&mut self, turn: &mut Turn, letter: Letter) {
        let (cache, block, client) = (turn.cache, letter.block, letter.requester);
        let has = self.has(cache, block);
        let relays = self.machine.timed.proxies.allocation == ProxyAllocation::Nowhere;
        self.use_second_level(turn, true, has == Has::Shared);
        if has != Has::Shared {
            self.awaits_others(turn, block, client);
        }
        if client.cache == turn.node {
            self.see("a processor asks the proxy cache of its node");
        }
        match has {
            Has::Shared => {
                self.see("a proxy has the block");
                self.supply(turn, block, client, Owed { clients: 0, ahead: false });
            }
            Has::Relays | Has::Reads { follower: false } => self.joins(turn, block, client),
            Has::Nothing if relays => {
                let (tag, behind, used) = (0, None, 0);
                let relayed = PlainFrame { block, has: Has::Relays, tag, behind, used };
                self.caches[cache].left.insert(block, relayed);
                self.ask_for_client(turn, letter, Some(cache));
                self.joins(turn, block, client);
            }
            Has::Nothing if self.takes_frame(turn, block) => {
                self.set(cache, block, Has::Reads { follower: false });
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
                self.ask_for_client(turn, letter, None);
            }
        }
    }

    /// Requests a copy for a client from home; it reaches the client through this cache or
    /// directly.
    fn ask_for_client(&mut self, turn: &mut Turn, letter: Letter, via: Option<usize>) {
        let (from, to) = (turn.cache, self.home_of(letter.block));
        self.post(turn, Letter { from, to, via, says: Says::Read, ..letter });
    }

    fn takes_frame(&mut self, turn: &mut Turn, block: u64) -> bool {
        let found = self.in_frame(turn.cache, block).is_some() || self.find_frame(turn, block);
        if found {
            self.fill_frame(turn.cache, block);
        }
        found
    }

    /// A client waits for a block in flight to the proxy.
    fn joins(&mut self, turn: &mut Turn, block: u64, client: Link) {
        let fair = self.machine.timed.proxies.fair;
        let clients = self.caches[turn.cache].clients.entry(block).or_default();
        let before = clients.last().copied();
        clients.push(client);
        let Some(before) = before else { return };
        self.add("combined", 1);
        // The first recipient gets the number of the next one.
        let (informed, follower) = if fair { (before, client) } else { (client, before) };
        let says = Says::Follower { client: follower };
        let (from, to, requester) = (turn.cache, informed.cache, client);
        self.post(turn, Letter { from, to, block, requester, via: None, says });
    }

    /// Informs a client of its follower, to which it hands the block on.
    pub(super) fn learns_follower(&mut self, turn: &mut Turn, block: u64, client: Link) {
        let cache = turn.cache;
        self.caches[cache].followers.insert(block, client);
        match self.has(cache, block) {
            Has::Reads { follower: false } => {
                self.set(cache, block, Has::Reads { follower: true });
            }
            Has::Owes => {
                self.set(cache, block, Has::Shared);
                self.hand_on(turn, block);
            }
            other => panic!("{other:?} is no client"),
        }
    }

    /// A client gets a block for which others wait.
    pub(super) fn owes(&mut self, cache: usize, block: u64, clients: u64, ahead: bool) {
        if clients > 0 {
            self.caches[cache].owed.insert(block, Owed { clients, ahead });
        }
    }

    /// The client of a proxy that gets the block first, and how many follow.
    fn first_of_clients(&mut self, cache: usize, block: u64) -> Option<(Link, u64)> {
        let clients = self.caches[cache].clients.remove(&block)?;
        let fair = self.machine.timed.proxies.fair;
        let next = if fair { clients.first() } else { clients.last() };
        Some((*next?, clients.len() as u64 - 1))
    }

    /// A cache that has received a block hands it on to the client that waits for it, if there is
    /// one.
    pub(super) fn hand_on(&mut self, turn: &mut Turn, block: u64) {
        let cache = turn.cache;
        if let Some((next, clients)) = self.first_of_clients(cache, block) {
            self.supply(turn, block, next, Owed { clients, ahead: false });
        } else if let Some(follower) = self.caches[cache].followers.remove(&block) {
            let Owed { clients, ahead } = self.caches[cache].owed.remove(&block).unwrap();
            self.supply(turn, block, follower, Owed { clients: clients - 1, ahead });
        }
    }

    /// A proxy that keeps no copies hands on a block. Home has put the first client at the head of
    /// the list: if it is the last to get the block, each client is ahead of the one that got it
    /// before.
    pub(super) fn relays(&mut self, turn: &mut Turn, block: u64, behind: Option<Link>) {
        let cache = turn.cache;
        self.caches[cache].left.remove(&block);
        let (next, clients) = self.first_of_clients(cache, block).unwrap();
        let ahead = !self.machine.timed.proxies.fair;
        self.see(match (clients > 0, ahead) {
            (false, _) => "a proxy hands a block on to one client",
            (true, false) => "the first of some clients gets a block first that is handed on",
            (true, true) => "the last of some clients gets a block first that is handed on",
        });
        let says = Says::Data { behind, clients, ahead };
        let (from, to) = (cache, next.cache);
        self.post(turn, Letter { from, to, block, requester: next, via: None, says });
    }

    /// A client gets a copy, and is behind this one in the list, or ahead of it.
    fn supply(&mut self, turn: &mut Turn, block: u64, client: Link, owed: Owed) {
        let Owed { clients, ahead } = owed;
        let cache = turn.cache;
        let behind = if ahead {
            Some(self.own(cache, block))
        } else {
            self.in_frame(cache, block).unwrap().behind.replace(client)
        };
        let says = Says::Data { behind, clients, ahead };
        let (from, to, requester) = (cache, client.cache, client);
        self.post(turn, Letter { from, to, block, requester, via: None, says });
    }
}
