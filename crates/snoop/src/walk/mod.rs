//! A walk through a few references on a bus, for `explain`: the engine of
//! [`crate::TraceOrderSimulation`] performs one at a time and fills the log.
//!
//! Reads are checked, so every reference goes by the table.

mod example;

pub use example::{TOUR, example, examples};
pub use homenode_cache::walk::{
    BlockSnapshot, CopySnapshot, NeededSynchronisation, WalkBlock, WalkMiss, WrittenReferenceError,
    WrittenStep, batch_of, pieces, written_references, written_steps,
};

use homenode_base::{Access, AccessKind, Flags};
use homenode_cache::walk::{StepOf, Walk, WalkStep, WalkedEngine, record};
use homenode_cache::{CoherenceCounts, IndexedSets, MissCounts, SharingClass, WIDE_WORDS};
use homenode_machine::BusCycles;
use homenode_protocol::Labelled;
use serde::Serialize;

use crate::counts::BusCounts;
use crate::driver::{CheckError, Transition};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use crate::trace_order::BusRows;
use crate::vocabulary::{AreaKind, DataSupplier, ProcessorEvent, Signal, Transaction};

/// A walk under one protocol on a bus.
pub type ProtocolWalk = Walk<CellUse, Vec<BlockSnapshot>, (), BusCounts>;
/// A step of it.
pub type BusStep = WalkStep<CellUse, Vec<BlockSnapshot>, ()>;

/// A use of a cell of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellUse {
    /// The block it is about.
    pub block: usize,
    /// What happens.
    pub event: &'static str,
    /// The state of the copy.
    pub state: &'static str,
    /// What the others have.
    pub condition: &'static str,
    /// Transaction on the bus, if any.
    pub transaction: Option<&'static str>,
    /// Where the data come from.
    pub source: &'static str,
    /// The cache that supplies them, if one does.
    pub supplier: Option<usize>,
    /// The next state.
    pub next: &'static str,
    /// Whether the event happens again in the next state.
    pub again: bool,
    /// Cycles on the bus at the machine's prices.
    pub cycles: u64,
    /// The kind of sharing, if it is a coherence transaction.
    pub sharing: Option<SharingClass>,
    /// The signal that other caches see, if any.
    pub signal: Option<&'static str>,
    /// The answers of copies in other caches.
    pub answers: Vec<SnoopAnswer>,
}

/// The answer of a copy in another cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SnoopAnswer {
    /// The cache, by its position among all.
    pub processor: usize,
    /// Its state.
    pub state: &'static str,
    /// Its next state.
    pub next: &'static str,
    /// Whether memory takes its data.
    pub memory: bool,
    /// Whether it takes the written word.
    pub word: bool,
}

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
    let mut rows = BusRows::new(&BusSetup { check: true, ..setup.clone() }, table.clone())?;
    rows.0.driver.log = Some(Vec::new());
    let (processors, instructions) = (usize::from(setup.processors), setup.instruction_caches());
    let engine = WalkedBus { rows: Box::new(rows), processors, instructions, table, cycles };
    let names = (0..engine.caches()).map(|cache| engine.name(cache)).collect();
    let steps: Vec<WrittenStep> = references.iter().copied().map(WrittenStep::Access).collect();
    let (mut walk, ()) = record(engine, &steps)?;
    walk.caches = Some(names);
    walk.bus_cycles = Some(walk.totals.transactions.cycles(cycles));
    Ok(walk)
}

struct WalkedBus<'a> {
    /// The arrays that suit every cache and block.
    rows: Box<BusRows<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>>,
    processors: usize,
    /// The distance from the number of a processor's cache to that of its instruction cache; 0 if
    /// they are one.
    instructions: usize,
    table: &'a ProtocolTable,
    cycles: &'a BusCycles,
}

