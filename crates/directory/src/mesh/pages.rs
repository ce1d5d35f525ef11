//! Which pages are mapped, on machines whose nodes share one page table.
//!
//! Where homes follow use, a page is mapped at its first reference. The node that makes it traps
//! into the operating system; if the page is to move to that node, it is copied there. Other nodes
//! that refer to the page meanwhile wait.

use rustc_hash::FxHashMap;

use crate::home::PageHomes;

/// A page in the page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapping {
    Unmapped,
    /// A node is mapping it.
    Busy,
    Mapped,
}

/// No page.
const NONE: u32 = u32::MAX;

/// The page table of all nodes.
#[derive(Debug)]
pub(crate) struct SharedPageTable {
    /// Whether pages start unmapped.
    by_use: bool,
    pages: Vec<Mapping>,
    waiting: FxHashMap<u32, Vec<u16>>,
    /// By node, the page last found mapped.
    last: Vec<u32>,
    /// Traps into the operating system.
    pub(crate) faults: u64,
}

fn at(page: u32) -> usize {
    usize::try_from(page).unwrap_or(usize::MAX)
}

impl SharedPageTable {
    pub(crate) fn new(nodes: u16, by_use: bool) -> Self {
        Self {
            by_use,
            pages: Vec::new(),
            waiting: FxHashMap::default(),
            last: vec![NONE; usize::from(nodes)],
            faults: 0,
        }
    }

    fn reach(&mut self, page: u32) -> &mut Mapping {
        let first = if self.by_use { Mapping::Unmapped } else { Mapping::Mapped };
        if self.pages.len() <= at(page) {
            self.pages.resize(at(page) + 1, first);
        }
        &mut self.pages[at(page)]
    }

    /// Whether a page is mapped; `moves` says whether it has to move first because this node has
    /// claimed it.
    fn is_mapped(&mut self, page: u32, node: u16, moves: impl Fn() -> bool) -> bool {
        if self.last[usize::from(node)] == page {
            return true;
        }
        let mapped = *self.reach(page) == Mapping::Mapped && !moves();
        if mapped {
            self.last[usize::from(node)] = page;
        }
        mapped
    }

    /// Whether the page of a block is mapped for a node, whose nearest memory is `memory`.
    pub(crate) fn is_block_mapped(
        &mut self,
        homes: &PageHomes,
        block: u64,
        node: u16,
        memory: u16,
    ) -> bool {
        if !homes.depend_on_use() {
            return true;
        }
        match homes.find(block) {
            Some(page) => self.is_mapped(page, node, || homes.moves_to(page, memory)),
            // Unless homes follow use, a page gets its home without a trap.
            None => !homes.places_at_use(),
        }
    }

    /// Whether a page is mapped, regardless of claims.
    pub(crate) fn is_mapped_for_all(&self, page: u32) -> bool {
        !self.by_use || self.pages.get(at(page)) == Some(&Mapping::Mapped)
    }

    /// A node claims a page: its next reference checks the page table again.
    pub(crate) fn forget_last(&mut self, node: u16) {
        self.last[usize::from(node)] = NONE;
    }

    /// A node waits until a page is mapped. Returns whether this node has to map it because no
    /// other one does.
    pub(crate) fn fault(&mut self, page: u32, node: u16) -> bool {
        self.faults += 1;
        self.waiting.entry(page).or_default().push(node);
        std::mem::replace(self.reach(page), Mapping::Busy) != Mapping::Busy
    }

    /// A page is mapped, unless it has to be used again first. Returns the nodes that waited.
    pub(crate) fn map(&mut self, page: u32, awaits_use: bool) -> Vec<u16> {
        *self.reach(page) = if awaits_use { Mapping::Unmapped } else { Mapping::Mapped };
        self.waiting.remove(&page).unwrap_or_default()
    }

    /// Unmaps all pages except those that are being mapped.
    pub(crate) fn unmap_all(&mut self) {
        self.by_use = true;
        for page in &mut self.pages {
            if *page == Mapping::Mapped {
                *page = Mapping::Unmapped;
            }
        }
        self.last.fill(NONE);
    }
}
