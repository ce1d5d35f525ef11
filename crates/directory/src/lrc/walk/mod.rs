//! A walk through accesses, acquires and releases under a page protocol.
//!
//! The timed memory system performs one step at a time, with all its effects. The recorder records
//! the table cells used, the messages, and the state of page tables, caches and memories. It makes
//! no decisions.

mod acts;
mod scene;

pub use scene::{
    LineView, PageAct, PageEntry, PageView, PagedScene, PagedWalk, PagedWalkStep, PagedWalkTotals,
    WalkPage,
};

use homenode_base::{Access, Flags};
use homenode_cache::MissCounts;
use homenode_cache::walk::{
    MissJournal, WalkBlock, WalkCopy, WalkMiss, WrittenStep, kind_name, pieces, touched_words,
};

use super::clock::ObservedPages;
use super::counts::PageMessageCounts;
use crate::home::{HomePolicy, PageDemands};
use crate::lrc::table::PagedTable;
use crate::mesh::DirectoryClockSetup;
use crate::record::PagedWalkError;
use crate::setup::{DemandCollection, DirectorySetup};

/// Walks through steps in order; each is complete before the next begins. Values are always
/// checked, regardless of the setup.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk_pages(
    setup: &DirectorySetup,
    table: &PagedTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
    steps: &[WrittenStep],
) -> Result<PagedWalk, PagedWalkError> {
    walked(setup, table, homes, timed, steps).map(|(walk, _)| walk)
}

/// The demands on pages in a walk, for the choice of homes.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn page_demands(
    setup: &DirectorySetup,
    table: &PagedTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
    steps: &[WrittenStep],
) -> Result<PageDemands, PagedWalkError> {
    let setup = DirectorySetup { collect_demands: DemandCollection::Whole, ..setup.clone() };
    walked(&setup, table, homes, timed, steps).map(|(_, demands)| demands.unwrap_or_default())
}

fn walked(
    setup: &DirectorySetup,
    table: &PagedTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
    steps: &[WrittenStep],
) -> Result<(PagedWalk, Option<PageDemands>), PagedWalkError> {
    let engine = ObservedPages::new(setup, table, homes, timed)?;
    let shift = engine.shift();
    let parts: Vec<(usize, WrittenStep)> =
        steps.iter().enumerate().flat_map(|(number, step)| parts_of(number, step, shift)).collect();
    let accesses = parts.iter().filter_map(|(_, step)| step.access());
    let blocks = WalkBlock::all(accesses, shift);
    let mut recorder = PageRecorder {
        nodes: setup.nodes,
        table,
        private: &setup.private,
        pages: pages_of(&blocks, setup.page_bytes),
        blocks,
        engine,
        steps: Vec::new(),
        misses: MissJournal::default(),
        crossed: 0,
    };
    let start = recorder.scene();
    for (number, step) in &parts {
        recorder.step(*number, step)?;
    }
    Ok(recorder.finish(start, steps))
}

/// A step, split at line boundaries.
fn parts_of(number: usize, step: &WrittenStep, shift: u32) -> Vec<(usize, WrittenStep)> {
    match step {
        WrittenStep::Access(access) | WrittenStep::Begins(access) => {
            let parts = pieces(access, shift).into_iter();
            parts.map(|part| (number, WrittenStep::Access(part))).collect()
        }
        WrittenStep::Acquire(_) | WrittenStep::Release(_) => vec![(number, *step)],
    }
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

pub(super) struct PageRecorder<'a> {
    nodes: u16,
    table: &'a PagedTable,
    private: &'a [std::ops::Range<u64>],
    engine: ObservedPages,
    pages: Vec<WalkPage>,
    blocks: Vec<WalkBlock>,
    steps: Vec<PagedWalkStep>,
    misses: MissJournal,
    /// Messages so far that are counted.
    crossed: u64,
}

