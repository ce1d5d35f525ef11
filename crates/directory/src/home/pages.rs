//! The homes of all pages.

use homenode_clock::streams::OpKind;
use rustc_hash::FxHashMap;

use super::demands::{PageDemand, PageDemands, demand_of};
use super::page_usage::{PageFill, PageUsage};
use super::{HomePolicy, PlacedPage};
use crate::setup::{DemandCollection, DirectorySetup};

/// The homes of all pages. Pages are numbered in the order of their first references.
pub(crate) struct PageHomes {
    policy: Box<dyn HomePolicy>,
    /// From the number of a block to that of its page in the address space, as a shift.
    shift: u32,
    numbers: FxHashMap<u64, u32>,
    homes: Vec<u16>,
    /// Number of each page in the address space.
    keys: Vec<u64>,
    /// Demands on each page, if collected.
    demands: Option<Vec<PageDemand>>,
    collect: bool,
    /// Use of each page, if collected.
    uses: Option<Vec<PageUsage>>,
    /// Whether fills and write-backs are counted yet.
    counts: bool,
    fills_of_home: Option<u64>,
    /// Whether each page has the home that it keeps; empty unless pages move.
    settled: Vec<bool>,
    /// Whether initialisation is over, after which pages move at their first use.
    awaits_use: bool,
    /// Whether nodes that have made enough fills only claim a page, which moves later.
    claims_only: bool,
    claims: FxHashMap<u32, u16>,
    moved: u64,
}

fn at(page: u32) -> usize {
    usize::try_from(page).unwrap_or(usize::MAX)
}

impl PageHomes {
    /// No pages yet, in a machine that was checked.
    pub(crate) fn new(policy: Box<dyn HomePolicy>, setup: &DirectorySetup) -> Self {
        let fills_of_home = policy.fills_of_home();
        let collect = setup.collect_demands != DemandCollection::Off;
        let later = setup.collect_demands == DemandCollection::AfterInitDone;
        let block_shift = setup.cache.block_size_bytes.trailing_zeros();
        Self {
            shift: setup.page_bytes.trailing_zeros() - block_shift,
            numbers: FxHashMap::default(),
            homes: Vec::new(),
            keys: Vec::new(),
            demands: (collect || fills_of_home.is_some()).then(Vec::new),
            collect,
            uses: setup.collect_uses.then(Vec::new),
            counts: !later && !policy.counts_after_init_done(),
            fills_of_home,
            settled: Vec::new(),
            awaits_use: false,
            claims_only: false,
            claims: FxHashMap::default(),
            moved: 0,
            policy,
        }
    }

    /// The number of a block's page, which gets a home if this node is the first to reference it.
    pub(crate) fn number(&mut self, block: u64, node: u16) -> u32 {
        let page = block >> self.shift;
        if let Some(&number) = self.numbers.get(&page) {
            return number;
        }
        let number = u32::try_from(self.homes.len()).unwrap_or(u32::MAX);
        self.numbers.insert(page, number);
        self.keys.push(page);
        // What is used first has no other home to move from.
        let placed = PlacedPage { page, nth: u64::from(number), node };
        self.homes.push(if self.awaits_use { node } else { self.policy.place(placed) });
        self.settled.push(false);
        if let Some(demands) = &mut self.demands {
            demands.push(PageDemand { page, nodes: Vec::new() });
        }
        if let Some(uses) = &mut self.uses {
            uses.push(PageUsage::new(page));
        }
        number
    }

    pub(crate) fn key(&self, block: u64) -> u64 {
        block >> self.shift
    }

    /// The same of a page by its number.
    pub(crate) fn key_of(&self, page: u32) -> u64 {
        self.keys[at(page)]
    }

    /// The number of a block's page, after its first reference.
    pub(crate) fn find(&self, block: u64) -> Option<u32> {
        self.numbers.get(&self.key(block)).copied()
    }

    pub(crate) fn blocks_of(&self, page: u32) -> std::ops::Range<u64> {
        let first = self.keys[at(page)] << self.shift;
        first..first + (1 << self.shift)
    }

    /// Whether pages get their homes, or other homes, when they are used.
    pub(crate) fn depend_on_use(&self) -> bool {
        self.places_at_use() || self.fills_of_home.is_some()
    }

    /// Whether a page has no home before it is used.
    pub(crate) fn places_at_use(&self) -> bool {
        self.policy.places_at_use() || self.awaits_use
    }

