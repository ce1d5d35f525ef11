//! A walk through accesses, acquires and releases under a page protocol: the timed memory system
//! performs one step at a time, with all its effects. The names of the fields are a public contract
//! (`docs/explain.md`).

use std::ops::Range;

use homenode_base::Access;
use homenode_cache::walk::{
    BlockSnapshot, ShownScene, StepOf, StepPage, Walk, WalkBlock, WalkPage, WalkStep, WalkedEngine,
    WrittenStep, record,
};
use homenode_cache::{ClockError, IndexedSets, MissCounts, WIDE_WORDS, WordMask};
use homenode_clock::streams::{OpKind, Operation};
use homenode_clock::{ClockTime, StepDriver, SyncRequest, TimedMemory};
use serde::Serialize;

use super::{LrcMemory, PageMessageCounts};
use crate::acts::{ControllerAct, PageEntry, PagedWalkError, count_references, number_messages};
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageDemands};
use crate::lrc::driver::{LoggedPageAct, PAGE};
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::PagePermission;
use crate::mesh::DirectoryClockSetup;
use crate::mesh::references;
use crate::setup::DirectorySetup;
use crate::sheet::HOME;

/// A line in a node's cache, by the state of its frame.
const LINE_STATES: [&str; 3] = ["no line", "line", "fetching"];

/// A walk under a protocol that keeps pages coherent.
pub type PagedWalk = Walk<ControllerAct<PageEntry>, PagedScene, PageMessageCounts, PagedWalkTotals>;
/// A step of it.
pub type PagedWalkStep = WalkStep<ControllerAct<PageEntry>, PagedScene, PageMessageCounts>;

/// Totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PagedWalkTotals {
    /// All counts but messages.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes.
    pub messages: PageMessageCounts,
    /// Traps because of a page that was not mapped, or not for writing.
    pub page_faults: u64,
    /// Fills of TLBs.
    pub tlb_misses: u64,
}

/// All pages and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PagedScene {
    /// Pages, by position.
    pub pages: Vec<PageView>,
    /// Lines, by position.
    pub lines: Vec<LineView>,
}

impl ShownScene for PagedScene {
    const FIELD: &'static str = "scene";
}

/// A page at its home and at all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageView {
    /// At its home.
    pub entry: PageEntry,
    /// The state of the mapping at each node.
    pub mappings: Vec<&'static str>,
    /// The state of the release at each node.
    pub releases: Vec<&'static str>,
}

/// A line in all caches and in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineView {
    /// Caches, by node, and memory.
    #[serde(flatten)]
    pub data: BlockSnapshot,
    /// For each node the words that its cache has written and memory lacks.
    pub dirty: Vec<Vec<u32>>,
}

/// Walks through steps in order; each is complete before the next begins. Values are always
/// checked, regardless of the setup. Returns the demands on pages as well, for the choice of homes.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk_pages(
    setup: &DirectorySetup,
    table: &PagedTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
    steps: &[WrittenStep],
) -> Result<(PagedWalk, PageDemands), PagedWalkError> {
    let mut memory = LrcMemory::new(&setup.walked(), table.clone(), homes, timed)?;
    memory.driver.keep_log();
    let driver = StepDriver::new(memory, usize::from(setup.nodes));
    let (nodes, page_bytes, private) = (setup.nodes, setup.page_bytes, &setup.private[..]);
    let engine =
        WalkedPages { driver, table: table.clone(), nodes, page_bytes, private, crossed: 0 };
    let (mut walk, demands) = record(engine, steps)?;
    walk.pages = Some(pages_of(&walk.blocks, page_bytes));
    Ok((walk, demands))
}

/// The pages of some lines, in the order of the lines.
fn pages_of(blocks: &[WalkBlock], page_bytes: u64) -> Vec<WalkPage> {
    let mut pages: Vec<WalkPage> = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let address = block.address / page_bytes * page_bytes;
        match pages.iter_mut().find(|page| page.address == address) {
            Some(page) => page.blocks.push(number),
            None => pages.push(WalkPage { address, blocks: vec![number] }),
        }
    }
    pages
}

