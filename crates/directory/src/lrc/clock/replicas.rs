//! Copies of pages in the memory of nodes that read them, so that fills are local.
//!
//! A copy is valid while the node maps the page read-only.

use rustc_hash::FxHashMap;

use crate::replication::PageReplication;

/// The use of a page by a node.
#[derive(Clone, Copy, Debug, Default)]
struct UsedPage {
    mapped_at: u64,
    fills: u64,
    /// Whether it is copied when it is mapped next.
    wanted: bool,
    /// Whether a copy is in transit.
    copying: bool,
    /// Whether there is a copy.
    copied: bool,
    writes: bool,
}

/// What decides whether a mapped page is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessPlace {
    pub(super) store: bool,
    /// Whether the node is the home.
    pub(super) local: bool,
}

/// The copies of all nodes.
#[derive(Debug)]
pub(super) struct PageReplicas {
    policy: PageReplication,
    pages: FxHashMap<(u16, u32), UsedPage>,
    pub(super) made: u64,
    pub(super) dropped: u64,
}

impl PageReplicas {
    pub(super) fn new(policy: PageReplication) -> Self {
        Self { policy, pages: FxHashMap::default(), made: 0, dropped: 0 }
    }

    pub(super) fn has(&self, node: u16, page: u32) -> bool {
        self.policy != PageReplication::None
            && self.pages.get(&(node, page)).is_some_and(|used| used.copied)
    }

    /// A node maps a page. Returns whether the page is to be copied now.
    pub(super) fn mapped(&mut self, node: u16, page: u32, access: AccessPlace, now: u64) -> bool {
        let AccessPlace { store, local } = access;
        if self.policy == PageReplication::None {
            return false;
        }
        let used = self.pages.entry((node, page)).or_default();
        if store && std::mem::take(&mut used.copied) {
            self.dropped += 1;
        }
        let copies = std::mem::take(&mut used.wanted) && !store && !local;
        *used = UsedPage { mapped_at: now, copying: copies, writes: store, ..UsedPage::default() };
        copies
    }

    /// A line of a page has been requested. Returns whether the page is to be copied at once.
    pub(super) fn filled(&mut self, node: u16, page: u32) -> bool {
        if self.policy == PageReplication::None {
            return false;
        }
        let used = self.pages.entry((node, page)).or_default();
        used.fills += 1;
        let PageReplication::CounterInterrupt(fills) = self.policy else { return false };
        let copies = used.fills == fills && !used.writes && !used.copying && !used.copied;
        used.copying |= copies;
        copies
    }

    /// A page has arrived. Returns whether it is a copy that the node has requested.
    pub(super) fn copied(&mut self, node: u16, page: u32) -> bool {
        let Some(used) = self.pages.get_mut(&(node, page)) else { return false };
        let copied = std::mem::take(&mut used.copying);
        used.copied |= copied;
        self.made += u64::from(copied);
        copied
    }

    pub(super) fn unmapped(&mut self, node: u16, page: u32, now: u64) {
        let Some(used) = self.pages.get_mut(&(node, page)) else { return };
        self.dropped += u64::from(std::mem::take(&mut used.copied));
        used.copying = false;
        used.wanted = match self.policy {
            PageReplication::Time(cycles) => now - used.mapped_at >= cycles,
            PageReplication::Counter(fills) => used.fills >= fills,
            PageReplication::None | PageReplication::CounterInterrupt(_) => false,
        };
    }
}