    /// Whether a page has the home that it keeps.
    pub(crate) fn is_settled(&self, page: u32) -> bool {
        self.settled[at(page)]
    }

    /// From now on a node that has made enough fills of a page only claims it: the page has its
    /// new home when it has moved ([`Self::used`]).
    pub(crate) fn claim_only(&mut self) {
        self.claims_only = true;
    }

    /// Whether a page moves to this node when that uses it.
    pub(crate) fn moves_to(&self, page: u32, node: u16) -> bool {
        (self.awaits_use && !self.settled[at(page)]) || self.claims.get(&page) == Some(&node)
    }

    /// A phase of the program begins: pages move again to their next user. Returns whether they do.
    fn phase_change(&mut self) -> bool {
        let moves = self.policy.moves_at_first_use();
        if moves {
            self.awaits_use = true;
            self.settled.fill(false);
        }
        moves
    }

    /// A synchronisation operation: returns whether all pages have to be used again, because
    /// initialisation is over, or because a phase begins, where `phases` matter.
    pub(crate) fn begin_again(&mut self, kind: OpKind, phases: bool) -> bool {
        (kind == OpKind::InitDone && self.init_done())
            || (kind == OpKind::Phase && phases && self.phase_change())
    }

    /// Whether all pages may yet have to be used again.
    pub(crate) fn may_await_use(&self, phases: bool) -> bool {
        self.policy.moves_at_first_use() && (phases || !self.awaits_use)
    }

    pub(crate) fn home(&self, page: u32) -> u16 {
        self.homes[at(page)]
    }

    /// Whether hits have to be reported as well ([`Self::used`]).
    pub(crate) fn awaits_use(&self) -> bool {
        self.awaits_use
    }

    /// Initialisation is over. Returns whether pages move at their first use from now on. Only the
    /// first such mark of a trace counts.
    pub(crate) fn init_done(&mut self) -> bool {
        self.counts = true;
        let begins = self.policy.moves_at_first_use() && !self.awaits_use;
        self.awaits_use |= begins;
        begins
    }

    /// A node references a page after initialisation, or has got one that it claimed.
    pub(crate) fn used(&mut self, page: u32, node: u16) {
        if self.claims.get(&page) == Some(&node) {
            self.claims.remove(&page);
            self.move_to(page, node);
        } else if !std::mem::replace(&mut self.settled[at(page)], true) {
            self.move_to(page, node);
        }
    }

    pub(crate) fn filled(&mut self, page: u32, fill: PageFill) {
        if let Some(uses) = &mut self.uses {
            uses[at(page)].filled(fill, self.shift);
        }
        if self.counts {
            self.count_fill(page, fill.node);
        }
    }

    fn count_fill(&mut self, page: u32, node: u16) {
        let Some(demands) = &mut self.demands else { return };
        let found = demand_of(&mut demands[at(page)].nodes, node);
        found.fills += 1;
        if self.fills_of_home == Some(found.fills)
            && !std::mem::replace(&mut self.settled[at(page)], true)
        {
            if !self.claims_only {
                self.move_to(page, node);
            } else if self.homes[at(page)] != node {
                self.claims.insert(page, node);
            }
        }
    }

    /// A node has replaced a dirty block of a page.
    pub(crate) fn written_back(&mut self, page: u32, node: u16) {
        if let Some(uses) = &mut self.uses {
            uses[at(page)].written_back(node);
        }
        if self.counts
            && let Some(demands) = &mut self.demands
        {
            demand_of(&mut demands[at(page)].nodes, node).write_backs += 1;
        }
    }

    fn move_to(&mut self, page: u32, node: u16) {
        let before = std::mem::replace(&mut self.homes[at(page)], node);
        self.moved += u64::from(before != node);
    }

    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    /// Whether the policy waits for the end of initialisation, which has not come.
    pub(crate) fn lacks_init_done(&self) -> bool {
        self.policy.moves_at_first_use() && !self.awaits_use
    }

    pub(crate) fn take_demands(&mut self) -> Option<PageDemands> {
        let demands = self.demands.take().filter(|_| self.collect);
        demands.map(PageDemands)
    }

    pub(crate) fn take_uses(&mut self) -> Option<Vec<PageUsage>> {
        let mut uses = self.uses.take()?;
        for (page, home) in uses.iter_mut().zip(&self.homes) {
            page.home = *home;
        }
        Some(uses)
    }

    pub(crate) fn restart_uses(&mut self) {
        self.uses.iter_mut().flatten().for_each(PageUsage::restart);
    }
}