/// One kind of cache that serves every line size and number of nodes is fast enough here.
type Words = [u64; 4];

struct WalkedPages<'a> {
    driver: StepDriver<LrcMemory<IndexedSets<Words>, Words, WIDE_WORDS>>,
    table: PagedTable,
    nodes: u16,
    page_bytes: u64,
    private: &'a [Range<u64>],
    /// Messages so far that are counted.
    crossed: u64,
}

impl WalkedPages<'_> {
    /// Logs the protocol's action for a reference that the page table permits.
    fn observe_reference(&mut self, node: u16, block: u64, store: bool) {
        let memory = &mut self.driver.memory;
        let page = memory.page(block, node);
        if memory.driver.permission(node, page) >= PagePermission::needed(store) {
            memory.driver.observe_access(node, page, store);
        }
    }

    /// Performs an access or a synchronisation, without a message to a lock or a barrier. Returns
    /// the cycles for which the processor waited; nothing if it never ends.
    fn run(
        &mut self,
        written: &WrittenStep,
        node: u16,
        private: bool,
    ) -> Result<Option<u64>, ClockError> {
        let (processor, shift) = (usize::from(node), self.shift());
        let kind = match written {
            WrittenStep::Access(access) | WrittenStep::Begins(access) => {
                let reference = references::of_access(node, access, private, shift);
                self.observe_reference(node, reference.block, reference.kind.writes());
                return self.driver.run_reference(&reference);
            }
            // A creation releases and a join acquires; neither sends a message to a home.
            WrittenStep::Release(_) => OpKind::Create,
            WrittenStep::Acquire(_) => OpKind::Join,
        };
        let operation = Operation::new(kind, 0);
        self.driver.synchronise(&SyncRequest { processor, process: processor, operation })
    }

    /// An act with its positions in the walk, and the home of its page.
    fn act(&self, logged: LoggedPageAct, blocks: &[WalkBlock]) -> ControllerAct<PageEntry> {
        let LoggedPageAct { page, line, mut act } = logged;
        let (homes, shift) = (&self.driver.memory.homes, self.shift());
        let home = homes.home(page);
        let is_here = |address: u64| homes.find(address >> shift) == Some(page);
        let pages = pages_of(blocks, self.page_bytes);
        act.page = Some(pages.iter().position(|page| is_here(page.address)).unwrap_or(0));
        act.block = line.and_then(|line| WalkBlock::position(blocks, line, shift));
        act.entry.home = Some(home);
        if act.used.controller == HOME {
            act.node = act.message.map_or(home, |message| message.to);
        }
        act
    }

    /// The page with this address, at its home and at all nodes.
    fn page(&self, address: u64) -> PageView {
        let memory = &self.driver.memory;
        let Some(page) = memory.homes.find(address >> memory.block_shift) else {
            let state = self.table.home.name(0);
            let (mapping, release) = (self.table.mapping.name(0), self.table.release.name(0));
            return PageView {
                entry: PageEntry { home: None, state, listed: Vec::new() },
                mappings: vec![mapping; usize::from(self.nodes)],
                releases: vec![release; usize::from(self.nodes)],
            };
        };
        let states = || (0..self.nodes).map(|node| memory.driver.states(node, page));
        PageView {
            entry: PageEntry { home: Some(memory.homes.home(page)), ..memory.driver.entry(page) },
            mappings: states().map(|[mapping, _]| mapping).collect(),
            releases: states().map(|[_, release]| release).collect(),
        }
    }

    /// A line in all caches and in memory, and by node its dirty words.
    fn line(&mut self, line: &WalkBlock) -> LineView {
        let (nodes, memory) = (usize::from(self.nodes), &mut self.driver.memory);
        let (shift, name) = (memory.block_shift, |state: u8| LINE_STATES[usize::from(state)]);
        let data = memory.caches.snapshot(line, shift, nodes, name);
        let dirty = |cache| match memory.valid_frame(cache, line.address >> shift) {
            Some(at) => {
                let words = memory.dirty_words(at);
                let is_dirty = |word: &u32| words.meets(Words::range(*word, *word));
                line.words.iter().copied().filter(is_dirty).collect()
            }
            None => Vec::new(),
        };
        let dirty = (0..nodes).map(dirty).collect();
        LineView { data, dirty }
    }

    /// Page faults and fills of lookaside buffers so far.
    fn traps(&self) -> [u64; 2] {
        [self.driver.memory.timing.page_faults, self.driver.memory.buffers.misses]
    }
}

