//! Writes down what an engine does at each of some references, be its directory at homes or a list
//! of copies.

use homenode_base::{Access, Flags};
use homenode_cache::MissCounts;
use homenode_cache::walk::{
    MissJournal, WalkBlock, WalkCopy, WalkMiss, kind_name, pieces, touched_words,
};

use super::scene::{
    ControllerAct, DirectoryScene, DirectoryWalk, DirectoryWalkStep, DirectoryWalkTotals,
};
use crate::counts::DirectoryCounts;
use crate::home::PageDemands;
use crate::vocabulary::MessageWay;

/// What was done about a reference: the cells that were used, in order, and for how many cycles the
/// processor waited, if the engine has a clock.
pub(super) struct DoneReference {
    /// Each with the number of its block in the address space; block and message have no number in
    /// the walk yet.
    pub(super) acts: Vec<(u64, ControllerAct)>,
    pub(super) cycles: Option<u64>,
}

/// A walk, and what nodes did with pages, if that was collected.
pub(super) type RecordedWalk<C> = (DirectoryWalk<C>, Option<PageDemands>);

/// An engine to look into, one reference at a time.
pub(super) trait WalkedEngine {
    /// Messages between different nodes, as they are counted.
    type Sent;
    /// What can go wrong.
    type Error;

    /// Bytes in a block, as a shift.
    fn shift(&self) -> u32;
    /// Whether the engine takes the reference for one to a private area.
    fn is_private(&self, access: &Access) -> bool;
    /// Does a reference to one block, a part of the one with this number.
    fn push(&mut self, number: usize, access: &Access) -> Result<DoneReference, Self::Error>;
    /// The state of a node's copy, and whether its miss is still to be judged.
    fn state_of(&self, node: usize, block: u64) -> (u8, bool);
    /// The name of a state.
    fn state_name(&self, state: u8) -> &'static str;
    /// Misses so far; those that are still undecided are not in it.
    fn misses(&self) -> MissCounts;
    /// Messages so far, and their bytes.
    fn sent(&self) -> (Self::Sent, u64);
    /// A block in the caches of so many nodes, in memory and at its home.
    fn scene(&mut self, block: &WalkBlock, nodes: usize) -> DirectoryScene;
    /// What was counted in all, and what nodes did with pages, if that was collected.
    fn finish(self) -> (DirectoryCounts, Self::Sent, Option<PageDemands>);
}

/// Records a walk.
pub(super) struct DirectoryRecorder<E: WalkedEngine> {
    engine: E,
    nodes: u16,
    blocks: Vec<WalkBlock>,
    steps: Vec<DirectoryWalkStep<E::Sent>>,
    misses: MissJournal,
    /// Messages so far that are counted.
    crossed: u64,
}

impl<E: WalkedEngine> DirectoryRecorder<E> {
    pub(super) fn new(engine: E, nodes: u16) -> Self {
        let (blocks, steps, misses) = (Vec::new(), Vec::new(), MissJournal::default());
        Self { engine, nodes, blocks, steps, misses, crossed: 0 }
    }

    /// Has the engine do references, in their order.
    pub(super) fn record(
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
        let acts = acts.into_iter().map(|act| self.act(act)).collect();
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

    /// All blocks as they are now.
    fn scenes(&mut self) -> Vec<DirectoryScene> {
        let Self { engine, blocks, nodes, .. } = self;
        blocks.iter().map(|block| engine.scene(block, usize::from(*nodes))).collect()
    }

    /// Writes down which earlier misses the step has decided, and says why its own copy was not
    /// there.
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
    fn act(&mut self, (number, mut act): (u64, ControllerAct)) -> ControllerAct {
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
