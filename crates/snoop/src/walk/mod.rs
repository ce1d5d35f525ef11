//! A walk through a few references, step by step, for explanation.
//!
//! The recorder pushes one reference at a time into the engine of
//! [`crate::TraceOrderSimulation`], and records the cells of the table that it used and the
//! contents of caches and memory. It decides nothing itself.

mod example;
mod scene;

pub use example::{TOUR, example, examples};
pub use homenode_cache::walk::{
    BlockSnapshot, CopySnapshot, WalkBlock, WalkMiss, WrittenReferenceError, WrittenStep, pieces,
    written_references, written_steps,
};
pub use scene::{CellUse, ProtocolWalk, SnoopAnswer, WalkStep};

use homenode_base::{Access, AccessKind, Flags};
use homenode_cache::walk::{MissJournal, WalkCopy, kind_name, touched_words};
use homenode_cache::{CoherenceCounts, MissCounts, SharingClass};
use homenode_machine::BusCycles;
use homenode_protocol::Labelled;

use crate::driver::{CheckError, Transition};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use crate::trace_order::ObservedEngine;
use crate::vocabulary::{AreaKind, DataSupplier, ProcessorEvent, Signal, Transaction};

/// Why a walk fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// The machine is invalid.
    #[error(transparent)]
    BusSetup(#[from] BusSetupError),
    /// The protocol breaks a promise.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in their order, under the protocol with this table. Reads are always
/// checked, even if the setup does not ask for it.
///
/// # Errors
/// When the machine is invalid, or the protocol breaks a promise.
pub fn walk(
    setup: &BusSetup,
    table: &ProtocolTable,
    cycles: &BusCycles,
    references: &[Access],
) -> Result<ProtocolWalk, WalkError> {
    let engine = ObservedEngine::new(setup, table.clone())?;
    let parts: Vec<(usize, Access)> = references
        .iter()
        .enumerate()
        .flat_map(|(number, access)| {
            pieces(access, engine.shift()).into_iter().map(move |part| (number, part))
        })
        .collect();
    let blocks = WalkBlock::all(parts.iter().map(|(_, access)| access), engine.shift());
    let mut recorder = Recorder {
        processors: usize::from(setup.processors),
        instructions: setup.instruction_caches(),
        table,
        cycles,
        engine,
        blocks,
        steps: Vec::new(),
        misses: MissJournal::default(),
    };
    let start = recorder.scenes();
    for (number, access) in &parts {
        recorder.step(*number, access)?;
    }
    Ok(recorder.finish(start, references))
}

struct Recorder<'a> {
    processors: usize,
    /// The distance from the number of a processor's cache to that of its instruction cache; 0 if
    /// they are one.
    instructions: usize,
    table: &'a ProtocolTable,
    cycles: &'a BusCycles,
    engine: ObservedEngine,
    blocks: Vec<WalkBlock>,
    steps: Vec<WalkStep>,
    misses: MissJournal,
}

