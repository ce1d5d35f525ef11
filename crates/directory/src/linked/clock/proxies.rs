//! Reads through a proxy: which reads, which proxy, and how a block is handed on to waiting
//! clients.

use std::ops::Range;

use homenode_cache::{BlockRef, CacheArrays, CacheFrame, WordMask};

use super::ListMemory;
use super::copy::CopyPlace;
use super::posted::{ListPointer, ListPost};
use super::service::Service;
use crate::linked::proxies::{ProxyAllocation, ProxySetup, ProxyUse};
use crate::linked::vocabulary::ListMessage;

/// A chain of clients to which a node hands on a block, known by one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProxyChain {
    block: u64,
    first: ListPointer,
    last: ListPointer,
    clients: u16,
    /// Whether the next client is ahead of this node's copy in the list, not behind it.
    ahead: bool,
}

/// Which reads use a proxy, and which proxy.
#[derive(Debug)]
pub(super) struct ProxyWays {
    used: ProxyUse,
    allocation: ProxyAllocation,
    fair: bool,
    nodes: u16,
    clusters: u64,
    /// Marked blocks, as ranges of block numbers; if empty, all are marked.
    marked: Vec<Range<u64>>,
}

impl ProxyWays {
    pub(super) fn new(setup: &ProxySetup, nodes: u16, block_shift: u32) -> Self {
        let blocks = |range: &Range<u64>| {
            range.start >> block_shift..(range.end.saturating_sub(1) >> block_shift) + 1
        };
        Self {
            used: setup.used,
            allocation: setup.allocation,
            fair: setup.fair,
            nodes,
            clusters: setup.clusters.clamp(1, u64::from(nodes)),
            marked: setup.marked.iter().map(blocks).collect(),
        }
    }

    /// Whether a block is marked, so that its reads use proxies under `basic`.
    pub(super) fn marks(&self, block: u64) -> bool {
        self.marked.is_empty() || self.marked.iter().any(|range| range.contains(&block))
    }

    /// Whether proxies keep no copies for their clients.
    pub(super) fn relay(&self) -> bool {
        self.allocation == ProxyAllocation::Nowhere
    }

    /// The cache in which a proxy keeps copies for its clients; its number identifies the proxy in
    /// messages.
    fn cache_of(&self, proxy: u16) -> u16 {
        match self.allocation {
            ProxyAllocation::SecondLevel | ProxyAllocation::Nowhere => proxy,
            ProxyAllocation::Separate { .. } => self.nodes + proxy,
        }
    }