impl PageRecorder<'_> {
    fn step(&mut self, reference: usize, step: &WrittenStep) -> Result<(), PagedWalkError> {
        let node = step.thread() % self.nodes;
        let blank = self.blank(reference, step.thread());
        let before = self.engine.counted().2;
        let stuck = PagedWalkError::Stuck { number: reference + 1, node };
        let mut done = match step {
            WrittenStep::Access(access) | WrittenStep::Begins(access) => {
                self.access(node, access, blank)?.ok_or(stuck)?
            }
            WrittenStep::Acquire(_) | WrittenStep::Release(_) => {
                let releases = matches!(step, WrittenStep::Release(_));
                let kind = if releases { "release" } else { "acquire" };
                let cycles = self.engine.synchronise(node, releases)?.ok_or(stuck)?;
                let judged = self.judge(WalkCopy { cache: usize::MAX, block: usize::MAX });
                debug_assert!(judged.iter().all(|&(earlier, _)| earlier < self.steps.len()));
                PagedWalkStep { kind, cycles, ..blank }
            }
        };
        let acts = self.engine.take_acts();
        done.acts = acts.into_iter().map(|act| self.act(act)).collect();
        let (messages, message_bytes, (faults, fills)) = self.engine.counted();
        (done.messages, done.message_bytes) = (messages, message_bytes);
        done.fault = faults > before.0;
        done.tlb_miss = fills > before.1 && !done.fault;
        done.after = done.page.map(|page| self.mappings(page)).unwrap_or_default();
        done.scene = self.scene();
        self.steps.push(done);
        Ok(())
    }

    /// A step with default values, except for its thread.
    fn blank(&self, reference: usize, thread: u16) -> PagedWalkStep {
        PagedWalkStep {
            reference,
            thread,
            processor: thread % self.nodes,
            kind: "",
            address: None,
            size: None,
            page: None,
            block: None,
            words: Vec::new(),
            private: false,
            kernel: false,
            fault: false,
            tlb_miss: false,
            miss: None,
            cycles: 0,
            acts: Vec::new(),
            messages: PageMessageCounts::default(),
            message_bytes: 0,
            before: Vec::new(),
            after: Vec::new(),
            scene: PagedScene { pages: Vec::new(), lines: Vec::new() },
        }
    }

    /// An access to one line; nothing if it cannot take place.
    fn access(
        &mut self,
        node: u16,
        access: &Access,
        blank: PagedWalkStep,
    ) -> Result<Option<PagedWalkStep>, PagedWalkError> {
        let shift = self.engine.shift();
        let address = access.addr >> shift << shift;
        let block = self.blocks.iter().position(|b| b.address == address).unwrap_or(0);
        let page = self.pages.iter().position(|page| page.blocks.contains(&block)).unwrap_or(0);
        let before = self.mappings(page);
        let misses = self.engine.misses();
        let fills = self.engine.fills();
        let in_private_area = self.private.iter().any(|area| area.contains(&access.addr));
        let mut access = *access;
        if in_private_area {
            access.flags.0 |= Flags::PRIVATE.0;
        }
        let Some(cycles) = self.engine.access(node, &access)? else { return Ok(None) };
        let fetched = self.engine.fills() > fills;
        let miss = self.miss(WalkCopy { cache: usize::from(node), block }, fetched, &misses);
        Ok(Some(PagedWalkStep {
            kind: kind_name(access.kind),
            address: Some(access.addr),
            size: Some(access.size),
            page: Some(page),
            block: Some(block),
            words: touched_words(&access, shift).collect(),
            private: access.flags.contains(Flags::PRIVATE),
            kernel: access.flags.contains(Flags::KERNEL),
            miss,
            cycles,
            before,
            ..blank
        }))
    }

    /// Records the classes of earlier misses that the step decides.
    fn judge(&mut self, own: WalkCopy) -> Vec<(usize, WalkMiss)> {
        let (step, blocks) = (self.steps.len(), &self.blocks);
        let engine = &self.engine;
        let shift = engine.shift();
        let is_open =
            |copy: WalkCopy| engine.line_of(copy.cache, blocks[copy.block].address >> shift).1;
        let judged = self.misses.judge(step, own, is_open);
        for &(earlier, miss) in &judged {
            self.steps[earlier].miss = Some(miss);
        }
        judged
    }

    /// The class of the miss, if the line was fetched.
    fn miss(&mut self, own: WalkCopy, fetched: bool, before: &MissCounts) -> Option<WalkMiss> {
        let judged = self.judge(own);
        let now = self.engine.misses();
        let step = self.steps.len();
        fetched.then(|| self.misses.miss(step, own, before, &now, &judged))
    }

    fn finish(
        mut self,
        start: PagedScene,
        steps: &[WrittenStep],
    ) -> (PagedWalk, Option<PageDemands>) {
        let (mut counts, messages, timing, demands) = self.engine.totals();
        // The engine was given an access for each line.
        let accesses = || steps.iter().filter_map(WrittenStep::access);
        counts.references = accesses().count() as u64;
        counts.writes = accesses().filter(|access| access.kind.writes()).count() as u64;
        counts.reads = counts.references - counts.writes;
        let (page_faults, tlb_misses) = (timing.page_faults, timing.tlb_misses);
        let totals = PagedWalkTotals { counts, messages, page_faults, tlb_misses };
        let Self { pages, blocks, steps, .. } = self;
        (PagedWalk { pages, blocks, start, steps, totals }, demands)
    }
}
