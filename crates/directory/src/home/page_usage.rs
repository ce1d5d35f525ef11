//! Use of each page, and the memories that served it, for reports.

use super::demands::{NodeDemand, demand_of};

/// The use of a page in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUsage {
    /// Its number: its address divided by its size.
    pub page: u64,
    /// Its home at the end.
    pub home: u16,
    /// Demands of nodes on it, in the order of their numbers, without those that have none.
    pub nodes: Vec<NodeDemand>,
    /// The memories that served its blocks: those of its home or successive homes, and those of
    /// nodes with a copy of the page.
    pub served: Vec<ServedBlocks>,
}

/// Blocks of one page served by one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedBlocks {
    /// The node with that memory.
    pub home: u16,
    /// Number of fills of each block, by its position in the page.
    pub fills: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFill {
    /// The node that gets it, or its memory, if several processors share one.
    pub(crate) node: u16,
    /// The memory that serves it, or whose directory finds it a server.
    pub(crate) source: u16,
    pub(crate) block: u64,
}

impl PageUsage {
    pub(super) fn new(page: u64) -> Self {
        Self { page, home: 0, nodes: Vec::new(), served: Vec::new() }
    }

    /// Counts a fill from the page, which has `1 << shift` blocks.
    pub(super) fn filled(&mut self, fill: PageFill, shift: u32) {
        demand_of(&mut self.nodes, fill.node).fills += 1;
        // A page rarely has a second home, and then that is the last.
        let known = self.served.iter().rposition(|served| served.home == fill.source);
        let at = known.unwrap_or_else(|| {
            self.served.push(ServedBlocks { home: fill.source, fills: vec![0; 1 << shift] });
            self.served.len() - 1
        });
        let block = fill.block & ((1 << shift) - 1);
        self.served[at].fills[usize::try_from(block).unwrap_or(usize::MAX)] += 1;
    }

    pub(super) fn written_back(&mut self, node: u16) {
        demand_of(&mut self.nodes, node).write_backs += 1;
    }

    /// Discards all counts so far.
    pub(super) fn restart(&mut self) {
        self.nodes.clear();
        self.served.clear();
    }

    /// Number of all fills.
    #[must_use]
    pub fn fills(&self) -> u64 {
        self.nodes.iter().map(|node| node.fills).sum()
    }
}