impl WalkedEngine for WalkedPages<'_> {
    type Act = ControllerAct<PageEntry>;
    type Scene = PagedScene;
    type Messages = PageMessageCounts;
    type Totals = PagedWalkTotals;
    type Findings = PageDemands;
    type Error = PagedWalkError;

    fn shift(&self) -> u32 {
        self.driver.memory.block_shift
    }

    fn processor(&self, thread: u16) -> u16 {
        thread % self.nodes
    }

    fn is_private(&self, access: &Access) -> bool {
        references::is_private(access, self.private)
    }

    fn perform(
        &mut self,
        written: &WrittenStep,
        blocks: &[WalkBlock],
        step: &mut StepOf<Self>,
    ) -> Result<bool, PagedWalkError> {
        let (node, fills, traps) = (step.processor, self.driver.memory.counts.fills, self.traps());
        let stuck = PagedWalkError::Stuck { number: step.reference + 1, node };
        step.cycles = Some(self.run(written, node, step.private)?.ok_or(stuck)?);
        let logged = self.driver.memory.driver.take_acts();
        step.acts = logged.into_iter().map(|logged| self.act(logged, blocks)).collect();
        let messages = step.acts.iter_mut().filter_map(|act| act.message.as_mut());
        let counted = messages.filter(|message| message.kind != PAGE);
        number_messages(counted, &mut self.crossed);
        let page = |block| {
            pages_of(blocks, self.page_bytes).iter().position(|page| page.blocks.contains(&block))
        };
        step.page = Some(StepPage { page: step.block.and_then(page) });
        let [faults, misses] = self.traps();
        step.fault = Some(faults > traps[0]);
        step.tlb_miss = Some(misses > traps[1] && faults == traps[0]);
        let memory = &self.driver.memory;
        step.messages = Some(memory.sent);
        step.message_bytes = Some(memory.counts.message_bytes);
        Ok(memory.counts.fills > fills && step.block.is_some())
    }

    fn is_open(&self, cache: usize, block: u64) -> bool {
        self.driver.memory.caches.state_of(cache, block).1
    }

    fn misses(&self) -> MissCounts {
        self.driver.memory.caches.counts.misses
    }

    fn states(&mut self, step: &StepOf<Self>, blocks: &[WalkBlock]) -> Vec<&'static str> {
        step.block.map_or_else(Vec::new, |block| self.page(blocks[block].address).mappings)
    }

    fn scene(&mut self, blocks: &[WalkBlock]) -> PagedScene {
        let pages = pages_of(blocks, self.page_bytes);
        let pages = pages.iter().map(|page| self.page(page.address)).collect();
        PagedScene { pages, lines: blocks.iter().map(|line| self.line(line)).collect() }
    }

    fn finish(mut self, steps: &[WrittenStep]) -> (PagedWalkTotals, PageDemands) {
        let messages = self.driver.memory.sent;
        let mut found = self.driver.memory.result(ClockTime::default());
        count_references(&mut found.counts, steps);
        let (page_faults, tlb_misses) = (found.timing.page_faults, found.timing.tlb_misses);
        let totals = PagedWalkTotals { counts: found.counts, messages, page_faults, tlb_misses };
        (totals, found.demands.unwrap_or_default())
    }
}
