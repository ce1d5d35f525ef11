//! Which pages are mapped, on machines whose nodes share one page table.
//!
//! Where homes follow use, a page is mapped when somebody has referred to it. Whoever is first
//! traps into the operating system; if the page's home is another node, and is to be this one, the
//! page is brought here. Whoever refers to it meanwhile waits for that.

use rustc_hash::FxHashMap;

use crate::home::PageHomes;

/// A page in the page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapping {
    Unmapped,
    /// Somebody maps it.
    Busy,
    Mapped,
}

/// No page.
const NONE: u32 = u32::MAX;

/// The page table of all nodes.
#[derive(Debug)]
pub(super) struct SharedPageTable {
    /// Whether pages are unmapped at first.
    by_use: bool,
    pages: Vec<Mapping>,
    waiting: FxHashMap<u32, Vec<u16>>,
    /// The page of each node that was found to be mapped last.
    last: Vec<u32>,
    /// Traps into the operating system.
    pub(super) faults: u64,
}

fn at(page: u32) -> usize {
    usize::try_from(page).unwrap_or(usize::MAX)
}

impl SharedPageTable {
    pub(super) fn new(nodes: u16, by_use: bool) -> Self {
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

    /// Whether a page is mapped; `moves` says whether it would have to move first, as the node that
    /// refers to it claimed it.
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

    /// Whether the page of a block is mapped for a node, whose memory this is.
    #[inline]
    pub(super) fn is_block_mapped(
        &mut self,
        homes: &PageHomes,
        block: u64,
        (node, memory): (u16, u16),
    ) -> bool {
        if !homes.depend_on_use() {
            return true;
        }
        match homes.find(block) {
            Some(page) => self.is_mapped(page, node, || homes.moves_to(page, memory)),
            // It gets a home without the operating system, unless homes follow use.
            None => !homes.places_at_use(),
        }
    }

    /// Whether a page is mapped, wherever it may move.
    pub(super) fn is_mapped_for_all(&self, page: u32) -> bool {
        !self.by_use || self.pages.get(at(page)) == Some(&Mapping::Mapped)
    }

    /// A node claims a page: its next reference is looked at again.
    pub(super) fn forget_last(&mut self, node: u16) {
        self.last[usize::from(node)] = NONE;
    }

    /// A node waits until a page is mapped. Returns whether nobody maps it yet, so that this node
    /// does.
    pub(super) fn fault(&mut self, page: u32, node: u16) -> bool {
        self.faults += 1;
        self.waiting.entry(page).or_default().push(node);
        std::mem::replace(self.reach(page), Mapping::Busy) != Mapping::Busy
    }

    /// A page is mapped, unless it has to be used again first. Returns who waited for it.
    pub(super) fn map(&mut self, page: u32, awaits_use: bool) -> Vec<u16> {
        *self.reach(page) = if awaits_use { Mapping::Unmapped } else { Mapping::Mapped };
        self.waiting.remove(&page).unwrap_or_default()
    }

    /// All pages are unmapped, but those that somebody maps at the moment.
    pub(super) fn unmap_all(&mut self) {
        self.by_use = true;
        for page in &mut self.pages {
            if *page == Mapping::Mapped {
                *page = Mapping::Unmapped;
            }
        }
        self.last.fill(NONE);
    }
}