impl Recorder<'_> {
    fn step(&mut self, reference: usize, access: &Access) -> Result<(), CheckError> {
        let shift = self.engine.shift();
        let address = access.addr >> shift << shift;
        let block = self.blocks.iter().position(|b| b.address == address).unwrap_or(0);
        let processor = usize::from(access.thread) % self.processors;
        let fetches = access.kind == AccessKind::Fetch;
        let cache = processor + if fetches { self.instructions } else { 0 };
        let private = self.engine.is_private(access);
        let (before, counts) = (self.states(block), self.engine.counts());
        let had_copy = self.engine.state_of(cache, address >> shift).0 != 0;
        let transitions = self.engine.push(access)?;
        let scenes = self.scenes();
        let miss = self.miss(WalkCopy { cache, block }, had_copy, &counts.misses);
        let acts = self.acts(&transitions, private, counts.coherence);
        self.steps.push(WalkStep {
            reference,
            thread: access.thread,
            processor,
            cache,
            kind: kind_name(access.kind),
            address: access.addr,
            size: access.size,
            block,
            words: touched_words(access, shift).collect(),
            private,
            kernel: access.flags.contains(Flags::KERNEL),
            miss,
            cycles: acts.iter().map(|act| act.cycles).sum(),
            acts,
            before,
            after: self.states(block),
            scenes,
        });
        Ok(())
    }

    /// The state of a block in each cache.
    fn states(&self, block: usize) -> Vec<&'static str> {
        let number = self.blocks[block].address >> self.engine.shift();
        let name = |cache| self.table.name(self.engine.state_of(cache, number).0);
        (0..self.caches()).map(name).collect()
    }

    fn caches(&self) -> usize {
        self.processors + self.instructions
    }

    /// The name of a cache.
    fn name(&self, cache: usize) -> String {
        match (self.instructions, cache.checked_sub(self.processors)) {
            (0, _) => format!("P{cache}"),
            (_, None) => format!("P{cache} data"),
            (_, Some(processor)) => format!("P{processor} instructions"),
        }
    }

    /// All blocks as they are now.
    fn scenes(&mut self) -> Vec<BlockSnapshot> {
        let (caches, table) = (self.caches(), self.table);
        let name = |state| table.name(state);
        self.blocks.iter().map(|block| self.engine.snapshot(block, caches, &name)).collect()
    }

    /// Records the classes of earlier misses that the step decided, and returns its own miss.
    fn miss(&mut self, own: WalkCopy, had_copy: bool, before: &MissCounts) -> Option<WalkMiss> {
        let (step, engine, blocks) = (self.steps.len(), &self.engine, &self.blocks);
        let is_open = |copy: WalkCopy| {
            engine.state_of(copy.cache, blocks[copy.block].address >> engine.shift()).1
        };
        let judged = self.misses.judge(step, own, is_open);
        for &(earlier, miss) in &judged {
            self.steps[earlier].miss = Some(miss);
        }
        let now = self.engine.counts().misses;
        (!had_copy).then(|| self.misses.miss(step, own, before, &now, &judged))
    }

    /// The cells that were used since `before` was counted. At most one of them is a coherence
    /// transaction.
    fn acts(
        &self,
        transitions: &[Transition],
        private: bool,
        before: CoherenceCounts,
    ) -> Vec<CellUse> {
        let now = self.engine.counts().coherence;
        let kind = if now.true_sharing > before.true_sharing {
            Some(SharingClass::True)
        } else if now.false_sharing > before.false_sharing {
            Some(SharingClass::False)
        } else if now.passive > before.passive {
            Some(SharingClass::Passive)
        } else {
            None
        };
        transitions.iter().map(|transition| self.act(transition, private, kind)).collect()
    }

    fn act(&self, transition: &Transition, private: bool, kind: Option<SharingClass>) -> CellUse {
        let replaces = transition.event == ProcessorEvent::Replace;
        let area = if private && !replaces { AreaKind::Private } else { AreaKind::Shared };
        let transaction = transition.action.transaction;
        let tells = [Some(Transaction::Invalidate), Some(Transaction::Write)];
        let address = transition.block << self.engine.shift();
        let answers = transition.responses.iter().map(|response| SnoopAnswer {
            processor: response.holder,
            state: self.table.name(response.state),
            next: self.table.name(response.next),
            memory: response.memory,
            word: response.word,
        });
        let supplies = transition.action.source == DataSupplier::Cache;
        let seen = |transaction| Signal::of(transaction, area).map(Signal::name);
        CellUse {
            block: self.blocks.iter().position(|b| b.address == address).unwrap_or(0),
            event: transition.event.name(),
            state: self.table.name(transition.state),
            condition: self.table.conditions()[usize::from(transition.condition)].name,
            transaction: transaction.map(Transaction::name),
            source: transition.action.source.name(),
            supplier: transition.supplier.filter(|_| supplies),
            next: self.table.name(transition.action.next),
            again: transition.action.again,
            cycles: transaction.map_or(0, |t| cycles(self.cycles, t, transition.action.source)),
            sharing: kind.filter(|_| tells.contains(&transaction)),
            signal: transaction.and_then(seen),
            answers: answers.collect(),
        }
    }

    fn finish(self, start: Vec<BlockSnapshot>, references: &[Access]) -> ProtocolWalk {
        let caches = (0..self.caches()).map(|cache| self.name(cache)).collect();
        let mut totals = self.engine.finish();
        // The engine was given a reference for each block.
        totals.references = references.len() as u64;
        let kernel = references.iter().filter(|r| r.flags.contains(Flags::KERNEL));
        totals.kernel.references = kernel.count() as u64;
        ProtocolWalk {
            caches,
            blocks: self.blocks,
            start,
            bus_cycles: totals.transactions.cycles(self.cycles),
            steps: self.steps,
            totals,
        }
    }
}

/// Cycles of one transaction.
fn cycles(each: &BusCycles, transaction: Transaction, source: DataSupplier) -> u64 {
    let cache = source == DataSupplier::Cache;
    match transaction {
        Transaction::ReadBlock if cache => each.read_block_cache,
        Transaction::ReadBlock => each.read_block_memory,
        Transaction::ReadInvalidate if cache => each.read_invalidate_cache,
        Transaction::ReadInvalidate => each.read_invalidate_memory,
        Transaction::Invalidate => each.invalidate,
        Transaction::Write => each.write,
        Transaction::UpdateBlock => each.update_block,
    }
}