impl WalkedBus<'_> {
    fn caches(&self) -> usize {
        self.processors + self.instructions
    }

    fn name(&self, cache: usize) -> String {
        match (self.instructions, cache.checked_sub(self.processors)) {
            (0, _) => format!("P{cache}"),
            (_, None) => format!("P{cache} data"),
            (_, Some(processor)) => format!("P{processor} instructions"),
        }
    }

    fn counts(&self) -> BusCounts {
        self.rows.0.driver.counts()
    }

    fn state_of(&self, cache: usize, block: u64) -> u8 {
        self.rows.0.driver.caches.state_of(cache, block).0
    }

    /// The kind of the coherence transaction since `before` was counted; there is at most one.
    fn sharing_since(&self, before: CoherenceCounts) -> Option<SharingClass> {
        let now = self.counts().coherence;
        if now.true_sharing > before.true_sharing {
            Some(SharingClass::True)
        } else if now.false_sharing > before.false_sharing {
            Some(SharingClass::False)
        } else if now.passive > before.passive {
            Some(SharingClass::Passive)
        } else {
            None
        }
    }

    /// A use of the table, with names and without its block.
    fn act(&self, seen: &Transition, private: bool, kind: Option<SharingClass>) -> CellUse {
        let replaces = seen.event == ProcessorEvent::Replace;
        let area = if private && !replaces { AreaKind::Private } else { AreaKind::Shared };
        let transaction = seen.action.transaction;
        let coherence = [Some(Transaction::Invalidate), Some(Transaction::Write)];
        let answers = seen.responses.iter().map(|response| SnoopAnswer {
            processor: response.holder,
            state: self.table.name(response.state),
            next: self.table.name(response.next),
            memory: response.memory,
            word: response.word,
        });
        let supplies = seen.action.source == DataSupplier::Cache;
        let signal = |transaction| Signal::of(transaction, area).map(Signal::name);
        CellUse {
            block: 0,
            event: seen.event.name(),
            state: self.table.name(seen.state),
            condition: self.table.conditions()[usize::from(seen.condition)].name,
            transaction: transaction.map(Transaction::name),
            source: seen.action.source.name(),
            supplier: seen.supplier.filter(|_| supplies),
            next: self.table.name(seen.action.next),
            again: seen.action.again,
            cycles: transaction.map_or(0, |t| cycles(self.cycles, t, seen.action.source)),
            sharing: kind.filter(|_| coherence.contains(&transaction)),
            signal: transaction.and_then(signal),
            answers: answers.collect(),
        }
    }
}

impl WalkedEngine for WalkedBus<'_> {
    type Act = CellUse;
    type Scene = Vec<BlockSnapshot>;
    type Messages = ();
    type Totals = BusCounts;
    type Findings = ();
    type Error = CheckError;

    fn shift(&self) -> u32 {
        self.rows.0.shift()
    }

    fn processor(&self, thread: u16) -> u16 {
        thread % u16::try_from(self.processors).unwrap_or(u16::MAX)
    }

    fn is_private(&self, access: &Access) -> bool {
        self.rows.0.is_private(access.addr, access.flags.0)
    }

    fn perform(
        &mut self,
        written: &WrittenStep,
        blocks: &[WalkBlock],
        step: &mut StepOf<Self>,
    ) -> Result<bool, CheckError> {
        let Some(access) = written.access() else { return Ok(false) };
        let shift = self.shift();
        let fetches = access.kind == AccessKind::Fetch;
        let cache = usize::from(step.processor) + if fetches { self.instructions } else { 0 };
        let had_copy = self.state_of(cache, access.addr >> shift) != 0;
        let before = self.counts().coherence;
        self.rows.0.push(&batch_of(&[*access]), 0..1)?;
        let seen = self.rows.0.driver.log.as_mut().map(std::mem::take).unwrap_or_default();
        let kind = self.sharing_since(before);
        let act = |seen: &Transition| CellUse {
            block: WalkBlock::position(blocks, seen.block, shift).unwrap_or(0),
            ..self.act(seen, step.private, kind)
        };
        let acts: Vec<CellUse> = seen.iter().map(act).collect();
        step.cache = Some(cache);
        step.bus_cycles = Some(acts.iter().map(|act| act.cycles).sum());
        step.acts = acts;
        Ok(!had_copy)
    }

    fn is_open(&self, cache: usize, block: u64) -> bool {
        self.rows.0.driver.caches.state_of(cache, block).1
    }

    fn misses(&self) -> MissCounts {
        self.counts().misses
    }

    fn states(&mut self, step: &StepOf<Self>, blocks: &[WalkBlock]) -> Vec<&'static str> {
        let number = step.block.map_or(0, |block| blocks[block].address >> self.shift());
        (0..self.caches()).map(|cache| self.table.name(self.state_of(cache, number))).collect()
    }

    fn scene(&mut self, blocks: &[WalkBlock]) -> Vec<BlockSnapshot> {
        let (shift, caches, table) = (self.shift(), self.caches(), self.table);
        let found = &mut self.rows.0.driver.caches;
        let one = |block| found.snapshot(block, shift, caches, |state| table.name(state));
        blocks.iter().map(one).collect()
    }

    fn finish(mut self, steps: &[WrittenStep]) -> (BusCounts, ()) {
        let mut totals = self.rows.0.driver.finish();
        // The engine was given a reference for each block.
        totals.references = steps.len() as u64;
        let kernel = |step: &&WrittenStep| {
            step.access().is_some_and(|access| access.flags.contains(Flags::KERNEL))
        };
        totals.kernel.references = steps.iter().filter(kernel).count() as u64;
        (totals, ())
    }
}

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
