//! A walk through a few references: what the engine does at each, for people to follow.
//!
//! The recorder pushes one reference at a time into the engine that also counts
//! ([`crate::TraceOrderSimulation`]), and writes down which cells of the table it used and what the
//! caches and memory have then. It decides nothing itself.

mod example;
mod scene;

pub use example::{example, examples};
pub use scene::{
    BlockSnapshot, CellUse, CopySnapshot, ProtocolWalk, SnoopAnswer, WalkBlock, WalkMiss, WalkStep,
};

use homenode_base::{Access, AccessKind, Flags};
use homenode_cache::{MissClass, MissCounts, SharingClass};
use homenode_machine::BusCycles;
use homenode_protocol::Labelled;

use crate::counts::BusCounts;
use crate::driver::{CheckError, Transition};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use crate::trace_order::{CopyLoss, ObservedEngine};
use crate::vocabulary::{AreaKind, DataSupplier, ProcessorEvent, Signal, Transaction};

/// Why there is no walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// There can be no such machine.
    #[error(transparent)]
    BusSetup(#[from] BusSetupError),
    /// The protocol breaks a promise.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in their order, under the protocol with this table. Values are always
/// carried along, whatever the setup says.
///
/// # Errors
/// When there can be no such machine, or the protocol breaks a promise.
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
    let blocks = blocks(&parts, engine.shift());
    let mut recorder = Recorder {
        processors: usize::from(setup.processors),
        instructions: setup.instruction_caches(),
        table,
        cycles,
        engine,
        blocks,
        steps: Vec::new(),
        open: Vec::new(),
    };
    let start = recorder.scenes();
    for (number, access) in &parts {
        recorder.step(*number, access)?;
    }
    Ok(recorder.finish(start, references))
}

/// A reference cut at the borders of blocks of `1 << shift` bytes.
#[must_use]
pub fn pieces(access: &Access, shift: u32) -> Vec<Access> {
    let end = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
    let piece = |block: u64| {
        let begin = access.addr.max(block << shift);
        let last = end.min((block << shift) | ((1 << shift) - 1));
        Access { addr: begin, size: u8::try_from(last - begin + 1).unwrap_or(u8::MAX), ..*access }
    };
    (access.addr >> shift..=end >> shift).map(piece).collect()
}

/// The words of a piece, by their position in the block.
fn words(access: &Access, shift: u32) -> std::ops::RangeInclusive<u32> {
    let offset = access.addr & ((1 << shift) - 1);
    let word = |byte: u64| u32::try_from(byte / 4).unwrap_or(u32::MAX);
    word(offset)..=word(offset + u64::from(access.size.max(1)) - 1)
}

/// The blocks in the order of their first reference, with the words that are touched.
fn blocks(parts: &[(usize, Access)], shift: u32) -> Vec<WalkBlock> {
    let mut blocks: Vec<WalkBlock> = Vec::new();
    for (_, access) in parts {
        let address = access.addr >> shift << shift;
        let at = blocks.iter().position(|block| block.address == address).unwrap_or_else(|| {
            blocks.push(WalkBlock { address, words: Vec::new() });
            blocks.len() - 1
        });
        blocks[at].words.extend(words(access, shift));
    }
    for block in &mut blocks {
        block.words.sort_unstable();
        block.words.dedup();
    }
    blocks
}

