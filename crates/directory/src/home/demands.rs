//! Demands of nodes on pages, from which homes with hindsight are chosen.

use rustc_hash::FxHashMap;

/// The demand of a node on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeDemand {
    /// The node.
    pub node: u16,
    /// Fills of blocks of the page.
    pub fills: u64,
    /// Write-backs of blocks of the page.
    pub write_backs: u64,
}

/// The demands of all nodes on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDemand {
    /// Its number: its address divided by its size.
    pub page: u64,
    /// In the order of the nodes' numbers, without those that have none.
    pub nodes: Vec<NodeDemand>,
}

/// The demands on all pages, in the order of their first references. In the order of the trace they
/// do not depend on the homes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDemands(pub Vec<PageDemand>);

/// The demand of a node, inserted in the order of node numbers.
pub(super) fn demand_of(nodes: &mut Vec<NodeDemand>, node: u16) -> &mut NodeDemand {
    let at = match nodes.binary_search_by_key(&node, |found| found.node) {
        Ok(at) => at,
        Err(at) => {
            nodes.insert(at, NodeDemand { node, fills: 0, write_backs: 0 });
            at
        }
    };
    &mut nodes[at]
}

impl PageDemands {
    /// The same by memory, where several nodes share one: `memory` says which is a node's.
    #[must_use]
    pub fn by_memory(self, memory: impl Fn(u16) -> u16) -> Self {
        let page = |page: PageDemand| {
            let mut sums = PageDemand { page: page.page, nodes: Vec::new() };
            for NodeDemand { node, fills, write_backs } in page.nodes {
                let sum = demand_of(&mut sums.nodes, memory(node));
                sum.fills += fills;
                sum.write_backs += write_backs;
            }
            sums
        };
        Self(self.0.into_iter().map(page).collect())
    }

    /// A home for each page that was in demand, by its number.
    pub(super) fn homes(&self, home: impl Fn(&PageDemand) -> u16) -> FxHashMap<u64, u16> {
        let wanted = self.0.iter().filter(|page| !page.nodes.is_empty());
        wanted.map(|page| (page.page, home(page))).collect()
    }
}

/// Costs of fills and write-backs, in any unit.
pub trait HomeCost {
    /// A fill for a node from a home.
    fn fill(&self, node: u16, home: u16) -> u64;
    /// A write-back by a node to a home.
    fn write_back(&self, node: u16, home: u16) -> u64;

    /// All fills and write-backs of a page, if its home is this one.
    fn page(&self, page: &PageDemand, home: u16) -> u64 {
        let one = |NodeDemand { node, fills, write_backs }: NodeDemand| {
            fills * self.fill(node, home) + write_backs * self.write_back(node, home)
        };
        page.nodes.iter().copied().map(one).sum()
    }
}

/// Messages, if there is no clock: request and reply for a fill, one for a write-back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCost;

impl HomeCost for MessageCost {
    fn fill(&self, node: u16, home: u16) -> u64 {
        if node == home { 0 } else { 2 }
    }

    fn write_back(&self, node: u16, home: u16) -> u64 {
        u64::from(node != home)
    }
}
