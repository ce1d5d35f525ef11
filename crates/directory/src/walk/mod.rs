//! A walk through a few references: what the controllers do at each, for people to follow.
//!
//! The recorder pushes one reference at a time into the engine that also counts
//! ([`crate::DirectorySimulation`]), and writes down which cells of the tables it used, and what
//! the caches, memory and the directory have then. It decides nothing itself.

mod engine;
mod pages;
mod scene;

pub use pages::{
    LineView, PageAct, PageEntry, PageView, PagedScene, PagedWalk, PagedWalkError, PagedWalkStep,
    PagedWalkTotals, WalkPage, page_demands, walk_pages,
};
pub use scene::{
    ActCause, ControllerAct, DirectoryEntry, DirectoryScene, DirectoryWalk, DirectoryWalkStep,
    WalkMessage,
};

use homenode_base::{Access, Flags};
use homenode_cache::walk::{MissJournal, WalkBlock, WalkMiss, kind_name, pieces, touched_words};
use homenode_cache::{CheckError, MissCounts};
use homenode_protocol::Labelled;

use crate::driver::{
    ObservedCell, ObservedController, ObservedEntry, ObservedMessage, goes_unsaid,
};
use crate::home::HomePolicy;
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::sheet;
use crate::table::DirectoryTable;
use crate::vocabulary::MessageWay;
use engine::ObservedDirectory;

/// Why there is no walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryWalkError {
    /// There can be no such machine.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks a promise.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in their order, under the protocol with this table and with these
/// homes. Values are always carried along, whatever the setup says. Fetches are no references here.
///
/// # Errors
/// When there can be no such machine, or the protocol breaks a promise.
pub fn walk(
    setup: &DirectorySetup,
    table: &DirectoryTable,
    homes: Box<dyn HomePolicy>,
    references: &[Access],
) -> Result<DirectoryWalk, DirectoryWalkError> {
    let engine = ObservedDirectory::new(setup, table, homes)?;
    let shift = engine.shift();
    let parts = references.iter().enumerate().flat_map(|(number, access)| {
        pieces(access, shift).into_iter().map(move |part| (number, part))
    });
    let parts: Vec<(usize, Access)> = parts.collect();
    let mut recorder = DirectoryRecorder {
        nodes: setup.nodes,
        table,
        blocks: WalkBlock::all(parts.iter().map(|(_, access)| access), shift),
        engine,
        steps: Vec::new(),
        misses: MissJournal::default(),
        crossed: 0,
    };
    let start = recorder.scenes();
    for (number, access) in &parts {
        recorder.step(*number, access)?;
    }
    Ok(recorder.finish(start, references))
}

struct DirectoryRecorder<'a> {
    nodes: u16,
    table: &'a DirectoryTable,
    engine: ObservedDirectory,
    blocks: Vec<WalkBlock>,
    steps: Vec<DirectoryWalkStep>,
    misses: MissJournal,
    /// Messages so far that are counted.
    crossed: u64,
}