struct Recorder<'a> {
    processors: usize,
    /// From the number of a processor's cache to that of its instruction cache.
    instructions: usize,
    table: &'a ProtocolTable,
    cycles: &'a BusCycles,
    engine: ObservedEngine,
    blocks: Vec<WalkBlock>,
    steps: Vec<WalkStep>,
    /// Misses that are still to be judged: cache, block and step.
    open: Vec<(usize, usize, usize)>,
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
        let had_copy = self.engine.copy(cache, address >> shift).state != 0;
        let transitions = self.engine.push(access)?;
        let scenes = self.scenes();
        let judged = self.judge((cache, block));
        let miss = self.miss((cache, block), had_copy, (counts.misses, judged));
        let acts = self.acts(&transitions, private, (counts, self.engine.counts()));
        self.steps.push(WalkStep {
            reference,
            thread: access.thread,
            processor,
            cache,
            kind: match access.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Atomic => "atomic",
                AccessKind::Fetch => "fetch",
            },
            address: access.addr,
            size: access.size,
            block,
            words: words(access, shift).collect(),
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
        let name = |cache| self.table.name(self.engine.copy(cache, number).state);
        (0..self.caches()).map(name).collect()
    }

    fn caches(&self) -> usize {
        self.processors + self.instructions
    }

    /// What a cache is called.
    fn name(&self, cache: usize) -> String {
        match (self.instructions, cache.checked_sub(self.processors)) {
            (0, _) => format!("P{cache}"),
            (_, None) => format!("P{cache} data"),
            (_, Some(processor)) => format!("P{processor} instructions"),
        }
    }

    /// All blocks as they are now.
    fn scenes(&mut self) -> Vec<BlockSnapshot> {
        (0..self.blocks.len()).map(|block| self.scene(block)).collect()
    }

    fn scene(&mut self, block: usize) -> BlockSnapshot {
        let WalkBlock { address, words } = &self.blocks[block];
        let number = address >> self.engine.shift();
        let [latest, memory] = self.engine.latest_and_memory(number);
        let shown = |values: &[u64]| -> Vec<u64> {
            let at = |&word: &u32| values.get(usize::try_from(word).ok()?).copied();
            words.iter().filter_map(at).collect()
        };
        let copy = |cache| {
            let view = self.engine.copy(cache, number);
            CopySnapshot {
                state: self.table.name(view.state),
                values: shown(&view.values),
                lost: view.loss.map(|loss| match loss {
                    CopyLoss::Invalidated => "invalidated",
                    CopyLoss::Removed => "removed",
                }),
                open: view.open,
            }
        };
        BlockSnapshot {
            copies: (0..self.caches()).map(copy).collect(),
            up_to_date: latest == memory,
            memory: shown(&memory),
            latest: shown(&latest),
        }
    }

    /// Writes down which open misses the step has decided, and returns how many were false. A copy
    /// that its own processor touches becomes true sharing; one that ends does not.
    fn judge(&mut self, own: (usize, usize)) -> u64 {
        let (now, mut ended) = (self.steps.len(), 0);
        for (cache, block, step) in std::mem::take(&mut self.open) {
            let number = self.blocks[block].address >> self.engine.shift();
            if self.engine.copy(cache, number).open {
                self.open.push((cache, block, step));
                continue;
            }
            let class = if (cache, block) == own {
                MissClass::InvalidationTrue
            } else {
                ended += 1;
                MissClass::InvalidationFalse
            };
            self.steps[step].miss = Some(WalkMiss { class, known: Some(now) });
        }
        ended
    }

    /// Why the copy was not there: what the engine counted in this step, less the earlier misses
    /// that turned out to be false now.
    fn miss(
        &mut self,
        (cache, block): (usize, usize),
        had_copy: bool,
        (before, ended): (MissCounts, u64),
    ) -> Option<WalkMiss> {
        if had_copy {
            return None;
        }
        let (now, step) = (self.engine.counts().misses, self.steps.len());
        let known = Some(step);
        let class = if now.cold > before.cold {
            MissClass::Cold
        } else if now.replacement > before.replacement {
            MissClass::Replacement
        } else if now.removal > before.removal {
            MissClass::Removal
        } else if now.invalidation_passive > before.invalidation_passive {
            MissClass::InvalidationPassive
        } else if now.invalidation_true > before.invalidation_true {
            MissClass::InvalidationTrue
        } else if now.invalidation_false > before.invalidation_false + ended {
            MissClass::InvalidationFalse
        } else {
            // False unless a later step says otherwise.
            self.open.push((cache, block, step));
            return Some(WalkMiss { class: MissClass::InvalidationFalse, known: None });
        };
        Some(WalkMiss { class, known })
    }

    /// The cells that were used. At most one of them is a coherence transaction.
    fn acts(
        &self,
        transitions: &[Transition],
        private: bool,
        (before, now): (BusCounts, BusCounts),
    ) -> Vec<CellUse> {
        let (before, now) = (before.coherence, now.coherence);
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