    /// The proxy of a node for a block. Successive blocks have different proxies, so that a row of
    /// them is not served by one controller.
    ///
    /// Source: Talbot and Kelly, section 1.3 and figure 1.1.
    fn proxy_of(&self, node: u16, block: u64) -> u16 {
        let (nodes, clusters) = (u64::from(self.nodes), self.clusters);
        let cluster = u64::from(node) * clusters / nodes;
        // The first node of a cluster is the least with its number.
        let first = (cluster * nodes).div_ceil(clusters);
        let end = ((cluster + 1) * nodes).div_ceil(clusters);
        u16::try_from(first + block % (end - first)).unwrap_or(0)
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ListMemory<F, W, WORDS> {
    /// The node of a cache: its second level has the number of the node, its proxy cache one after
    /// those of all nodes.
    pub(super) fn node_of(&self, cache: u16) -> u16 {
        if cache < self.node_count { cache } else { cache - self.node_count }
    }

    /// The proxy for a node's reads of a block with this home; none if the node is the proxy, with
    /// the same cache, or the proxy is the home.
    fn proxy(&self, node: u16, home: u16, block: u64) -> Option<u16> {
        if node >= self.node_count || node == home {
            return None;
        }
        let proxy = self.proxies.proxy_of(node, block);
        let cache = self.proxies.cache_of(proxy);
        (cache != node && proxy != home).then_some(cache)
    }

    /// The recipient of an answer to the requester: its proxy, if the proxy relays it.
    pub(super) fn receiver(&self, post: &ListPost) -> u16 {
        let requester = post.requester.node;
        if post.relayed { self.proxies.proxy_of(requester, post.block) } else { requester }
    }

    /// A node requests a copy, for its processor or as a proxy, from the home, or from its own
    /// proxy if the read uses one.
    pub(super) fn ask(&mut self, service: &mut Service<'_, '_, Self>, block: BlockRef) {
        let marked = self.proxies.used == ProxyUse::Basic && self.entries.of(block.number).marked;
        self.ask_by(service, block, marked);
    }

    /// A read sent back by a full buffer is sent again. With reactive proxies it goes to a proxy if
    /// the home sent it back, and to the home if a proxy did.
    pub(super) fn ask_again(&mut self, service: &mut Service<'_, '_, Self>, bounce: &ListPost) {
        self.sent.retried += 1;
        let by_proxy = match self.proxies.used {
            ProxyUse::None => false,
            ProxyUse::Basic => bounce.more > 0,
            ProxyUse::Reactive => bounce.more == 0,
        };
        let block = BlockRef { block: bounce.block, number: bounce.number };
        self.ask_by(service, block, by_proxy);
    }

    fn ask_by(&mut self, service: &mut Service<'_, '_, Self>, block: BlockRef, by_proxy: bool) {
        let BlockRef { block, number } = block;
        let node = service.node;
        let home = self.home_of(number);
        let proxy = self.proxy(node, home, block).filter(|_| by_proxy);
        let (message, to) = match proxy {
            Some(proxy) => (ListMessage::ProxyRead, proxy),
            None => (ListMessage::Read, home),
        };
        let (place, _) = self.place(node, block);
        let CopyPlace::Frame(at) = place else { return };
        let requester = ListPointer { node, tag: self.tags[at] };
        let post =
            ListPost { message, to, ..ListPost::within(requester, BlockRef { block, number }) };
        if self.node_of(to) != node {
            self.read_sent(node, block, service.time);
        }
        self.send(service, post);
    }

    /// A node forwards a client's read to the home.
    pub(super) fn ask_for(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        let (message, to) = (ListMessage::Read, self.home_of(post.number));
        let read = ListPost { message, from: service.node, to, about: None, more: 0, ..*post };
        self.send(service, read);
    }

    /// A node requests a copy from the home to relay to a client, again after a bounce.
    pub(super) fn ask_to_relay(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        self.sent.retried += u64::from(post.message == ListMessage::Bounce);
        self.ask_for(service, &ListPost { relayed: true, ..*post });
    }

    /// Allocates a frame for a client's copy. Returns whether one is free.
    pub(super) fn takes_frame(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
    ) -> Result<bool, homenode_cache::ClockError> {
        let (node, block) = (service.node, post.block);
        let holder = usize::from(node);
        let at = match self.place(node, block).0 {
            CopyPlace::Frame(at) => at,
            CopyPlace::Leaving(_) => return Ok(false),
            CopyPlace::None => match self.free_frame(service, block)? {
                Some(at) => at,
                None => return Ok(false),
            },
        };
        self.caches.holders.add_frame(post.number, holder);
        let frame = CacheFrame::of(block, post.number);
        let set = self.caches.frames.set_of(holder, block);
        self.caches.frames.fill(set, at, block, frame);
        (self.tags[at], self.behind[at]) = (self.new_tag(node), 0);
        Ok(true)
    }

    /// A client waits for a block that its proxy has requested.
    ///
    /// Source: Talbot and Kelly, section 1.3 and figure 1.2: the proxy knows the head of the chain,
    /// so that the first client is the last to get the block; with a pointer to the tail as well it
    /// is the first.
    pub(super) fn chain(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        let (client, fair) = (post.requester, self.proxies.fair);
        let chains = &self.nodes[usize::from(service.node)].chains;
        let is_new = !chains.iter().any(|chain| chain.block == post.block);
        let chain = self.chain_of(service.node, post.block, client);
        chain.clients += 1;
        if is_new {
            return;
        }
        let (target, follower) = if fair {
            (std::mem::replace(&mut chain.last, client), client)
        } else {
            (client, std::mem::replace(&mut chain.first, client))
        };
        self.sent.combined += 1;
        let (message, from, to) = (ListMessage::Follower, service.node, target.node);
        let follower = ListPost { message, from, to, about: Some(follower), more: 0, ..*post };
        self.send(service, follower);
    }

    /// A read of the node's own processor that its proxy cache cannot answer waits for another
    /// node.
    pub(super) fn own_client_waits(&mut self, service: &Service<'_, '_, Self>, post: &ListPost) {
        let client = post.requester.node;
        if self.node_of(service.node) == client {
            self.read_sent(client, post.block, service.time);
        }
    }

    /// Stores the client to which a node hands on a block.
    pub(super) fn keep_follower(&mut self, node: u16, post: &ListPost) {
        let Some(client) = post.about else { return };
        // If the block arrived earlier, the number of clients is known.
        let chain = self.chain_of(node, post.block, client);
        (chain.first, chain.last) = (client, client);
    }

    /// The chain of a block at a node; a new one has no clients, and this one at both ends.
    fn chain_of(&mut self, node: u16, block: u64, end: ListPointer) -> &mut ProxyChain {
        let chains = &mut self.nodes[usize::from(node)].chains;
        let found = chains.iter().position(|chain| chain.block == block);
        let at = found.unwrap_or_else(|| {
            chains.push(ProxyChain { block, first: end, last: end, clients: 0, ahead: false });
            chains.len() - 1
        });
        &mut chains[at]
    }

    /// Stores the number of clients that wait for a block. For a relayed block the home has put the
    /// first client at the head of the list; if that client gets the block last, each client is
    /// ahead of the previous recipient.
    pub(super) fn keep_clients(&mut self, node: u16, post: &ListPost) {
        let ListPost { block, more: clients, relayed, .. } = *post;
        let ahead = relayed && !self.proxies.fair;
        let chain = self.chain_of(node, block, ListPointer { node, tag: 0 });
        (chain.clients, chain.ahead) = (clients, ahead);
    }

    /// A node hands a block on to the first waiting client.
    pub(super) fn hand_on(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        let Some(chain) = self.take_chain(service.node, post.block) else { return };
        let ProxyChain { first, clients, ahead, .. } = chain;
        let more = clients.saturating_sub(1);
        self.supply(service, post, first, more, ahead);
    }

    /// Removes and returns the clients that wait for a block at a node.
    fn take_chain(&mut self, node: u16, block: u64) -> Option<ProxyChain> {
        let chains = &mut self.nodes[usize::from(node)].chains;
        let at = chains.iter().position(|chain| chain.block == block)?;
        Some(chains.swap_remove(at))
    }

    /// A node that keeps no copy relays a block to the first waiting client.
    pub(super) fn relay(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        let Some(chain) = self.take_chain(service.node, post.block) else { return };
        let ProxyChain { first: requester, clients, .. } = chain;
        let (from, to, more) = (service.node, requester.node, clients.saturating_sub(1));
        let data = ListPost { from, to, requester, more, ..*post };
        self.values.relay(&post.carried(), data.carried());
        self.send(service, data);
    }

    /// A proxy that has a copy serves a client.
    pub(super) fn supply_client(&mut self, service: &mut Service<'_, '_, Self>, post: &ListPost) {
        self.supply(service, post, post.requester, 0, false);
    }

    /// A node sends its copy to a client, which is inserted behind it in the list, or is ahead of
    /// it.
    fn supply(
        &mut self,
        service: &mut Service<'_, '_, Self>,
        post: &ListPost,
        client: ListPointer,
        more: u16,
        ahead: bool,
    ) {
        let node = service.node;
        let (place, _) = self.place(node, post.block);
        let about = if ahead {
            Some(ListPointer { node, tag: self.tag(node, place) })
        } else {
            let behind = self.behind(node, place);
            self.set_behind(node, place, Some(client));
            behind
        };
        let (message, from, to) = (ListMessage::Data, node, client.node);
        let (requester, relayed) = (client, ahead);
        let data = ListPost { message, from, to, requester, about, more, relayed, ..*post };
        self.values_sent(&data, place);
        self.send(service, data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_a_proxy_in_its_own_cluster_and_successive_blocks_others() {
        let setup = ProxySetup { used: ProxyUse::Basic, ..ProxySetup::default() };
        let ways = ProxyWays::new(&setup, 64, 6);
        let proxies = |node| (0..22).map(|block| ways.proxy_of(node, block)).collect::<Vec<u16>>();
        // 64 nodes are clusters of 22, 21 and 21.
        assert_eq!(proxies(0), (0..22).collect::<Vec<u16>>());
        assert_eq!(proxies(21), proxies(0));
        assert_eq!((ways.proxy_of(22, 0), ways.proxy_of(42, 20)), (22, 42));
        assert_eq!(
            (ways.proxy_of(43, 0), ways.proxy_of(63, 20), ways.proxy_of(63, 21)),
            (43, 63, 43)
        );
    }

    #[test]
    fn data_are_marked_by_their_blocks() {
        let marked = std::iter::once(100..200).collect();
        let ways = ProxyWays::new(&ProxySetup { marked, ..ProxySetup::default() }, 4, 6);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|block| ways.marks(block)),
            [false, true, true, true, false]
        );
    }
}