impl DirectoryRecorder<'_> {
    fn step(&mut self, reference: usize, access: &Access) -> Result<(), CheckError> {
        let shift = self.engine.shift();
        let address = access.addr >> shift << shift;
        let block = self.blocks.iter().position(|b| b.address == address).unwrap_or(0);
        let node = access.thread % self.nodes;
        let before = self.states(block);
        let misses = self.engine.counts().misses;
        let had_copy = self.engine.state_of(usize::from(node), address >> shift).0 != 0;
        let cells = self.engine.push(access)?;
        let miss = self.miss((usize::from(node), block), had_copy, &misses);
        let acts = cells.into_iter().map(|cell| self.act(cell)).collect();
        let counts = self.engine.counts();
        let scenes = self.scenes();
        self.steps.push(DirectoryWalkStep {
            reference,
            thread: access.thread,
            processor: node,
            kind: kind_name(access.kind),
            address: access.addr,
            size: access.size,
            block,
            words: touched_words(access, shift).collect(),
            private: self.engine.is_private(access),
            kernel: access.flags.contains(Flags::KERNEL),
            miss,
            acts,
            messages: counts.messages,
            message_bytes: counts.message_bytes,
            before,
            after: self.states(block),
            scenes,
        });
        Ok(())
    }

    /// The state of a block in each cache.
    fn states(&self, block: usize) -> Vec<&'static str> {
        let number = self.blocks[block].address >> self.engine.shift();
        let name = |node| self.table.cache.name(self.engine.state_of(usize::from(node), number).0);
        (0..self.nodes).map(name).collect()
    }

    /// All blocks as they are now.
    fn scenes(&mut self) -> Vec<DirectoryScene> {
        let (nodes, table) = (usize::from(self.nodes), self.table);
        let scene = |block: &WalkBlock| {
            let (data, entry) =
                self.engine.snapshot(block, nodes, &|state| table.cache.name(state));
            DirectoryScene { entry: shown(table, entry), data }
        };
        self.blocks.iter().map(scene).collect()
    }

    /// Writes down which earlier misses the step has decided, and says why its own copy was not
    /// there.
    fn miss(
        &mut self,
        own: (usize, usize),
        had_copy: bool,
        before: &MissCounts,
    ) -> Option<WalkMiss> {
        let (step, engine, blocks) = (self.steps.len(), &self.engine, &self.blocks);
        let is_open =
            |node, block: usize| engine.state_of(node, blocks[block].address >> engine.shift()).1;
        let judged = self.misses.judge((step, own), is_open);
        for &(earlier, miss) in &judged {
            self.steps[earlier].miss = Some(miss);
        }
        let now = self.engine.counts().misses;
        (!had_copy).then(|| self.misses.miss((step, own), (before, &now), &judged))
    }

    fn act(&mut self, cell: ObservedCell) -> ControllerAct {
        let address = cell.block << self.engine.shift();
        let (state, next) = cell.states;
        let table = self.table;
        let (controller, names, event, sender, actions) = match cell.controller {
            ObservedController::Cache(event, actions) => {
                let at_home = cell.entry.home == Some(cell.node);
                let said = actions.iter().filter(|&&action| !goes_unsaid(action, at_home));
                let actions = said.map(|&action| action.into()).collect();
                let names = [state, next].map(|state| table.cache.name(state));
                (sheet::CACHE, names, event.name(), None, actions)
            }
            ObservedController::Home(event, sender, actions) => {
                let actions = actions.iter().map(|&action| action.into()).collect();
                let names = [state, next].map(|state| table.home.name(state));
                (sheet::HOME, names, event.name(), Some(sender.name()), actions)
            }
        };
        let cause = match (cell.message, cell.controller) {
            (Some(_), _) => ActCause::Message,
            (None, ObservedController::Cache(event, _)) if event.is_of_processor() => {
                ActCause::Processor
            }
            (None, _) => ActCause::Home,
        };
        ControllerAct {
            cause,
            block: self.blocks.iter().position(|b| b.address == address).unwrap_or(0),
            message: cell.message.map(|message| self.message(message)),
            node: cell.node,
            controller,
            event,
            sender,
            state: names[0],
            next: names[1],
            actions,
            entry: shown(table, cell.entry),
        }
    }

    fn message(&mut self, observed: ObservedMessage) -> WalkMessage {
        let ObservedMessage { message, from, to, way } = observed;
        let counts = way == MessageWay::Network;
        self.crossed += u64::from(counts);
        WalkMessage {
            name: message.name(),
            kind: message.kind().name(),
            from,
            to,
            way,
            number: counts.then_some(self.crossed),
        }
    }

    fn finish(self, start: Vec<DirectoryScene>, references: &[Access]) -> DirectoryWalk {
        let mut totals = self.engine.finish();
        // The engine was given a reference for each block.
        totals.references = references.len() as u64;
        totals.writes = references.iter().filter(|r| r.kind.writes()).count() as u64;
        totals.reads = totals.references - totals.writes;
        DirectoryWalk { blocks: self.blocks, start, steps: self.steps, totals }
    }
}

/// An entry with names instead of numbers.
fn shown(table: &DirectoryTable, entry: ObservedEntry) -> DirectoryEntry {
    let ObservedEntry { home, state, owner, listed, overflow } = entry;
    DirectoryEntry { home, state: table.home.name(state), owner, listed, overflow }
}
