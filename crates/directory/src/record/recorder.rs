//! Recorder of walks, for directories at homes and linked lists.

use homenode_base::{Access, Flags};
use homenode_cache::MissCounts;
use homenode_cache::walk::{
    MissJournal, WalkBlock, WalkCopy, WalkMiss, kind_name, pieces, touched_words,
};

use super::scene::{
    ControllerAct, DirectoryScene, DirectoryWalk, DirectoryWalkStep, DirectoryWalkTotals,
};
use crate::cell::MessageWay;
use crate::counts::DirectoryCounts;
use crate::home::PageDemands;

/// The effects of a reference: the cells used, in order, and the cycles for which the processor
/// waited, if the engine has a clock.
pub(crate) struct DoneReference {
    /// Each with the block's number in the address space; its block and message have no number in
    /// the walk yet.
    pub(crate) acts: Vec<(u64, ControllerAct)>,
    pub(crate) cycles: Option<u64>,
}

/// A walk, and the demands on pages, if collected.
pub(crate) type RecordedWalk<C> = (DirectoryWalk<C>, Option<PageDemands>);

/// An engine that performs one reference at a time and can be inspected.
pub(crate) trait WalkedEngine {
    /// Messages between different nodes, as they are counted.
    type Sent;
    /// Errors of the engine.
    type Error;

    /// Logarithm of the block size.
    fn shift(&self) -> u32;
    /// Whether the engine treats the reference as one to a private area.
    fn is_private(&self, access: &Access) -> bool;
    /// Performs a reference to one block, a part of reference `number` of the walk.
    fn push(&mut self, number: usize, access: &Access) -> Result<DoneReference, Self::Error>;
    /// The state of a node's copy, and whether its miss is still unclassified.
    fn state_of(&self, node: usize, block: u64) -> (u8, bool);
    /// The name of a state.
    fn state_name(&self, state: u8) -> &'static str;
    /// Misses so far, without unclassified ones.
    fn misses(&self) -> MissCounts;
    /// Messages so far, and their bytes.
    fn sent(&self) -> (Self::Sent, u64);
    /// A block in the caches of `nodes` nodes, in memory and at its home.
    fn scene(&mut self, block: &WalkBlock, nodes: usize) -> DirectoryScene;
    /// Totals, and the demands on pages, if collected.
    fn finish(self) -> (DirectoryCounts, Self::Sent, Option<PageDemands>);
}

/// Records a walk.
pub(crate) struct DirectoryRecorder<E: WalkedEngine> {
    engine: E,
    nodes: u16,
    blocks: Vec<WalkBlock>,
    steps: Vec<DirectoryWalkStep<E::Sent>>,
    misses: MissJournal,
    /// Messages so far that are counted.
    crossed: u64,
}

impl<E: WalkedEngine> DirectoryRecorder<E> {
    pub(crate) fn new(engine: E, nodes: u16) -> Self {
        let (blocks, steps, misses) = (Vec::new(), Vec::new(), MissJournal::default());
        Self { engine, nodes, blocks, steps, misses, crossed: 0 }
    }

    /// Performs references in order.
    pub(crate) fn record(
        mut self,
        references: &[Access],
    ) -> Result<RecordedWalk<E::Sent>, E::Error> {
        let shift = self.engine.shift();
        let parts = references.iter().enumerate().flat_map(|(number, access)| {
            pieces(access, shift).into_iter().map(move |part| (number, part))
        });
        let parts: Vec<(usize, Access)> = parts.collect();
        self.blocks = WalkBlock::all(parts.iter().map(|(_, access)| access), shift);
        let start = self.scenes();
        for (number, access) in &parts {
            self.step(*number, access)?;
        }
        Ok(self.finish(start, references))
    }

    fn step(&mut self, reference: usize, access: &Access) -> Result<(), E::Error> {
        let shift = self.engine.shift();
        let address = access.addr >> shift << shift;
        let block = self.blocks.iter().position(|b| b.address == address).unwrap_or(0);
        let node = access.thread % self.nodes;
        let before = self.states(block);
        let misses = self.engine.misses();
        let had_copy = self.engine.state_of(usize::from(node), address >> shift).0 != 0;
        let DoneReference { acts, cycles } = self.engine.push(reference, access)?;
        let miss = self.miss(WalkCopy { cache: usize::from(node), block }, had_copy, &misses);
        let acts = acts.into_iter().map(|(number, act)| self.act(number, act)).collect();
        let (messages, message_bytes) = self.engine.sent();
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
            cycles,
            acts,
            messages,
            message_bytes,
            before,
            after: self.states(block),
            scenes,
        });
        Ok(())
    }

    /// The state of a block in each cache.
    fn states(&self, block: usize) -> Vec<&'static str> {
        let number = self.blocks[block].address >> self.engine.shift();
        let engine = &self.engine;
        let name = |node| engine.state_name(engine.state_of(usize::from(node), number).0);
        (0..self.nodes).map(name).collect()
    }

    /// The current state of all blocks.
    fn scenes(&mut self) -> Vec<DirectoryScene> {
        let Self { engine, blocks, nodes, .. } = self;
        blocks.iter().map(|block| engine.scene(block, usize::from(*nodes))).collect()
    }

    /// Records the classes of earlier misses that the step decides; returns that of its own.
    fn miss(&mut self, own: WalkCopy, had_copy: bool, before: &MissCounts) -> Option<WalkMiss> {
        let (step, engine, blocks) = (self.steps.len(), &self.engine, &self.blocks);
        let is_open = |copy: WalkCopy| {
            engine.state_of(copy.cache, blocks[copy.block].address >> engine.shift()).1
        };
        let judged = self.misses.judge(step, own, is_open);
        for &(earlier, miss) in &judged {
            self.steps[earlier].miss = Some(miss);
        }
        let now = self.engine.misses();
        (!had_copy).then(|| self.misses.miss(step, own, before, &now, &judged))
    }

    /// Gives the block of an act its position in the walk, and its message its number.
    fn act(&mut self, number: u64, mut act: ControllerAct) -> ControllerAct {
        let address = number << self.engine.shift();
        act.block = self.blocks.iter().position(|b| b.address == address).unwrap_or(0);
        if let Some(message) = &mut act.message
            && message.way == MessageWay::Network
        {
            self.crossed += 1;
            message.number = Some(self.crossed);
        }
        act
    }

    fn finish(self, start: Vec<DirectoryScene>, references: &[Access]) -> RecordedWalk<E::Sent> {
        let (mut counts, messages, demands) = self.engine.finish();
        // The engine was given a reference for each block.
        counts.references = references.len() as u64;
        counts.writes = references.iter().filter(|r| r.kind.writes()).count() as u64;
        counts.reads = counts.references - counts.writes;
        let totals = DirectoryWalkTotals { counts, messages };
        (DirectoryWalk { blocks: self.blocks, start, steps: self.steps, totals }, demands)
    }
}
