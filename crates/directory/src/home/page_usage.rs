//! Who used each page, and which homes served that: what reports show of a run.

use super::demands::{NodeDemand, demand_of};

/// What became of a page in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUsage {
    /// Its number: its address divided by its size.
    pub page: u64,
    /// Its home at the end.
    pub home: u16,
    /// What nodes did with it, in the order of their numbers; those that did nothing are left out.
    pub nodes: Vec<NodeDemand>,
    /// The memories that its blocks came from: that of its home, or of several homes one after the
    /// other, and those of nodes with a copy of the page.
    pub served: Vec<ServedBlocks>,
}

/// Blocks of one page that came from one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedBlocks {
    /// Whose memory.
    pub home: u16,
    /// How often each block came, by its place in the page.
    pub fills: Vec<u64>,
}

/// One block that comes into a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFill {
    /// The node that gets it, or its memory, if several processors share one.
    pub(crate) node: u16,
    /// The memory that serves it, or whose directory finds it a server.
    pub(crate) source: u16,
    /// Its number.
    pub(crate) block: u64,
}

impl PageUsage {
    pub(super) fn new(page: u64) -> Self {
        Self { page, home: 0, nodes: Vec::new(), served: Vec::new() }
    }

    /// A block comes from the page, which has so many, as a shift.
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

    /// What happened so far is not wanted.
    pub(super) fn restart(&mut self) {
        self.nodes.clear();
        self.served.clear();
    }

    /// All blocks that came from it.
    #[must_use]
    pub fn fills(&self) -> u64 {
        self.nodes.iter().map(|node| node.fills).sum()
    }
}
